//! Random filter pipelines that the library accepts, writes, and reads back.
//!
//! The library cannot read some combinations, or crashes. [`Stage`] excludes these combinations,
//! and `docs/internals/conformance.md` lists them.

use tdb_types::Datatype;

use super::super::random::Random;
use tdb_reference::model::{FilterSpec, Pipeline};

/// The data that a pipeline filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Cells with a fixed number of values, or the values of variable-size cells.
    Values {
        datatype: Datatype,
        var: bool,
        ascending: bool,
        constant: bool,
    },
    Offsets,
    Validity,
}

/// The data after the filters so far.
struct Stage {
    datatype: Datatype,
    /// `true` if earlier filters have left metadata, which a compressor would process as cells.
    metadata: bool,
    /// `true` if the bytes are compressed, and are no longer values.
    opaque: bool,
    /// `true` if the values are no longer in ascending order.
    mixed: bool,
}

/// Generates a pipeline, which is often empty.
pub fn pipeline(random: &mut Random, purpose: Purpose) -> Pipeline {
    let count = random.weighted(&[40, 35, 17, 8]);
    let datatype = match purpose {
        Purpose::Values { datatype, .. } => datatype,
        Purpose::Offsets => Datatype::UInt64,
        Purpose::Validity => Datatype::UInt8,
    };
    let mut stage = Stage { datatype, metadata: false, opaque: false, mixed: false };
    let mut filters = Vec::new();
    for _ in 0..count {
        let filter = stage.choose(random, purpose, filters.is_empty());
        stage.advance(&filter);
        filters.push(filter);
    }
    let max_chunk_size = match random.below(20) {
        // The library does not accept a chunk size for an empty pipeline.
        _ if filters.is_empty() => None,
        0 => Some(0),
        1 => Some(u32::try_from(random.between(1, 100_000)).unwrap_or(1)),
        _ => None,
    };
    Pipeline { filters, max_chunk_size }
}

/// Generates a pipeline that fits all kinds of dimensions.
pub fn coordinate_pipeline(random: &mut Random) -> Pipeline {
    let count = random.below(3);
    let filters = (0..count).map(|_| match random.below(4) {
        0 => FilterSpec::Byteshuffle,
        1 => FilterSpec::Bitshuffle,
        2 => checksum(random),
        _ => codec(random),
    });
    let pipeline = Pipeline::from(Vec::from_iter(filters));
    if needs_bytes(&pipeline) { Pipeline::default() } else { pipeline }
}

fn codec(random: &mut Random) -> FilterSpec {
    let level = |random: &mut Random, low: i32, high: i32| {
        let span = usize::try_from(high - low).unwrap_or(0);
        random.percent(50).then(|| low + i32::try_from(random.between(0, span)).unwrap_or(0))
    };
    match random.below(5) {
        0 => FilterSpec::Gzip { level: level(random, -1, 9) },
        1 => FilterSpec::Zstd { level: level(random, -7, 12) },
        2 => FilterSpec::Lz4 { level: level(random, -1, 9) },
        3 => FilterSpec::Bzip2 { level: level(random, -1, 9) },
        _ => FilterSpec::ZSTD,
    }
}

fn checksum(random: &mut Random) -> FilterSpec {
    if random.percent(50) { FilterSpec::ChecksumMd5 } else { FilterSpec::ChecksumSha256 }
}

fn window(random: &mut Random) -> Option<u32> {
    random.percent(50).then(|| u32::try_from(random.small(8, 4096)).unwrap_or(8))
}

impl Stage {
    fn choose(&self, random: &mut Random, purpose: Purpose, first: bool) -> FilterSpec {
        for _ in 0..8 {
            let filter = match random.below(13) {
                0 => FilterSpec::None,
                1 => FilterSpec::Rle,
                2 => FilterSpec::DoubleDelta { reinterpret: self.reinterpretation(random, purpose) },
                3 => FilterSpec::BitWidthReduction { window: window(random) },
                4 => FilterSpec::Bitshuffle,
                5 => FilterSpec::Byteshuffle,
                6 => FilterSpec::PositiveDelta { window: window(random) },
                7 => checksum(random),
                8 => FilterSpec::Dictionary,
                9 => scale(random),
                10 => FilterSpec::Xor,
                11 => FilterSpec::Delta { reinterpret: self.reinterpretation(random, purpose) },
                _ => codec(random),
            };
            if self.takes(&filter, purpose, first) {
                return filter;
            }
        }
        codec(random)
    }

    /// Returns another datatype for the deltas, whose size divides the value size.
    fn reinterpretation(&self, random: &mut Random, purpose: Purpose) -> Option<Datatype> {
        let plain = matches!(purpose, Purpose::Values { var: false, .. });
        let types = [Datatype::Int8, Datatype::UInt16, Datatype::Int32, Datatype::UInt64];
        let wanted = *random.pick(&types);
        (plain && random.percent(20) && self.datatype.size().is_multiple_of(wanted.size())).then_some(wanted)
    }

