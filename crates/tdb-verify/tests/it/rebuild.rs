//! Fragments of all releases without metadata read the same after a rebuild.

use std::sync::Arc;

use crate::support::{Case, Files, files, on, open, try_open};
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::{Fragment, TimeRange};
use tdb_job::MaintainError;
use tdb_storage::Storage;
use tdb_testkit::{Fault, FaultyStorage, fixtures};
use tdb_verify::{Doctor, Rebuild, RebuildPlan, RebuildProblem, Verify};

type Disk = Arc<dyn Storage>;

fn metadata_of(fragment: &Fragment) -> String {
    format!("{}/__fragment_metadata.tdb", fragment.folder())
}

fn rebuild_of(fragment: &Fragment) -> Rebuild {
    match fragment.non_empty_domain().filter(|_| fragment.footer().is_dense()) {
        Some(domain) => Rebuild::new().domain(domain.clone()),
        None => Rebuild::new(),
    }
}

/// Returns the reason why a rebuild fails.
fn why(rebuild: &Rebuild, disk: &Disk, name: &str) -> RebuildProblem {
    match rebuild.plan(&open(disk), name).and_then(RebuildPlan::run).unwrap_err() {
        MaintainError::Rebuild { why, .. } => why,
        other => panic!("{other}"),
    }
}

#[derive(Debug, Default)]
struct Counts {
    rebuilt: u32,
    /// Identical to the original metadata, byte by byte.
    same: u32,
    /// Fragments of formats 1 to 4.
    older: u32,
    encrypted: u32,
    uncounted: u32,
    other_schema: u32,
}

#[test]
fn fragments_of_all_releases_are_what_they_were() {
    let mut counts = Counts::default();
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        check(&Case::of(&fixture), &mut counts);
    }
    println!("{counts:?}");
    // Other metadata may differ in compression. `Verify` checks the content.
    assert!(counts.rebuilt > 720 && counts.same > 20, "{counts:?}");
    assert!(counts.encrypted > 20 && counts.older > 20, "{counts:?}");
}

fn check(case: &Case, counts: &mut Counts) {
    let all = case.files();
    let array = case.array();
    let mut fragments = array.fragments().unwrap().to_vec();
    fragments.extend(array.superseded_fragments().unwrap().0);
    let seen = case.seen(TimeRange::ALL);
    for fragment in fragments {
        let context = format!("{} {}", case.name, fragment.name());
        let metadata = metadata_of(&fragment);
        let mut lost = all.clone();
        lost.remove(&metadata).unwrap();
        let disk = on(&lost);
        let lossy = case.with_storage(disk.clone());
        let is_older = fragment.version().number() < 5;
        if is_older {
            counts.older += 1;
            // Without metadata, the fragment is not visible.
            assert!(
                lossy.array().fragments().unwrap().iter().all(|other| other.name() != fragment.name()),
                "{context}"
            );
        }
        counts.encrypted += u32::from(case.key().is_some());
        let result = rebuild_of(&fragment).plan(&lossy.array(), fragment.name().as_str()).and_then(RebuildPlan::run);
        if let Err(MaintainError::Rebuild { why, .. }) = &result {
            match why {
                RebuildProblem::NoCount => counts.uncounted += 1,
                why => panic!("{context}: {why}"),
            }
            assert_eq!(files(&*disk), lost, "{context}");
            continue;
        }
        let rebuilt = result.unwrap_or_else(|error| panic!("{context}: {error}"));
        counts.rebuilt += 1;
        assert!(rebuilt.lost.is_none(), "{context}");
        assert_eq!(rebuilt.unknown.iter().any(|what| what.contains("ever committed")), is_older, "{context}");
        let verify = Verify::new().threads(1).key(case.key().cloned());
        let report = verify.storage(disk.clone()).unwrap();
        let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        let sound = verify.storage(on(&all)).unwrap();
        assert_eq!(report.counts().0, sound.counts().0, "{context}: {found:?}");
        let now = lossy.array();
        let own = |fragment: &Fragment| {
            (fragment.schema_name().to_owned(), fragment.footer().header().clone(), fragment.rtree().unwrap())
        };
        let again: Vec<Fragment> =
            now.fragments().unwrap().iter().cloned().chain(now.superseded_fragments().unwrap().0).collect();
        let again = again.into_iter().find(|other| other.name() == fragment.name()).unwrap();
        if again.schema_name() == fragment.schema_name() {
            assert_eq!(own(&again).1, own(&fragment).1, "{context}");
        } else {
            assert!(!rebuilt.other_schemas.is_empty(), "{context}");
            counts.other_schema += 1;
        }
        assert_eq!(lossy.seen(TimeRange::ALL), seen, "{context}");
        counts.same += u32::from(disk.read(&metadata).unwrap() == all[&metadata]);
    }
}

