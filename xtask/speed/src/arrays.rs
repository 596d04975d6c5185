//! Arrays to read, created once by the reference library.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tdb_types::{ArrayType, Datatype, Layout};

use tdb_reference::model::{
    ArraySpec, AttributeSpec, Bytes, DimensionSpec, FilterSpec, GeneratedWrite, Pipeline, Rule, attribute, dimension,
    ends,
};
use tdb_reference::{Job, Reference};

/// An array to read.
#[derive(Clone, Debug)]
pub struct SpeedArray {
    pub name: String,
    pub spec: ArraySpec,
    pub writes: Vec<GeneratedWrite>,
    /// `true` if the fragment metadata is consolidated at the end.
    pub consolidated_metadata: bool,
}

/// Codecs whose raw speed is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Zstd,
    Gzip,
    Lz4,
    Bzip2,
    Sha256,
}

impl SpeedArray {
    pub fn new(name: String, spec: ArraySpec, writes: Vec<GeneratedWrite>) -> Self {
        Self { name, spec, writes, consolidated_metadata: false }
    }

    /// Returns the codec of the first attribute, if any.
    pub fn codec(&self) -> Option<Codec> {
        let filters = &self.spec.attributes.first()?.filters.filters;
        filters.iter().find_map(|filter| match filter {
            FilterSpec::Zstd { .. } => Some(Codec::Zstd),
            FilterSpec::Gzip { .. } => Some(Codec::Gzip),
            FilterSpec::Lz4 { .. } => Some(Codec::Lz4),
            FilterSpec::Bzip2 { .. } => Some(Codec::Bzip2),
            FilterSpec::ChecksumSha256 => Some(Codec::Sha256),
            _ => None,
        })
    }

    /// `true` if cells are neither filtered nor have offsets, which are filtered by default.
    pub fn is_plain(&self) -> bool {
        let has_filters = |pipeline: &Pipeline| !pipeline.filters.is_empty();
        let mut attributes = self.spec.attributes.iter();
        let coordinates =
            !self.is_sparse() || self.spec.coords_filters.as_ref().is_some_and(|filters| !has_filters(filters));
        coordinates && attributes.all(|attribute| !has_filters(&attribute.filters) && attribute.cell_val_num.is_some())
    }

    pub fn is_sparse(&self) -> bool {
        self.spec.array_type == ArrayType::Sparse
    }

    pub fn is_hilbert(&self) -> bool {
        self.spec.cell_order == Layout::Hilbert
    }

    /// Replaces each write by a write of the first `cells` cells of the first row.
    pub fn of_cells(mut self, cells: u64) -> Self {
        for write in &mut self.writes {
            write.cells = cells;
            write.subarray = Some(vec![ends([0, 0_i64]), ends([0, cells.cast_signed() - 1])]);
        }
        self
    }
}

/// Returns the default folder of the arrays, next to the reference library in an ignored folder of
/// the workspace.
pub fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.reference/speed")
}

/// Creates the array if it does not exist. Returns its path.
pub fn ensure(reference: &mut Reference, folder: &Path, array: &SpeedArray) -> Result<String, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let path = folder.canonicalize()?.join(&array.name);
    let uri = path.to_str().ok_or("the arrays' folder is not UTF-8")?.to_owned();
    if path.exists() {
        return Ok(uri);
    }
    // The array is renamed when complete. An interrupted run leaves no partial array.
    let making = folder.canonicalize()?.join(format!("{}.making", array.name));
    let _ = fs::remove_dir_all(&making);
    let making_uri = making.to_str().ok_or("the arrays' folder is not UTF-8")?.to_owned();
    eprintln!("creating {}", array.name);
    reference.create(&making_uri, &array.spec)?;
    for write in &array.writes {
        reference.done(Job::WriteGenerated { uri: making_uri.clone(), spec: write.clone() })?;
    }
    if array.consolidated_metadata {
        reference.consolidate(&making_uri, "fragment_meta")?;
    }
    fs::rename(&making, &path)?;
    Ok(uri)
}

