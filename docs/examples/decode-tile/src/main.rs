//! Decodes one tile, with `tdb-filters` as the only crate of tdb. `decode-tile TILE` reads a file
//! with one tile of 32-bit integers, compressed with Zstandard.

use tdb_filters::tdb_types::{Datatype, FormatVersion};
use tdb_filters::{BoundPipeline, ChunkIndex, Filter, FilterPipeline, Scratch, TileKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let filtered = std::fs::read(std::env::args().nth(1).ok_or("usage: decode-tile TILE")?)?;
    let pipeline = FilterPipeline::new(vec![Filter::Zstd { level: -1 }]);
    let pipeline = BoundPipeline::bind(&pipeline, TileKind::fixed(Datatype::Int32, 1, FormatVersion::DEFAULT))?;
    let mut cells = vec![0; ChunkIndex::parse(&filtered)?.unfiltered_len() as usize];
    pipeline.decode_tile(&filtered, &mut cells, &mut Scratch::new())?;
    println!("{:?}", cells.as_chunks().0.iter().map(|cell| i32::from_le_bytes(*cell)).collect::<Vec<_>>());
    Ok(())
}