const SPARSE: &str = "v22-by-2.30.0-sparse-2d";
const DENSE: &str = "v22-by-2.30.0-dense-2d-row-row";

/// Returns the files of an array, its fragment with the most tiles, and the path of the metadata.
fn fragment_of(name: &str) -> (Files, Fragment, String) {
    let case = Case::named(name);
    let array = case.array();
    let fragment = array.fragments().unwrap().iter().max_by_key(|fragment| fragment.tile_count()).unwrap().clone();
    let path = metadata_of(&fragment);
    (case.files(), fragment, path)
}

#[test]
fn damaged_metadata_is_quarantined_and_restored() {
    let (mut all, fragment, path) = fragment_of(SPARSE);
    let sound = all[&path].clone();
    all.insert(path.clone(), b"damaged".to_vec());
    let disk = on(&all);
    assert!(open(&disk).fragments().is_err());
    let plan = Rebuild::new().plan(&open(&disk), fragment.name().as_str()).unwrap();
    assert_eq!(files(&*disk), all, "a plan writes nothing");
    let planned = plan.rebuilt().clone();
    assert_eq!(plan.run().unwrap(), planned);
    assert_eq!(open(&disk).fragments().unwrap().len(), 2);
    Doctor::new().undo(&open(&disk)).unwrap();
    assert_eq!(disk.read(&path).unwrap(), b"damaged");
    assert_ne!(sound, b"damaged");
}

#[test]
fn impossible_rebuilds_are_refused() {
    let (mut all, fragment, path) = fragment_of(DENSE);
    let name = fragment.name().as_str();
    all.remove(&path);
    let disk = on(&all);
    assert!(matches!(why(&Rebuild::new(), &disk, name), RebuildProblem::Domain { .. }));
    assert_eq!(why(&Rebuild::new(), &disk, "__1_1_a_22"), RebuildProblem::NoFragment);
    let other = fragment.folder().to_owned() + "/other.tdb";
    disk.create_new(&other, b"").unwrap();
    assert!(matches!(why(&Rebuild::new(), &disk, name), RebuildProblem::NoSchema { .. }));
    disk.remove_file(&other).unwrap();
    let low = fragment.schema().dimensions().iter().map(|dimension| dimension.domain().unwrap().0);
    let domain = NdRange(low.map(|low| DimRange::between(low, low).unwrap()).collect());
    let result = why(&Rebuild::new().domain(domain), &disk, name);
    assert!(matches!(result, RebuildProblem::OtherDomain { expected: 1, .. }), "{result}");
}

