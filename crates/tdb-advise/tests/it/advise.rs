//! Following advice: each problem is found, the command solves it, and the problem is no longer
//! reported.

use std::sync::Arc;
use std::time::Duration;

use tdb_advise::{Advice, AdviceKind, AdviceLevel, AdviceReport, Advise, AdvisedCommand, Costs, Sample};
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_filters::FilterPipeline;
use tdb_array::tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayOptions, CreateOptions, MetadataValue, TimeRange, WriteBatch, WriteIds};
use tdb_maintain::{Consolidate, ConsolidateFragments, Vacuum};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::{Datatype, Layout};

/// Costs with a low threshold.
fn eager() -> Costs {
    let mut costs = Costs::default();
    costs.worth = Duration::from_micros(100);
    costs
}

fn open(storage: &Arc<dyn Storage>) -> Array {
    ArrayOptions::new().between(TimeRange::ALL).threads(1).open_on(storage.clone()).unwrap()
}

fn create(schema: ArraySchema) -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    CreateOptions::new().create_on(&storage, schema).unwrap();
    storage
}

fn dimension(name: &str) -> Dimension {
    Dimension::new(name, 0i32..=999_999)
}

fn filters(text: &str) -> FilterPipeline {
    text.parse().unwrap()
}

/// Returns a pseudo-random number.
fn random(number: u32) -> u32 {
    let mut x = u64::from(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((x ^ (x >> 31)) >> 32).unwrap()
}

fn advised(storage: &Arc<dyn Storage>, sample: Option<Sample>) -> AdviceReport {
    let advise = Advise::new().costs(eager());
    let advise = match sample {
        Some(sample) => advise.sample(sample),
        None => advise,
    };
    advise.run(&open(storage)).unwrap()
}

fn find(report: &AdviceReport, kind: AdviceKind) -> Option<&Advice> {
    report.advice.iter().find(|advice| advice.kind == kind && advice.level != AdviceLevel::Note)
}

/// Returns the measured and the predicted value of a figure.
fn figure(advice: &Advice, name: &str) -> (u64, u64) {
    let figure =
        advice.figures.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name}: {advice:?}"));
    (figure.now, figure.then.unwrap())
}

/// Runs consolidation and vacuum commands.
fn follow(storage: &Arc<dyn Storage>, remedy: &[AdvisedCommand]) {
    for AdvisedCommand { command, options, .. } in remedy {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let array = open(storage);
        match (*command, &options[..]) {
            ("consolidate", []) => drop(ConsolidateFragments::new().plan(&array).unwrap().run().unwrap()),
            ("consolidate", ["--purge-deleted"]) => {
                drop(ConsolidateFragments::new().purge(true).plan(&array).unwrap().run().unwrap());
            }
            ("consolidate", ["--what", "commits"]) => drop(Consolidate::commits().plan(&array).unwrap().run().unwrap()),
            ("consolidate", ["--what", "footers"]) => drop(Consolidate::footers().plan(&array).unwrap().run().unwrap()),
            ("consolidate", ["--what", "metadata"]) => {
                drop(Consolidate::metadata().plan(&array).unwrap().run().unwrap());
            }
            ("vacuum", []) => drop(Vacuum::all().plan(&array).unwrap().run().unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

/// Writes one sparse fragment per time.
fn fragments(storage: &Arc<dyn Storage>, count: u32, cells: u32) {
    for number in 0..count {
        let x: Vec<i32> = (0..cells).map(|cell| i32::try_from(cell * count + number).unwrap()).collect();
        let a: Vec<i32> = x.iter().map(|x| x % 10).collect();
        let names = WriteIds::new().at(1000 + u64::from(number));
        open(storage).write().ids(names).cells(WriteBatch::new().with("x", &x).with("a", &a)).unwrap();
    }
}

fn simple() -> SchemaBuilder {
    SchemaBuilder::sparse().dimension(dimension("x")).attribute(Attribute::new("a", Datatype::Int32))
}

#[test]
fn many_fragments() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 40, 50);
    // Also with the default costs of an object store.
    let report = Advise::new().run(&open(&storage)).unwrap();
    let advice = find(&report, AdviceKind::Fragments).unwrap();
    assert_eq!(advice.level, AdviceLevel::Weak);
    assert_eq!(figure(advice, "fragments"), (40, 1));
    assert_eq!(figure(advice, "overlapping fragments").0, 40);
    let (before, promised) = figure(advice, "requests to open the array");
    assert_eq!(advice.remedy[0].line("my array"), "tdb consolidate 'my array'");
    follow(&storage, &advice.remedy.clone());
    let report = Advise::new().run(&open(&storage)).unwrap();
    let after = report.opening.lists + report.opening.reads;
    assert!(after <= promised + 1 && after < before / 4, "{before}, {promised} promised, {after}");
    assert!(report.is_healthy(), "{:?}", report.advice);
}

#[test]
fn superseded_fragments() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 6, 2000);
    ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    let report = advised(&storage, None);
    let advice = find(&report, AdviceKind::Replaced).unwrap();
    let (bytes, _) = figure(advice, "superseded bytes");
    let planned = Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(planned.removed(), bytes);
    assert!(find(&advised(&storage, None), AdviceKind::Replaced).is_none());
}

