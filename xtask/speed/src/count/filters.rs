//! Encoding and decoding of a two-chunk tile with each single filter.

use tdb_array::tdb_filters::{
    BoundPipeline, EncryptionKey, Filter, FilterPipeline, Scratch, TileKind, WebPFormat, WebPOptions,
};
use tdb_array::tdb_types::{Datatype, FormatVersion};
use tdb_reference::model::{Column, Rule};

use super::path::{CountedPath, here};
use crate::cells::columns;
use crate::outcome::Result;

/// Number of cells of a tile.
const CELLS: u64 = 16 << 10;

/// A filter with a rule for the tile.
#[derive(Clone)]
struct Case {
    name: &'static str,
    /// `None` for encryption, which is not a filter of a pipeline.
    filter: Option<Filter>,
    datatype: Datatype,
    rule: Rule,
}

/// A tile and its bound pipeline.
struct Filtering {
    bound: BoundPipeline,
    tile: Column,
    scratch: Scratch,
    filtered: Vec<u8>,
}

/// Returns all filters.
fn cases() -> Vec<Case> {
    use Datatype::{Float64, Int64, StringAscii, UInt8};
    let (wave, ascending, word) = (Rule::Wave { seed: 1 }, Rule::Ascending { seed: 2 }, Rule::Word { seed: 3 });
    let case = |name, filter, datatype, rule| Case { name, filter: Some(filter), datatype, rule };
    let scale = Filter::FloatScale { scale: 1.0 / 128.0, offset: 0.0, byte_width: 4 };
    // The bytes of doubles are used as pixels.
    let image = WebPOptions { quality: 75.0, format: WebPFormat::Rgba, lossless: true, y_extent: 128, x_extent: 1024 };
    vec![
        case("gzip", Filter::Gzip { level: 6 }, Float64, wave),
        case("zstd", Filter::Zstd { level: 3 }, Float64, wave),
        case("lz4", Filter::Lz4 { level: -1 }, Float64, wave),
        case("bzip2", Filter::Bzip2 { level: 1 }, Float64, wave),
        case("rle", Filter::Rle { level: -1 }, Float64, wave),
        case("rle of strings", Filter::Rle { level: -1 }, StringAscii, word),
        case("dictionary", Filter::Dictionary { level: -1 }, StringAscii, word),
        case("delta", Filter::Delta { level: -1, reinterpret: None }, Int64, ascending),
        case("double delta", Filter::DoubleDelta { level: -1, reinterpret: None }, Int64, ascending),
        case("bit width", Filter::BitWidthReduction { max_window: 256 }, Int64, ascending),
        case("positive delta", Filter::PositiveDelta { max_window: 1024 }, Int64, ascending),
        case("bitshuffle", Filter::Bitshuffle, Float64, wave),
        case("byteshuffle", Filter::Byteshuffle, Float64, wave),
        case("xor", Filter::Xor, Float64, wave),
        case("float scale", scale, Float64, wave),
        case("md5", Filter::Md5, Float64, wave),
        case("sha256", Filter::Sha256, Float64, wave),
        case("webp", Filter::WebP(image), UInt8, wave),
        Case { name: "encryption", filter: None, datatype: Float64, rule: wave },
    ]
}

pub fn all() -> Vec<CountedPath> {
    cases().into_iter().flat_map(both_ways).collect()
}

fn both_ways(case: Case) -> [CountedPath; 2] {
    let (name, again) = (case.name, case.clone());
    [
        here(format!("{name}: encode"), move || {
            let mut filtering = Filtering::new(&case)?;
            Ok(Box::new(move || filtering.encode()))
        }),
        here(format!("{name}: decode"), move || {
            let mut filtering = Filtering::new(&again)?;
            filtering.encode()?;
            let mut values = vec![0; filtering.tile.values.len()];
            let mut offsets = Vec::new();
            Ok(Box::new(move || filtering.decode(&mut values, &mut offsets)))
        }),
    ]
}

impl Filtering {
    fn new(case: &Case) -> Result<Self> {
        let kind = match case.rule {
            Rule::Word { .. } => TileKind::var_data(case.datatype, FormatVersion::DEFAULT),
            _ => TileKind::fixed(case.datatype, 1, FormatVersion::DEFAULT),
        };
        let bound = match &case.filter {
            Some(filter) => BoundPipeline::bind(&FilterPipeline::new(vec![filter.clone()]), kind)?,
            None => {
                let (pipeline, key) = (FilterPipeline::new(Vec::new()).encrypted(), EncryptionKey::new([7; 32]));
                BoundPipeline::bind_with_key(&pipeline, kind, Some(&key))?
            }
        };
        let tile = columns(&[("tile", case.rule)], CELLS).into_iter().next().ok_or("no column")?;
        // The initialization vectors are the same in every run, because the cells are not secret.
        let mut count = 0_u128;
        let ivs = move || {
            count += 1;
            let mut iv = [0; 12];
            iv.copy_from_slice(&count.to_le_bytes()[..12]);
            iv
        };
        Ok(Self { bound, tile, scratch: Scratch::new().with_ivs(ivs), filtered: Vec::new() })
    }

    fn encode(&mut self) -> Result<()> {
        self.filtered.clear();
        // Offsets without the end of the last cell.
        let offsets = self.tile.offsets.as_deref().and_then(|offsets| offsets.split_last()).map(|(_, starts)| starts);
        let (tile, out, scratch) = (&self.tile.values, &mut self.filtered, &mut self.scratch);
        Ok(self.bound.encode_tile(tile, offsets, out, scratch)?)
    }

    fn decode(&mut self, values: &mut [u8], offsets: &mut Vec<u64>) -> Result<()> {
        match &self.tile.offsets {
            Some(_) => self.bound.decode_strings(&self.filtered, values, offsets, CELLS, &mut self.scratch)?,
            None => self.bound.decode_tile(&self.filtered, values, &mut self.scratch)?,
        }
        // The scale is a power of two and loses no bits.
        if *values == *self.tile.values { Ok(()) } else { Err("the decoded tile differs from the input".into()) }
    }
}
