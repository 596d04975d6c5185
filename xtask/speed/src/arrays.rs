//! The arrays that are read: made once by the reference library, and kept.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use tdb_types::{Datatype, Layout};

use tdb_reference::model::{
    ArraySpec, AttributeSpec, DimensionSpec, FilterSpec, GeneratedWrite, Pipeline, Rule, attribute, bytes_of, dimension,
};
use tdb_reference::{Job, Reference};

/// An array to be read, and the codec that its cells went through, if one rules its speed.
#[derive(Clone, Debug)]
pub struct SpeedArray {
    pub name: String,
    pub spec: ArraySpec,
    pub writes: Vec<GeneratedWrite>,
    /// Whether the fragments' metadata is consolidated at last.
    pub consolidated_metadata: bool,
}

/// Codecs whose own speed is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Zstd,
    Gzip,
    Lz4,
}

impl SpeedArray {
    /// The codec that the first attribute's cells go through, if there is one.
    pub fn codec(&self) -> Option<Codec> {
        let filters = &self.spec.attributes.first()?.filters.filters;
        filters.iter().find_map(|filter| match filter {
            FilterSpec::Zstd { .. } => Some(Codec::Zstd),
            FilterSpec::Gzip { .. } => Some(Codec::Gzip),
            FilterSpec::Lz4 { .. } => Some(Codec::Lz4),
            _ => None,
        })
    }
}

/// Beside the reference library, which lies in the workspace's ignored folder too.
pub fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.reference/speed")
}

/// Makes the array if it isn't there; gives its path.
pub fn ensure(reference: &mut Reference, folder: &Path, array: &SpeedArray) -> Result<String, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let path = folder.canonicalize()?.join(&array.name);
    let uri = path.to_str().ok_or("the arrays' folder is not UTF-8")?.to_owned();
    if path.exists() {
        return Ok(uri);
    }
    // Under another name until it is whole, so that a run that was stopped leaves nothing half made.
    let making = folder.canonicalize()?.join(format!("{}.making", array.name));
    let _ = fs::remove_dir_all(&making);
    let making_uri = making.to_str().ok_or("the arrays' folder is not UTF-8")?.to_owned();
    eprintln!("making {}", array.name);
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

/// A square of doubles, `side` cells along each side, in tiles of 512 by 512.
pub fn dense(name: &str, side: u64, filters: impl Into<Pipeline>) -> SpeedArray {
    let wave = attribute("value", Datatype::Float64).filters(filters);
    dense_of(name, side, wave, Rule::Wave { seed: 1 })
}

pub fn dense_of(name: &str, side: u64, attribute: AttributeSpec, rule: Rule) -> SpeedArray {
    let column = attribute.name.clone();
    let sides = ["y", "x"].map(|name| dimension(name, Datatype::Int64, [0, side as i64 - 1], 512));
    SpeedArray {
        name: format!("dense-{name}-{side}"),
        spec: ArraySpec::dense(sides, [attribute]),
        writes: vec![GeneratedWrite {
            layout: Layout::RowMajor,
            subarray: None,
            timestamp: Some(1_700_000_000_000),
            cells: side * side,
            columns: vec![(column, rule)],
        }],
        consolidated_metadata: false,
    }
}

/// A row of doubles, whose tiles were written one by one.
pub fn many_fragments(consolidated_metadata: bool) -> SpeedArray {
    const FRAGMENTS: u64 = 1000;
    const CELLS: u64 = 100;
    let name = if consolidated_metadata { "consolidated" } else { "separate" };
    let side = dimension("x", Datatype::Int64, [0, (FRAGMENTS * CELLS) as i64 - 1], CELLS as i64);
    let write = |fragment| GeneratedWrite {
        layout: Layout::RowMajor,
        subarray: Some(vec![(bytes_of([(fragment * CELLS) as i64]), bytes_of([((fragment + 1) * CELLS) as i64 - 1]))]),
        timestamp: Some(1_700_000_000_000 + fragment),
        cells: CELLS,
        columns: vec![("value".to_owned(), Rule::Wave { seed: fragment })],
    };
    SpeedArray {
        name: format!("fragments-{name}-{FRAGMENTS}"),
        spec: ArraySpec::dense([side], [attribute("value", Datatype::Float64)]),
        writes: (0..FRAGMENTS).map(write).collect(),
        consolidated_metadata,
    }
}

/// A square of doubles under eight fragments. Each covers a part of it and overlaps its neighbours.
pub fn layered(side: u64) -> SpeedArray {
    let mut array = dense("layered", side, []);
    let (band, step) = (side / 4, side / 8);
    array.writes = (0..8)
        .map(|layer| {
            let first = (layer * step).min(side - band);
            GeneratedWrite {
                layout: Layout::RowMajor,
                subarray: Some(vec![
                    (bytes_of([first as i64]), bytes_of([(first + band - 1) as i64])),
                    (bytes_of([0i64]), bytes_of([side as i64 - 1])),
                ]),
                timestamp: Some(1_700_000_000_000 + layer),
                cells: band * side,
                columns: vec![("value".to_owned(), Rule::Wave { seed: layer })],
            }
        })
        .collect();
    array
}

/// The side of the square of a sparse array, as a power of two: room for several times as many points as there are.
pub fn side_bits(cells: u64) -> u32 {
    (cells * 4).next_power_of_two().trailing_zeros().div_ceil(2)
}

/// Points on a square with two doubles each; `fragments` writes share them.
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
    let writes = (0..fragments).map(|fragment| GeneratedWrite {
        layout: Layout::Unordered,
        subarray: None,
        timestamp: Some(1_700_000_000_000 + fragment),
        cells: cells / fragments,
        columns: vec![
            // Different seeds shift the points: fragments share some, which must then be found.
            ("y".to_owned(), Rule::Scattered { seed: fragment, bits, dimension: 0 }),
            ("x".to_owned(), Rule::Scattered { seed: fragment, bits, dimension: 1 }),
            ("a".to_owned(), Rule::Wave { seed: fragment }),
            ("b".to_owned(), Rule::Wave { seed: fragment + 100 }),
        ],
    });
    SpeedArray {
        name: format!("sparse-{name}-{cells}-{fragments}"),
        spec,
        writes: writes.collect(),
        consolidated_metadata: false,
    }
}

/// Points named by strings, with a string each.
pub fn strings(cells: u64) -> SpeedArray {
    let attributes = [attribute("word", Datatype::StringAscii).var(), attribute("a", Datatype::Float64)];
    let spec = ArraySpec::sparse([tdb_reference::model::string_dimension("id")], attributes).capacity(100_000);
    SpeedArray {
        name: format!("sparse-strings-{cells}"),
        spec,
        writes: vec![GeneratedWrite {
            layout: Layout::Unordered,
            subarray: None,
            timestamp: Some(1_700_000_000_000),
            cells,
            columns: vec![
                ("id".to_owned(), Rule::UniqueWord { seed: 3 }),
                ("word".to_owned(), Rule::Word { seed: 4 }),
                ("a".to_owned(), Rule::Wave { seed: 5 }),
            ],
        }],
        consolidated_metadata: false,
    }
}