    fn takes(&self, filter: &FilterSpec, purpose: Purpose, first: bool) -> bool {
        let untouched = !self.metadata && !self.opaque;
        let (var, constant, ascending) = match purpose {
            Purpose::Values { var, constant, ascending, .. } => (var, constant, ascending),
            Purpose::Offsets => (false, false, true),
            Purpose::Validity => (false, false, false),
        };
        let string = var && matches!(self.datatype, Datatype::StringAscii | Datatype::StringUtf8);
        match filter {
            FilterSpec::Dictionary => first && string,
            FilterSpec::Rle if string => first,
            FilterSpec::Rle => untouched,
            FilterSpec::DoubleDelta { reinterpret } | FilterSpec::Delta { reinterpret } => {
                untouched && !self.mixed && !string && (!self.datatype.is_float() || reinterpret.is_some())
            }
            FilterSpec::BitWidthReduction { .. } => !self.opaque && takes_windows(self.datatype),
            FilterSpec::PositiveDelta { .. } => {
                untouched && !self.mixed && (constant || ascending) && takes_windows(self.datatype)
            }
            FilterSpec::ScaleFloat { .. } => first && !var && self.datatype.is_float(),
            FilterSpec::Xor => !self.opaque,
            _ => true,
        }
    }

    fn advance(&mut self, filter: &FilterSpec) {
        match filter {
            FilterSpec::None => {}
            FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256 => self.metadata = true,
            FilterSpec::BitWidthReduction { .. } | FilterSpec::PositiveDelta { .. } => {
                (self.metadata, self.opaque) = (true, true);
            }
            FilterSpec::Bitshuffle | FilterSpec::Byteshuffle => (self.metadata, self.mixed) = (true, true),
            FilterSpec::Xor => {
                (self.metadata, self.mixed) = (true, true);
                self.datatype = integer_of_size(self.datatype.size());
            }
            FilterSpec::ScaleFloat { byte_width, .. } => {
                (self.metadata, self.mixed) = (true, true);
                self.datatype = integer_of_size(usize::try_from(*byte_width).unwrap_or(8));
            }
            _ => (self.metadata, self.opaque) = (true, true),
        }
    }
}

/// `true` if bit-width reduction and positive delta accept the datatype.
fn takes_windows(datatype: Datatype) -> bool {
    datatype.is_integer() || datatype.is_datetime() || datatype.is_time() || datatype.is_bytes()
}

fn integer_of_size(size: usize) -> Datatype {
    match size {
        1 => Datatype::Int8,
        2 => Datatype::Int16,
        4 => Datatype::Int32,
        _ => Datatype::Int64,
    }
}

fn scale(random: &mut Random) -> FilterSpec {
    let factor = *random.pick(&[1.0, 0.5, 0.01, 3.0]);
    let offset = *random.pick(&[0.0, -10.0, 0.125]);
    FilterSpec::ScaleFloat { factor, offset, byte_width: *random.pick(&[1, 2, 4, 8]) }
}

/// `true` if the library fails on empty cells.
pub fn needs_bytes(pipeline: &Pipeline) -> bool {
    let has = |wanted: fn(&FilterSpec) -> bool| pipeline.filters.iter().any(wanted);
    // Filters that do not change the data create no part for an empty chunk. Shuffling filters
    // require a part.
    let passes =
        has(|filter| matches!(filter, FilterSpec::None | FilterSpec::ChecksumMd5 | FilterSpec::ChecksumSha256));
    let shuffles = has(|filter| {
        matches!(filter, FilterSpec::Bitshuffle | FilterSpec::Byteshuffle | FilterSpec::Xor | FilterSpec::Rle)
    });
    if passes && shuffles {
        return true;
    }
    pipeline.filters.iter().any(|filter| {
        matches!(
            filter,
            FilterSpec::DoubleDelta { .. }
                | FilterSpec::Delta { .. }
                | FilterSpec::BitWidthReduction { .. }
                | FilterSpec::PositiveDelta { .. }
        )
    })
}

/// `true` if the cells must be small numbers to prevent an overflow of differences.
pub fn needs_small_steps(pipeline: &Pipeline) -> bool {
    pipeline.filters.iter().any(|filter| matches!(filter, FilterSpec::DoubleDelta { .. }))
}

/// Returns the scale if the cells must be floats that fit the filter's integers.
pub fn scale_of(pipeline: &Pipeline) -> Option<(f64, f64)> {
    pipeline.filters.iter().find_map(|filter| match filter {
        FilterSpec::ScaleFloat { factor, offset, .. } => Some((*factor, *offset)),
        _ => None,
    })
}

/// `true` if the cells must not descend.
pub fn needs_order(pipeline: &Pipeline) -> bool {
    pipeline.filters.iter().any(|filter| matches!(filter, FilterSpec::PositiveDelta { .. }))
}
