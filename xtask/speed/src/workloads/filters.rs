//! Each single filter in both directions: a row of cells in tiles of a megabyte without other
//! filters.

use tdb_reference::model::{
    ArraySpec, FilterSpec, GeneratedWrite, Pipeline, QuerySpec, Rule, WebpFormat, attribute, dimension,
};
use tdb_types::{Datatype, Layout};

use super::reads::read;
use super::writes::write;
use crate::arrays::SpeedArray;
use crate::cases::case;
use crate::workload::{Group, Workload};

/// A filter with cells.
struct Filtered {
    name: &'static str,
    filters: Pipeline,
    datatype: Datatype,
    rule: Rule,
    /// Approximate size of a cell in bytes.
    size: u64,
}

fn filtered() -> Vec<Filtered> {
    let (wave, ascending) = (Rule::Wave { seed: 1 }, Rule::Ascending { seed: 2 });
    let of = |name, filter: FilterSpec, datatype, rule, size| Filtered {
        name,
        filters: [filter].into(),
        datatype,
        rule,
        size,
    };
    let double = |name, filter| of(name, filter, Datatype::Float64, wave, 8);
    let long = |name, filter| of(name, filter, Datatype::Int64, ascending, 8);
    let word = |name, filter, rule| of(name, filter, Datatype::StringAscii, rule, 8);
    let scale = FilterSpec::ScaleFloat { factor: 1.0 / 128.0, offset: 0.0, byte_width: 4 };
    vec![
        Filtered { name: "none", filters: Pipeline::default(), datatype: Datatype::Float64, rule: wave, size: 8 },
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
        let cells = ((32.0 * scale * f64::from(1 << 20)) as u64).max(1 << 17) / filter.size;
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
    SpeedArray { name: format!("filter-{}-{cells}", filter.name.replace(' ', "-")), ..of(spec, cells, filter.rule) }
}

/// Returns an image of three-byte pixels in tiles of 256 by 256. Alpha is left out, because the
/// library loses the colors of transparent pixels.
fn images(scale: f64) -> SpeedArray {
    let side = ((1024.0 * scale.sqrt() / 256.0).round().max(1.0) as i64) * 256;
    let y = dimension("y", Datatype::Int64, [0, side - 1], 256);
    let x = dimension("x", Datatype::Int64, [0, 3 * side - 1], 768);
    let filter = FilterSpec::Webp { quality: 75.0, format: WebpFormat::Rgb, lossless: true };
    let pixel = attribute("value", Datatype::UInt8).filters([filter]);
    let cells = (3 * side * side).cast_unsigned();
    let array = of(ArraySpec::dense([y, x], [pixel]), cells, Rule::Pixel { seed: 1 });
    SpeedArray { name: format!("filter-webp-rgb-{side}"), ..array }
}

fn of(spec: ArraySpec, cells: u64, rule: Rule) -> SpeedArray {
    let columns = vec![("value".to_owned(), rule)];
    let timestamp = Some(1_700_000_000_000);
    let write = GeneratedWrite { layout: Layout::RowMajor, subarray: None, timestamp, cells, columns };
    SpeedArray { name: String::new(), spec, writes: vec![write], consolidated_metadata: false }
}