/// Tiles before the first damaged one are kept on request, and the loss is reported.
#[test]
fn tiles_before_a_cut() {
    let case =
        fixtures::all().into_iter().map(|fixture| Case::of(&fixture)).filter(|case| !case.name.contains("encrypted"));
    let mut saved = 0;
    for case in case.filter(|case| case.name.contains("sparse")) {
        let array = case.array();
        let Some(fragment) = array.fragments().unwrap().iter().find(|fragment| fragment.tile_count() > 2) else {
            continue;
        };
        let (mut all, path, name) = (case.files(), metadata_of(fragment), fragment.name().as_str());
        all.remove(&path);
        let data: Vec<String> =
            all.keys().filter(|path| path.starts_with(&format!("{}/", fragment.folder()))).cloned().collect();
        let cut = data.iter().max_by_key(|path| all[*path].len()).unwrap();
        let len = all[cut].len();
        all.get_mut(cut).unwrap().truncate(len - 3);
        let disk = on(&all);
        let problem = why(&Rebuild::new(), &disk, name);
        let RebuildProblem::Cut { tile, .. } = problem else { panic!("{}: {problem}", case.name) };
        match Rebuild::new().salvage(true).plan(&open(&disk), name).and_then(RebuildPlan::run) {
            Ok(rebuilt) => {
                assert_eq!((rebuilt.tiles, rebuilt.lost.is_some()), (tile, true), "{}", case.name);
                for batch in open(&disk).read().batches().unwrap() {
                    batch.unwrap();
                }
                saved += 1;
            }
            Err(MaintainError::Rebuild { .. }) => assert_eq!(tile, 0, "{}", case.name),
            Err(error) => panic!("{}: {error}", case.name),
        }
    }
    assert!(saved > 3, "{saved}");
}

#[test]
fn whatever_breaks() {
    let (mut all, fragment, path) = fragment_of(SPARSE);
    all.insert(path.clone(), b"damaged".to_vec());
    let name = fragment.name().as_str();
    let job = |disk: &Disk| Rebuild::new().plan(&try_open(disk)?, name)?.take_over(true).run();
    let sound = FaultyStorage::sound(on(&all));
    job(&(Arc::new(sound.clone()) as _)).unwrap();
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() - 1 {
            let disk = on(&all);
            assert!(job(&(Arc::new(FaultyStorage::new(disk.clone(), fault, n)) as _)).is_err(), "{fault:?} at {n}");
            job(&disk).unwrap_or_else(|error| panic!("{fault:?} at {n}, once more: {error}"));
            assert_eq!(open(&disk).fragments().unwrap().len(), 2, "{fault:?} at {n}");
            Doctor::new().undo(&open(&disk)).unwrap();
            assert_eq!(disk.read(&path).unwrap(), b"damaged", "{fault:?} at {n}");
        }
    }
}

/// Fragments of formats 1 to 4 written by this library, with combined coordinates and with separate
/// ones.
mod old_formats {
    use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
    use tdb_array::{CreateOptions, WriteBatch, WriteColumn};
    use tdb_filters::FilterPipeline;
    use tdb_types::{CellValNum, Datatype, FormatVersion, Scalar};

    use super::*;

    fn version(number: u32) -> FormatVersion {
        FormatVersion::new(number).unwrap()
    }

    fn made(format: u32, filters: &str) -> Disk {
        let dimension = |name| {
            let (first, last) = (Scalar::I32(0), Scalar::I32(99));
            Dimension::new(name, first..=last).with_datatype(Datatype::Int32).with_tile(10)
        };
        let filters: FilterPipeline = filters.parse().unwrap();
        let schema = SchemaBuilder::sparse().version(version(format)).capacity(4).coords_filters(filters);
        let schema = schema.dimension(dimension("y")).dimension(dimension("x"));
        let schema = schema.attribute(Attribute::new("a", Datatype::Int64));
        let schema = schema.attribute(Attribute::new("s", Datatype::StringAscii).with_cell_val_num(CellValNum::Var));
        let disk = on(&Files::new());
        CreateOptions::new().create_on(&disk, schema.build().unwrap()).unwrap();
        disk
    }

    fn write(disk: &Disk, format: u32, y: &[i32], x: &[i32]) {
        let a: Vec<i64> = (0..y.len() as i64).collect();
        let s: Vec<String> = a.iter().map(|number| "ab".repeat(1 + *number as usize % 3)).collect();
        let cells = WriteBatch::new().with("y", y).with("x", x).with("a", &a).with("s", WriteColumn::strings(&s));
        open(disk).write().version(version(format)).cells(cells).unwrap();
    }

    /// Returns the name of the only fragment, the files without its metadata, and the metadata.
    fn lost(disk: &Disk) -> (String, Disk, Vec<u8>) {
        let array = open(disk);
        let [fragment] = array.fragments().unwrap() else { panic!() };
        let mut all = files(&**disk);
        let metadata = all.remove(&metadata_of(fragment)).unwrap();
        (fragment.name().to_string(), on(&all), metadata)
    }