#[test]
fn commits_and_metadata() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 1, 1000);
    for number in 0..5u64 {
        let condition: Condition = format!("a = {number}").parse().unwrap();
        open(&storage).delete_cells(&condition, &WriteIds::new().at(2000 + number)).unwrap();
        let names = WriteIds::new().at(3000 + number);
        let value = MetadataValue::text("value").unwrap();
        open(&storage).write_metadata().ids(names).put(format!("key {number}"), value).commit().unwrap();
    }
    for kind in [AdviceKind::Commits, AdviceKind::Metadata] {
        let report = advised(&storage, None);
        let advice = find(&report, kind).unwrap();
        let (before, then) = figure(advice, "files read one by one");
        assert!(before >= 4 && then == 0, "{advice:?}");
        follow(&storage, &advice.remedy.clone());
        assert!(find(&advised(&storage, None), kind).is_none(), "{kind:?}");
    }
}

#[test]
fn deleted_cells() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 2, 20_000);
    open(&storage).delete_cells(&"a < 6".parse::<Condition>().unwrap(), &WriteIds::new().at(5000)).unwrap();
    // Metadata does not contain the number of remaining cells.
    assert!(find(&advised(&storage, None), AdviceKind::DeadCells).is_none());
    let report = advised(&storage, Some(Sample::Tiles(1)));
    let advice = find(&report, AdviceKind::DeadCells).unwrap();
    assert_eq!(figure(advice, "cells"), (40_000, 16_000));
    follow(&storage, &advice.remedy.clone());
    let report = advised(&storage, Some(Sample::Tiles(1)));
    assert!(report.cells == 16_000 && find(&report, AdviceKind::DeadCells).is_none(), "{report:?}");
}

/// Consolidation keeps overwritten cells, even with purge.
#[test]
fn overwritten_cells() {
    let storage = create(simple().build().unwrap());
    for time in 0..5 {
        let x: Vec<i32> = (0..4000).collect();
        let cells = WriteBatch::new().with("x", &x).with("a", &x);
        open(&storage).write().ids(WriteIds::new().at(1000 + time)).cells(cells).unwrap();
    }
    open(&storage).delete_cells(&"a < 0".parse::<Condition>().unwrap(), &WriteIds::new().at(5000)).unwrap();
    let report = advised(&storage, Some(Sample::Tiles(1)));
    let advice = find(&report, AdviceKind::DeadCells).unwrap();
    assert_eq!(figure(advice, "cells"), (20_000, 4_000));
    assert_eq!(advice.remedy.len(), 1);
    assert_eq!((advice.remedy[0].command, &advice.remedy[0].options[..]), ("migrate", &["--flatten".to_owned()][..]));
}

#[test]
fn overwritten_dense_fragments() {
    let rows = Dimension::new("row", 0i32..=99_999);
    let schema =
        SchemaBuilder::dense().dimension(rows.with_tile(10_000)).attribute(Attribute::new("a", Datatype::UInt32));
    let storage = create(schema.build().unwrap());
    let a: Vec<u32> = (0..100_000).map(random).collect();
    for time in 1..4 {
        let cells = WriteBatch::new().with("a", &a);
        open(&storage).write().ids(WriteIds::new().at(time)).range("row", 0..=99_999).unwrap().cells(cells).unwrap();
    }
    let report = advised(&storage, None);
    let advice = find(&report, AdviceKind::DeadCells).or(find(&report, AdviceKind::Fragments)).unwrap();
    follow(&storage, &advice.remedy.clone());
    let after = advised(&storage, None);
    assert!(after.stored * 2 < report.stored && after.fragments == 1, "{} then {}", report.stored, after.stored);
    assert!(find(&after, AdviceKind::DeadCells).is_none() && find(&after, AdviceKind::Fragments).is_none());
}