/// Returns a square of doubles with `side` cells per side, in tiles of 512 by 512.
pub fn dense(name: &str, side: u64, filters: impl Into<Pipeline>) -> SpeedArray {
    let wave = attribute("value", Datatype::Float64).filters(filters);
    dense_of(name, side, wave, Rule::Wave { seed: 1 })
}

pub fn dense_of(name: &str, side: u64, attribute: AttributeSpec, rule: Rule) -> SpeedArray {
    let column = attribute.name.clone();
    let tile = 512.min(side) as i64;
    let sides = ["y", "x"].map(|name| dimension(name, Datatype::Int64, [0, side as i64 - 1], tile));
    let writes = vec![write(Layout::RowMajor, 0, side * side, &[(&column, rule)])];
    SpeedArray::new(format!("dense-{name}-{side}"), ArraySpec::dense(sides, [attribute]), writes)
}

/// Returns a write of all cells, `later` milliseconds after the first write.
pub fn write(layout: Layout, later: u64, cells: u64, columns: &[(&str, Rule)]) -> GeneratedWrite {
    let timestamp = Some(1_700_000_000_000 + later);
    let columns = columns.iter().map(|(name, rule)| ((*name).to_owned(), *rule)).collect();
    GeneratedWrite { layout, subarray: None, timestamp, cells, columns }
}

/// Returns a row-major write of waves to a subarray, `number` milliseconds after the first write.
fn wave(number: u64, subarray: Vec<(Bytes, Bytes)>, cells: u64) -> GeneratedWrite {
    let write = write(Layout::RowMajor, number, cells, &[("value", Rule::Wave { seed: number })]);
    GeneratedWrite { subarray: Some(subarray), ..write }
}

/// Returns a row of doubles, with one fragment per tile.
pub fn many_fragments(fragments: u64, consolidated_metadata: bool) -> SpeedArray {
    const CELLS: u64 = 100;
    let name = if consolidated_metadata { "consolidated" } else { "separate" };
    let side = dimension("x", Datatype::Int64, [0, (fragments * CELLS) as i64 - 1], CELLS as i64);
    let write = |fragment| {
        let cells = vec![ends([fragment * CELLS, (fragment + 1) * CELLS - 1].map(u64::cast_signed))];
        wave(fragment, cells, CELLS)
    };
    let spec = ArraySpec::dense([side], [attribute("value", Datatype::Float64)]);
    let writes = (0..fragments).map(write).collect();
    SpeedArray { name: format!("fragments-{name}-{fragments}"), spec, writes, consolidated_metadata }
}

/// Returns a square of doubles with `layers` fragments. Each fragment covers a band two steps wide,
/// and overlaps the neighboring bands.
pub fn layered(side: u64, layers: u64) -> SpeedArray {
    let name = if layers == 8 { "layered".to_owned() } else { format!("layered-{layers}") };
    let mut array = dense(&name, side, []);
    let step = side / layers;
    let band = 2 * step;
    array.writes = (0..layers)
        .map(|layer| {
            let first = (layer * step).min(side - band);
            let sides = [[first, first + band - 1], [0, side - 1]];
            let sides = sides.map(|side| ends(side.map(u64::cast_signed))).into();
            wave(layer, sides, band * side)
        })
        .collect();
    array
}

/// Returns a stack of `images` images of bytes, with `side` pixels per side. A tile is a part of an
/// image.
pub fn stack(images: u64, side: u64) -> SpeedArray {
    let z = dimension("z", Datatype::Int64, [0, images as i64 - 1], 1);
    let [y, x] = ["y", "x"].map(|name| dimension(name, Datatype::Int64, [0, side as i64 - 1], 256));
    let pixel = attribute("pixel", Datatype::UInt8).filters(zstd());
    let writes = vec![write(Layout::RowMajor, 0, images * side * side, &[("pixel", Rule::Pixel { seed: 1 })])];
    SpeedArray::new(format!("stack-{images}-{side}"), ArraySpec::dense([z, y, x], [pixel]), writes)
}

