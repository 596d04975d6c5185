//! Verification of statistics: each statistic in sound metadata is altered, undetectable by
//! checksums and codecs. Verification finds each alteration as the right kind.

use std::sync::Arc;

use crate::verify_run::written;
use tdb_array::tdb_fragment::{
    FRAGMENT_METADATA_FILE, FragmentField, FragmentFile, FragmentFolder, GenericTileDecoder, GenericTileEncoder,
    StatisticsRules, TileValues, Tiles, tdb_rtree::DimRange, tdb_rtree::RTree,
};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayOptions, Fragment, TimeRange, WriteBatch};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{Datatype, Feature, Limits};
use tdb_verify::{FindingKind, Severity, Verify};

/// Number of detected alterations by kind.
#[derive(Debug, Default)]
struct Counts {
    sums: usize,
    bounds: usize,
    nulls: usize,
    totals: usize,
    boxes: usize,
    domains: usize,
}

/// Alters a sum. A NaN becomes a number, because NaNs have many representations.
fn alter_sum(sum: &mut u64) {
    *sum = if f64::from_bits(*sum).is_nan() { 0 } else { *sum ^ 1 << 40 };
}

/// A fragment and its stored metadata.
struct Subject<'a> {
    name: &'a str,
    storage: &'a Arc<MemoryStorage>,
    fragment: &'a Fragment,
    path: String,
    sound: FragmentFile,
}

impl<'a> Subject<'a> {
    fn new(name: &'a str, storage: &'a Arc<MemoryStorage>, fragment: &'a Fragment) -> Self {
        let path = format!("{}/{FRAGMENT_METADATA_FILE}", fragment.folder());
        let folder = FragmentFolder { version: fragment.version(), has_coordinates: false };
        let mut decoder = GenericTileDecoder::new(Limits::default());
        let bytes = storage.read(&path).unwrap();
        let sound = FragmentFile::parse(&bytes, folder, fragment.schema(), &mut decoder, None).unwrap();
        Self { name, storage, fragment, path, sound }
    }

    /// Returns `true` if a verification finds the given kind in altered metadata.
    fn finds(&self, kind: FindingKind, alter: impl FnOnce(&mut FragmentFile)) -> bool {
        let mut file = self.sound.clone();
        alter(&mut file);
        let mut encoder = GenericTileEncoder::new(self.fragment.version());
        let bytes = FragmentFile::write(file.footer.header(), &file.contents, self.fragment.schema(), &mut encoder);
        self.put(bytes.unwrap(), kind)
    }

    fn put(&self, bytes: Vec<u8>, kind: FindingKind) -> bool {
        let before = self.storage.read(&self.path).unwrap();
        self.storage.insert(&self.path, bytes).unwrap();
        let report = Verify::new().threads(1).storage(self.storage.clone()).unwrap();
        self.storage.insert(&self.path, before).unwrap();
        report.findings.iter().any(|finding| finding.severity == Severity::Finding && finding.kind == kind)
    }

    fn check_field(&self, field: FragmentField, counts: &mut Counts) {
        let (footer, schema) = (self.fragment.footer(), self.fragment.schema());
        let rules = StatisticsRules::new(footer, schema, field).unwrap();
        let slot = footer.slot(field).unwrap();
        let statistics = &self.sound.contents.fields[slot].statistics;
        let known = statistics.tile(0, footer.tiles(), &rules);
        let context = format!("{} {}: {field}", self.name, self.path);
        if known.sum.trusted().is_some() {
            let found =
                self.finds(FindingKind::Sum, |file| alter_sum(&mut file.contents.fields[slot].statistics.sums[0]));
            assert!(found, "sum of {context}");
            counts.sums += 1;
        }
        if known.null_count.trusted().is_some() && !statistics.null_counts.is_empty() {
            let alter = |file: &mut FragmentFile| file.contents.fields[slot].statistics.null_counts[0] ^= 1;
            assert!(self.finds(FindingKind::NullCount, alter), "nulls of {context}");
            counts.nulls += 1;
        }
        for (is_min, bound, kind) in [(true, known.min, FindingKind::Minimum), (false, known.max, FindingKind::Maximum)]
        {
            if bound.trusted().is_none_or(<[u8]>::is_empty) {
                continue;
            }
            let found = self.finds(kind, |file| {
                let statistics = &mut file.contents.fields[slot].statistics;
                let values = if is_min { &mut statistics.mins } else { &mut statistics.maxs };
                match values {
                    TileValues::Fixed { bytes, .. } | TileValues::Var { bytes, .. } => bytes[0] ^= 1,
                    TileValues::Absent => {}
                }
            });
            assert!(found, "bounds of {context}");
            counts.bounds += 1;
        }
        if let Some(totals) = self.sound.contents.fragment_statistics.0.get(slot)
            && totals.judge(footer.tiles(), &rules).sum.trusted().is_some()
        {
            let alter = |file: &mut FragmentFile| alter_sum(&mut file.contents.fragment_statistics.0[slot].sum);
            assert!(self.finds(FindingKind::Sum, alter), "total of {context}");
            counts.totals += 1;
        }
    }