/// Returns an array with the same cells, as a migration with these options would create it.
fn migrated(
    from: &Arc<dyn Storage>,
    schema: impl Fn(&[String]) -> ArraySchema,
    remedy: &AdvisedCommand,
) -> Arc<dyn Storage> {
    assert_eq!(remedy.command, "migrate");
    let (array, to) = (open(from), create(schema(&remedy.options)));
    let mut cells = WriteBatch::new();
    let batch = array.read().batches().unwrap().next().unwrap().unwrap();
    for column in batch.columns() {
        cells = cells.with(column.name().to_owned(), tdb_array::WriteColumn::bytes(column.bytes()));
    }
    open(&to).write().ids(WriteIds::new().at(1)).cells(cells).unwrap();
    to
}

/// Returns the value of an option.
fn option<'a>(options: &'a [String], name: &str) -> &'a str {
    let place = options.iter().position(|option| option == name).unwrap_or_else(|| panic!("{name}: {options:?}"));
    &options[place + 1]
}

#[test]
fn better_filters() {
    let schema = |list: &str| {
        simple()
            .attribute(Attribute::new("time", Datatype::Int64).with_filters(filters(list)))
            .capacity(20_000)
            .build()
            .unwrap()
    };
    let storage = create(schema("no filters"));
    let x: Vec<i32> = (0..100_000).collect();
    let time: Vec<i64> = x.iter().map(|x| 1_600_000_000_000 + i64::from(*x) * 1000 + i64::from(*x % 7)).collect();
    let cells = WriteBatch::new().with("x", &x).with("a", &x).with("time", &time);
    open(&storage).write().cells(cells).unwrap();
    let stored =
        |report: &AdviceReport| report.fields.iter().find(|field| field.name == "time").unwrap().stored_bytes();
    let of_time = |report: &AdviceReport| {
        let mut advice = report.advice.iter().filter(|advice| advice.kind == AdviceKind::Filters);
        advice.find(|advice| advice.field.as_deref() == Some("time")).cloned()
    };
    let report = advised(&storage, Some(Sample::Tiles(2)));
    let advice = of_time(&report).unwrap();
    let (before, promised) = figure(&advice, "stored bytes of the field");
    assert_eq!(before, stored(&report));
    let options = &advice.remedy[0].options;
    let list = options.iter().find_map(|option| option.strip_prefix("time=")).unwrap().to_owned();
    let mended = migrated(&storage, |_| schema(&list), &advice.remedy[0]);
    let after = advised(&mended, Some(Sample::Tiles(2)));
    // The prediction from two of five tiles is accurate to a few percent, and no better filter
    // remains.
    assert!(stored(&after) * 10 < before, "{before} then {}", stored(&after));
    assert!(stored(&after).abs_diff(promised) * 10 < promised, "{promised} promised, {}", stored(&after));
    assert_eq!(of_time(&after), None);
}

/// The bytes cause no wait but use space.
#[test]
fn large_savings_of_space_are_weak_advice() {
    let of = |cells: i32, sample: Option<Sample>| {
        let storage = create(simple().build().unwrap());
        let x: Vec<i32> = (0..cells).collect();
        open(&storage).write().cells(WriteBatch::new().with("x", &x).with("a", &vec![7; x.len()])).unwrap();
        let advise = Advise::new();
        sample.map_or(advise.clone(), |sample| advise.sample(sample)).run(&open(&storage)).unwrap()
    };
    let report = of(20_000, Some(Sample::Tiles(16)));
    let advice = report.advice.iter().find(|advice| advice.field.as_deref() == Some("a")).unwrap();
    assert_eq!((advice.kind, advice.level), (AdviceKind::Filters, AdviceLevel::Weak));
    let fields: Vec<&str> =
        advice.remedy[0].options.iter().filter_map(|option| Some(option.split_once('=')?.0)).collect();
    assert_eq!((advice.remedy.len(), fields), (1, vec!["a", "x"]), "{advice:?}");
    // Without a sample, the metadata suggests trials.
    let report = of(20_000, None);
    let untried = report.advice.iter().find(|advice| advice.kind == AdviceKind::Untried).unwrap();
    assert!(untried.what.contains("\"a\" (no filters)"), "{untried:?}");
    assert_eq!(
        (untried.level, &untried.remedy[0].options[..]),
        (AdviceLevel::Note, &["--sample", "16"].map(String::from)[..])
    );
    // A file uses at least one block.
    assert!(of(100, Some(Sample::Tiles(16))).is_healthy());
    assert!(of(100, None).advice.iter().all(|advice| advice.kind != AdviceKind::Untried));
}