/// Returns points with nullable doubles and strings. One in eight values is null.
pub fn nullable_points(cells: u64) -> SpeedArray {
    let mut array = sparse("nullable", cells, 1, [], Layout::RowMajor);
    let word = attribute("b", Datatype::StringAscii).var().nullable();
    array.spec.attributes = vec![attribute("a", Datatype::Float64).nullable(), word];
    for write in &mut array.writes {
        write.columns.truncate(2);
        write.columns.push(("a".to_owned(), Rule::MaybeWave { seed: 1 }));
        write.columns.push(("b".to_owned(), Rule::MaybeWord { seed: 2 }));
    }
    array
}

/// Returns the side of a sparse array's square as a power of two. The square has room for several
/// times the number of points.
pub fn side_bits(cells: u64) -> u32 {
    (cells * 4).next_power_of_two().trailing_zeros().div_ceil(2)
}

/// Returns points on a square with two doubles each, distributed over `fragments` writes.
pub fn sparse(name: &str, cells: u64, fragments: u64, coords: impl Into<Pipeline>, order: Layout) -> SpeedArray {
    let coords = coords.into();
    let bits = side_bits(cells);
    let side = 1i64 << bits;
    let dimensions = ["y", "x"].map(|name| dimension(name, Datatype::Int64, [0, side - 1], 256));
    let dimensions: Vec<DimensionSpec> = match order {
        Layout::Hilbert => dimensions.map(DimensionSpec::without_extent).into(),
        _ => dimensions.into(),
    };
    let attributes = ["a", "b"].map(|name| attribute(name, Datatype::Float64));
    let mut spec = ArraySpec::sparse(dimensions, attributes).capacity(100_000);
    spec.cell_order = order;
    spec.coords_filters = Some(coords);
    let writes = (0..fragments).map(|fragment| {
        // Different seeds shift the points. Fragments share some coordinates, which the reader must
        // deduplicate.
        let side = |dimension| Rule::Scattered { seed: fragment, bits, dimension };
        let (a, b) = (Rule::Wave { seed: fragment }, Rule::Wave { seed: fragment + 100 });
        let columns = [("y", side(0)), ("x", side(1)), ("a", a), ("b", b)];
        write(Layout::Unordered, fragment, cells / fragments, &columns)
    });
    SpeedArray::new(format!("sparse-{name}-{cells}-{fragments}"), spec, writes.collect())
}

/// Returns points with string coordinates and a string each.
pub fn strings(cells: u64) -> SpeedArray {
    let attributes = [attribute("word", Datatype::StringAscii).var(), attribute("a", Datatype::Float64)];
    let spec = ArraySpec::sparse([tdb_reference::model::string_dimension("id")], attributes).capacity(100_000);
    let columns =
        [("id", Rule::UniqueWord { seed: 3 }), ("word", Rule::Word { seed: 4 }), ("a", Rule::Wave { seed: 5 })];
    let writes = vec![write(Layout::Unordered, 0, cells, &columns)];
    SpeedArray::new(format!("sparse-strings-{cells}"), spec, writes)
}

/// Returns `millions` of cells times `scale`.
pub fn scaled(millions: f64, scale: f64) -> u64 {
    (millions * 1e6 * scale).max(1000.0) as u64
}

/// Returns the side of a square of whole tiles, whose area grows with `scale`.
pub fn scaled_side(side: u64, tile: u64, scale: f64) -> u64 {
    (side as f64 * scale.sqrt() / tile as f64).round().max(1.0) as u64 * tile
}

pub fn zstd() -> Pipeline {
    [FilterSpec::Zstd { level: Some(3) }].into()
}

pub fn plain() -> Pipeline {
    Pipeline::from([])
}