    #[test]
    fn of_this_library() {
        let y: Vec<i32> = (0..40).map(|cell| cell * 7 % 90).collect();
        let x: Vec<i32> = (0..40).map(|cell| cell * 13 % 100).collect();
        for filters in ["no filters", "zstd(3)", "bitshuffle", "double_delta | gzip(2)"] {
            // The release of format 2 writes fragments of format 2 into arrays of format 1.
            for (of_array, of_fragment) in [(1, 1), (1, 2), (2, 2), (3, 3), (3, 4), (4, 4)] {
                let context = format!("{filters}: {of_fragment} in {of_array}");
                let disk = made(of_array, filters);
                write(&disk, of_fragment, &y, &x);
                let before = Case::on(disk.clone()).seen(TimeRange::ALL);
                let (name, lost, metadata) = lost(&disk);
                let plan = Rebuild::new().plan(&open(&lost), &name).unwrap();
                let rebuilt = plan.run().unwrap_or_else(|error| panic!("{context}: {error}"));
                assert_eq!((rebuilt.cells, rebuilt.tiles), (40, 10), "{context}");
                assert_eq!(Case::on(lost.clone()).seen(TimeRange::ALL), before, "{context}");
                let now = lost.read(&format!("{name}/__fragment_metadata.tdb")).unwrap();
                // The metadata is identical if the cells or the schema determine the format
                // version.
                let is_known =
                    of_array == of_fragment || of_fragment == 2 && ["no filters", "bitshuffle"].contains(&filters);
                assert!(now == metadata || !is_known, "{context}");
            }
        }
    }

    #[test]
    fn ambiguous_old_files_are_refused() {
        // The coordinates are (0, 1), (2, 3) in one format and (0, 2), (1, 3) in the other. Both
        // are in the domain and in order.
        let disk = made(1, "no filters");
        write(&disk, 1, &[0, 2], &[1, 3]);
        let (name, damaged, _) = lost(&disk);
        let before = files(&*damaged);
        assert_eq!(why(&Rebuild::new(), &damaged, &name), RebuildProblem::Either(1, 2));
        assert_eq!(files(&*damaged), before);
        // The name is not a fragment's.
        assert_eq!(why(&Rebuild::new(), &damaged, &name.replace("__", "__0")), RebuildProblem::NoFragment);
        // A sparse fragment without coordinates is not taken for a dense one.
        let disk = made(4, "zstd(3)");
        write(&disk, 4, &[0, 2], &[1, 3]);
        let (name, damaged, _) = lost(&disk);
        damaged.remove_file(&format!("{name}/__coords.tdb")).unwrap();
        assert!(matches!(why(&Rebuild::new(), &damaged, &name), RebuildProblem::NoSchema { .. }));
    }

    /// A dense fragment of old releases needs a domain from the caller.
    #[test]
    fn dense_fragments_need_a_domain() {
        for fixture in ["v2-by-1.5.1-dense", "v4-by-1.7.7-dense"] {
            let case = Case::named(fixture);
            let array = case.array();
            let fragment = array.fragments().unwrap()[0].clone();
            let mut all = case.files();
            all.insert(metadata_of(&fragment), b"damaged".to_vec());
            let disk = on(&all);
            let name = fragment.name().as_str();
            assert!(matches!(why(&Rebuild::new(), &disk, name), RebuildProblem::Domain { .. }), "{fixture}");
            let rebuilt = rebuild_of(&fragment).plan(&open(&disk), name).unwrap().run().unwrap();
            // Damaged metadata still commits the fragment.
            assert!(rebuilt.unknown.iter().all(|what| !what.contains("ever committed")), "{fixture}");
            assert_eq!(Case::on(disk.clone()).seen(TimeRange::ALL), case.seen(TimeRange::ALL), "{fixture}");
            Doctor::new().undo(&open(&disk)).unwrap();
            assert_eq!(disk.read(&metadata_of(&fragment)).unwrap(), b"damaged");
        }
    }
}
