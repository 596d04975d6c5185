//! Each single filter in both directions: a row of cells in tiles of a megabyte without other
//! filters.

use tdb_reference::model::{ArraySpec, FilterSpec, Pipeline, QuerySpec, Rule, WebpFormat, attribute, dimension};
use tdb_types::{Datatype, Layout};

use super::reads::read;
use super::writes::write;
use crate::arrays::{self, SpeedArray, scaled_side};
use crate::cases::case;
use crate::workload::{Group, Workload};

/// A filter with cells.
struct Filtered {
    name: &'static str,
    filters: Pipeline,
    datatype: Datatype,
    rule: Rule,
}

fn filtered() -> Vec<Filtered> {
    let (wave, ascending) = (Rule::Wave { seed: 1 }, Rule::Ascending { seed: 2 });
    let of = |name, filter: FilterSpec, datatype, rule| Filtered { name, filters: [filter].into(), datatype, rule };
    let double = |name, filter| of(name, filter, Datatype::Float64, wave);
    let long = |name, filter| of(name, filter, Datatype::Int64, ascending);
    let word = |name, filter, rule| of(name, filter, Datatype::StringAscii, rule);
    let scale = FilterSpec::ScaleFloat { factor: 1.0 / 128.0, offset: 0.0, byte_width: 4 };
    vec![
        Filtered { name: "none", filters: Pipeline::default(), datatype: Datatype::Float64, rule: wave },
        double("gzip", FilterSpec::Gzip { level: Some(6) }),
        double("zstd", FilterSpec::Zstd { level: Some(3) }),
        double("lz4", FilterSpec::LZ4),
        double("bzip2", FilterSpec::Bzip2 { level: Some(1) }),
        double("rle", FilterSpec::Rle),
        word("rle of strings", FilterSpec::Rle, Rule::WordRuns { seed: 3 }),
        word("dictionary", FilterSpec::Dictionary, Rule::Word { seed: 3 }),
        long("delta", FilterSpec::DELTA),
        long("double delta", FilterSpec::DOUBLE_DELTA),
        long("bit width", FilterSpec::BIT_WIDTH_REDUCTION),
        long("positive delta", FilterSpec::POSITIVE_DELTA),
        double("bitshuffle", FilterSpec::Bitshuffle),
        double("byteshuffle", FilterSpec::Byteshuffle),
        double("xor", FilterSpec::Xor),
        double("float scale", scale),
        double("md5", FilterSpec::ChecksumMd5),
        double("sha256", FilterSpec::ChecksumSha256),
    ]
}

/// Returns all filters as writes and as reads.
pub(super) fn all(scale: f64) -> Vec<Box<dyn Workload>> {
    let mut all: Vec<Box<dyn Workload>> = Vec::new();
    for filter in filtered() {
        // A cell has about eight bytes.
        let cells = ((32.0 * scale * f64::from(1 << 20)) as u64).max(1 << 17) / 8;
        add(&mut all, filter.name, || row(&filter, cells));
    }
    add(&mut all, "webp, lossless", || images(scale));
    all
}

fn add(all: &mut Vec<Box<dyn Workload>>, name: &str, array: impl Fn() -> SpeedArray) {
    let layout = Layout::RowMajor;
    all.push(Box::new(write(&format!("filter, {name}, encode"), Group::Encode, array(), layout)));
    all.push(read(case(Group::Decode, &format!("filter, {name}, decode"), array(), QuerySpec::all(layout))));
}

/// Returns a row of cells.
fn row(filter: &Filtered, cells: u64) -> SpeedArray {
    let x = dimension("x", Datatype::Int64, [0, cells.cast_signed() - 1], (1 << 17).min(cells.cast_signed()));
    let mut value = attribute("value", filter.datatype).filters(filter.filters.clone());
    if filter.datatype == Datatype::StringAscii {
        value = value.var();
    }
    let mut spec = ArraySpec::dense([x], [value]);
    // Removes all other codecs.
    spec.offsets_filters = Some(Pipeline::from([]));
    of(format!("filter-{}-{cells}", filter.name.replace(' ', "-")), spec, cells, filter.rule)
}

/// Returns an image of three-byte pixels in tiles of 256 by 256. Alpha is left out, because the
/// library loses the colors of transparent pixels.
fn images(scale: f64) -> SpeedArray {
    let side = scaled_side(1024, 256, scale).cast_signed();
    let y = dimension("y", Datatype::Int64, [0, side - 1], 256);
    let x = dimension("x", Datatype::Int64, [0, 3 * side - 1], 768);
    let filter = FilterSpec::Webp { quality: 75.0, format: WebpFormat::Rgb, lossless: true };
    let pixel = attribute("value", Datatype::UInt8).filters([filter]);
    let cells = (3 * side * side).cast_unsigned();
    of(format!("filter-webp-rgb-{side}"), ArraySpec::dense([y, x], [pixel]), cells, Rule::Pixel { seed: 1 })
}

fn of(name: String, spec: ArraySpec, cells: u64, rule: Rule) -> SpeedArray {
    SpeedArray::new(name, spec, vec![arrays::write(Layout::RowMajor, 0, cells, &[("value", rule)])])
}