#[test]
fn order_that_favors_one_dimension() {
    let schema = |order: Layout| {
        let builder = SchemaBuilder::sparse().dimension(dimension("x")).dimension(dimension("y"));
        builder.attribute(Attribute::new("a", Datatype::Int32)).cell_order(order).capacity(500).build().unwrap()
    };
    let storage = create(schema(Layout::RowMajor));
    let at = |salt: u32| {
        (0..50_000).map(|cell| i32::try_from(random(cell * 2 + salt) % 1_000_000).unwrap()).collect::<Vec<i32>>()
    };
    let (x, y) = (at(0), at(1));
    open(&storage).write().cells(WriteBatch::new().with("x", &x).with("y", &y).with("a", &x)).unwrap();
    let touched = |storage: &Arc<dyn Storage>| {
        let query = open(storage).read().range("y", 500_000..=509_999).unwrap();
        query.plan().unwrap().fragments.iter().map(|fragment| fragment.tiles.len() as u64).sum::<u64>()
    };
    let report = advised(&storage, None);
    let advice = find(&report, AdviceKind::Order).unwrap();
    assert_eq!(advice.field.as_deref(), Some("y"));
    assert_eq!((figure(advice, "tiles touched by 1% of the range").0, touched(&storage)), (100, 100));
    assert_eq!(option(&advice.remedy[0].options, "--cell-order"), "hilbert");
    let mended = migrated(&storage, |_| schema(Layout::Hilbert), &advice.remedy[0]);
    assert!(touched(&mended) <= 25, "{}", touched(&mended));
    assert!(find(&advised(&mended, None), AdviceKind::Order).is_none());
}

#[test]
fn small_tiles() {
    let schema = |capacity: u64| simple().capacity(capacity).build().unwrap();
    let storage = create(schema(10));
    fragments(&storage, 1, 30_000);
    let report = advised(&storage, None);
    let advice = find(&report, AdviceKind::SmallTiles).unwrap();
    let sampled = advised(&storage, Some(Sample::Tiles(16)));
    let size = "filtered size of the sample with tiles of about the proposed size";
    let (now, then) = figure(find(&sampled, AdviceKind::SmallTiles).unwrap(), size);
    assert!(now == 100 && then < 100, "{then} % of the size in larger tiles");
    let (tiles, promised) = figure(advice, "tiles");
    let capacity = option(&advice.remedy[0].options, "--capacity").parse().unwrap();
    let mended = migrated(&storage, |_| schema(capacity), &advice.remedy[0]);
    let after = advised(&mended, None);
    assert!(tiles == 3000 && after.tiles <= promised + 1, "{tiles}, {promised} promised, {}", after.tiles);
    assert!(after.metadata * 4 < report.metadata && after.stored < report.stored);
    assert!(find(&after, AdviceKind::SmallTiles).is_none() && find(&after, AdviceKind::LargeTiles).is_none());
}

#[test]
fn tiles_wider_than_the_written_range() {
    let schema = |extent: i32| {
        let rows = Dimension::new("row", 0i32..=9_999_999);
        let rows = rows.with_tile(extent);
        SchemaBuilder::dense().dimension(rows).attribute(Attribute::new("a", Datatype::UInt32)).build().unwrap()
    };
    let write = |storage: &Arc<dyn Storage>| {
        let a: Vec<u32> = (0..1000).map(random).collect();
        open(storage).write().range("row", 0..=999).unwrap().cells(WriteBatch::new().with("a", &a)).unwrap();
    };
    let storage = create(schema(1_000_000));
    write(&storage);
    let report = advised(&storage, None);
    let advice = find(&report, AdviceKind::TileFill).unwrap();
    assert_eq!(figure(advice, "bytes unfiltered by a complete read"), (4_000_000, 4_000));
    assert_eq!(advice.remedy[0].line("a"), "tdb migrate a --tile-extent row=1000");
    let mended = create(schema(1000));
    write(&mended);
    let after = advised(&mended, None);
    assert_eq!(after.fields[0].decoded_bytes(), 4_000);
    assert!(find(&after, AdviceKind::TileFill).is_none());
}