    /// Alters the MBRs of a sparse fragment: of a tile, of an inner node, and the non-empty domain.
    fn check_boxes(&self, counts: &mut Counts) {
        let kinds = self.fragment.schema().domain().kinds();
        let tree = &self.sound.contents.rtree;
        let mut leaves: Vec<_> = (0..tree.leaf_count()).map(|tile| tree.mbr(tile).unwrap()).collect();
        let Some(DimRange::Fixed { lo, hi }) = leaves.first().and_then(|mbr| mbr.0.first()).cloned() else { return };
        if lo < hi {
            leaves[0].0[0] = DimRange::Fixed { lo: lo + 1, hi };
            let altered = RTree::build(&kinds, &leaves, tree.fanout()).unwrap();
            let found = self.finds(FindingKind::Mbr, |file| file.contents.rtree = altered);
            assert!(found, "box of {} {}", self.name, self.path);
            counts.boxes += 1;
        }
        let mut header = self.sound.footer.header().clone();
        let Some(domain) = &mut header.non_empty_domain else { return };
        if let DimRange::Fixed { lo, hi } = domain.0[0].clone()
            && lo < hi
        {
            domain.0[0] = DimRange::Fixed { lo, hi: hi - 1 };
            let mut encoder = GenericTileEncoder::new(self.fragment.version());
            let contents = &self.sound.contents;
            let bytes = FragmentFile::write(&header, contents, self.fragment.schema(), &mut encoder).unwrap();
            assert!(self.put(bytes, FindingKind::NonEmptyDomain), "domain of {} {}", self.name, self.path);
            counts.domains += 1;
        }
    }
}

#[test]
fn altered_statistics_are_found() {
    let mut counts = Counts::default();
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        if fixture.expected().key().is_some() {
            continue;
        }
        let storage = fixture.array_storage();
        let array: Array = ArrayOptions::new().between(TimeRange::ALL).threads(1).open_on(storage.clone()).unwrap();
        // One fragment per fixture is enough.
        let Some(fragment) = array.fragments().unwrap().first() else { continue };
        if !fragment.version().has(Feature::TileStatistics) || fragment.tile_count() == 0 {
            continue;
        }
        let subject = Subject::new(fixture.name(), &storage, fragment);
        for field in fragment.footer().slots().iter().filter(|field| !fragment.has_lossy_filters(*field)) {
            let has_cells = match field {
                FragmentField::Coordinates => false,
                FragmentField::Dimension(_) => !fragment.footer().is_dense(),
                _ => true,
            };
            if has_cells {
                subject.check_field(field, &mut counts);
            }
        }
        if matches!(fragment.footer().tiles(), Tiles::Sparse(_)) {
            subject.check_boxes(&mut counts);
        }
    }
    println!("{counts:?}");
    let Counts { sums, bounds, nulls, totals, boxes, domains, .. } = counts;
    assert!(sums > 500 && bounds > 1000 && nulls > 50 && totals > 500 && boxes > 100 && domains > 100, "{counts:?}");
}

/// The bits of a NaN sum depend on the processor and on the order of additions.
#[test]
fn nan_sums_may_have_any_bits() {
    let place = Dimension::new("place", 0i32..=9);
    let schema = SchemaBuilder::sparse().dimension(place).attribute(Attribute::new("a", Datatype::Float32));
    let cells = WriteBatch::new().with("place", &[1, 2, 3]).with("a", &[f32::NAN, 1.5, -f32::NAN]);
    let storage = written(schema, cells);
    let array = ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap();
    let fragment = &array.fragments().unwrap()[0];
    let subject = Subject::new("NaN", &storage, fragment);
    let slot = fragment.footer().slot(FragmentField::Attribute(0)).unwrap();
    let alter =
        |bits: u64| subject.finds(FindingKind::Sum, |file| file.contents.fields[slot].statistics.sums[0] = bits);
    assert!(!alter(f64::NAN.to_bits()) && !alter((-f64::NAN).to_bits()) && !alter(0x7ff8_0000_0000_0001));
    assert!(alter(1.5f64.to_bits()) && alter(f64::INFINITY.to_bits()));
}

/// Values that some writers cannot add or compare do not hide later changes to the cells.
#[test]
fn huge_values_and_nans_in_the_place_of_others_are_found() {
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("x", 0u32..=99))
        .attribute(Attribute::new("a", Datatype::Float64));
    let storage = written(schema, WriteBatch::new().with("x", &[1_u32, 2, 3]).with("a", &[1.5_f64, 2.5, 3.5]));
    let path = format!("__fragments/{}/a0.tdb", storage.list("__fragments").unwrap()[0].name);
    let sound = storage.read(&path).unwrap();
    let at = sound.windows(8).position(|bytes| bytes == 2.5_f64.to_le_bytes()).unwrap();
    for value in [1e300, -1e300, f64::MAX, f64::INFINITY, f64::NAN] {
        let mut altered = sound.clone();
        altered[at..at + 8].copy_from_slice(&f64::to_le_bytes(value));
        storage.insert(&path, altered).unwrap();
        let report = Verify::new().threads(1).storage(storage.clone()).unwrap();
        assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Sum), "{value}");
        assert!(!report.is_sound(), "{value}: {:#?}", report.findings);
    }
}
