//! Filters a tile, prints the number of chunks, and unfilters the tile.
//!
//! ```sh
//! cargo run -p tdb-filters --example tile
//! ```

use tdb_filters::tdb_types::{Datatype, FormatVersion};
use tdb_filters::{BoundPipeline, ChunkIndex, Filter, FilterPipeline, Scratch, TileKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 100000 ascending coordinates.
    let tile: Vec<u8> = (0..100_000i32).flat_map(|cell| (cell * 9 + cell % 7).to_le_bytes()).collect();
    let kind = TileKind::fixed(Datatype::Int32, 1, FormatVersion::DEFAULT);
    let mut scratch = Scratch::new();
    for filters in [
        vec![],
        vec![Filter::Byteshuffle, Filter::Rle { level: -1 }],
        vec![Filter::DoubleDelta { level: -1, reinterpret: None }],
        vec![Filter::PositiveDelta { max_window: 1024 }, Filter::BitWidthReduction { max_window: 256 }],
    ] {
        let pipeline = FilterPipeline::new(filters);
        let bound = BoundPipeline::bind(&pipeline, kind)?;
        let mut filtered = Vec::new();
        bound.encode_tile(&tile, None, &mut filtered, &mut scratch)?;

        let chunks = ChunkIndex::parse(&filtered)?;
        let mut unfiltered = vec![0; usize::try_from(chunks.unfiltered_len())?];
        bound.decode_tile(&filtered, &mut unfiltered, &mut scratch)?;
        assert_eq!(unfiltered, tile);
        println!("{pipeline}: {} bytes in {} chunks", filtered.len(), chunks.chunks().len());
    }
    Ok(())
}