#[test]
fn large_tiles() {
    let schema = |extent: i32| {
        let rows = Dimension::new("row", 0i32..=3_999_999);
        let rows = rows.with_tile(extent);
        SchemaBuilder::dense().dimension(rows).attribute(Attribute::new("a", Datatype::UInt32)).build().unwrap()
    };
    let a: Vec<u32> = (0..4_000_000).map(random).collect();
    let write = |storage: &Arc<dyn Storage>| {
        open(storage).write().range("row", 0..=3_999_999).unwrap().cells(WriteBatch::new().with("a", &a)).unwrap();
    };
    let storage = create(schema(4_000_000));
    write(&storage);
    let usual = |storage| Advise::new().run(&open(storage)).unwrap();
    let report = usual(&storage);
    let advice = find(&report, AdviceKind::LargeTiles).unwrap();
    let (before, promised) = figure(advice, "stored bytes per tile");
    let extent = option(&advice.remedy[0].options, "--tile-extent").strip_prefix("row=").unwrap().parse().unwrap();
    let mended = create(schema(extent));
    write(&mended);
    let after = usual(&mended);
    assert!(before > 16_000_000 && after.fields[0].tile.1 <= promised * 11 / 10, "{before}, {promised}");
    assert!(find(&after, AdviceKind::LargeTiles).is_none() && find(&after, AdviceKind::SmallTiles).is_none());
}

/// A vacuum counts cells if the replacing fragments have fewer cells. Without a sample, no cells
/// are read.
#[test]
fn a_vacuum_that_counts_cells_needs_a_sample() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 2, 20_000);
    open(&storage).delete_cells(&"a < 6".parse::<Condition>().unwrap(), &WriteIds::new().at(5000)).unwrap();
    let consolidate = ConsolidateFragments::new().purge(true).max_fragment_size(40_000);
    assert!(consolidate.plan(&open(&storage)).unwrap().run().unwrap().steps[0].fragments.len() > 1);
    let report = advised(&storage, None);
    assert!(find(&report, AdviceKind::Replaced).is_none());
    assert!(report.read.bytes < report.stored / 4, "{} of {}", report.read.bytes, report.stored);
    assert!(find(&advised(&storage, Some(Sample::Tiles(1))), AdviceKind::Replaced).is_some());
}

#[test]
fn no_cells_are_read() {
    let storage = create(simple().build().unwrap());
    fragments(&storage, 3, 10_000);
    let report = advised(&storage, None);
    assert!(
        report.read.bytes > 0 && report.read.bytes < report.stored / 4,
        "{} of {}",
        report.read.bytes,
        report.stored
    );
    let array = open(&storage);
    let fragment = array.fragments().unwrap()[0].clone();
    for field in fragment.footer().slots().iter() {
        fragment.files_of(field).iter().for_each(|(_, path, _)| storage.remove_file(path).unwrap());
    }
    assert_eq!(advised(&storage, None).advice, report.advice);
}

/// Small arrays cause no advice except notes on old formats.
#[test]
fn fixtures_have_little_to_mend() {
    let (mut looked, mut told) = (0, Vec::new());
    for fixture in fixtures::all() {
        let options = ArrayOptions::new()
            .threads(1)
            .key(fixture.expected().key().map(tdb_array::tdb_filters::EncryptionKey::new));
        let Ok(array) = options.open_on(fixture.array_storage()) else { continue };
        let advise = Advise::new().sample(Sample::Tiles(2));
        let report = advise.run(&array).unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
        looked += 1;
        let things = report.advice.iter().filter(|advice| advice.level != AdviceLevel::Note);
        told.extend(things.map(|advice| format!("{}: {advice}", fixture.name())));
    }
    assert!(looked > 120, "{looked}");
    insta::assert_snapshot!(told.join("\n"));
}
