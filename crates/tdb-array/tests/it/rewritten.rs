//! Fragments of real releases of the reference library, written again from their cells. The result
//! must have the same files with the same bytes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use tdb_array::{Array, ArrayOptions, Batch, CreateOptions, Fragment, Order, TimeRange, WriteIds};
use tdb_filters::Filter;
use tdb_fragment::{
    FRAGMENT_METADATA_FILE, FooterHeader, FragmentField, FragmentFile, FragmentFolder, GenericTileDecoder, NameScheme,
    Part, Statistic, StatisticsRules, Sum, Tiles, ValueStatistics,
};
use tdb_rtree::DimRange;
use tdb_schema::{ArrayDefinition, ArraySchema, Attribute, Dimension, FieldRef, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{Datatype, Feature, FormatVersion, Limits, Scalar};

/// The numbers of comparisons. The test fails if a number is too low.
#[derive(Debug, Default)]
struct Compared {
    fragments: u32,
    /// Fragments of arrays that accept only newer fragments. Only cells are compared.
    newer: u32,
    data: u32,
    /// Data files with differences that a filter permits.
    free: u32,
    /// Data files that differ from older releases, because compressors and padding have changed.
    by_older: u32,
    /// The part of `by_older` in formats 1 to 6, where only the compression differs.
    by_first: u32,
    metadata: u32,
    /// Metadata with differences due to the lengths of such files, or due to known errors of the
    /// reference library.
    explained: u32,
    versions: BTreeSet<u32>,
}

#[test]
fn what_was_written_is_written_again() {
    let mut compared = Compared::default();
    let mut problems = Vec::new();
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        // Encryption is never reproducible. Among the fixtures by this library, only format 1 is
        // compared, because the reference library reads these fixtures as stored.
        if (fixture.entry().writer == fixtures::OURS && !fixture.name().starts_with("v1-"))
            || fixture.expected().encryption_key.is_some()
        {
            continue;
        }
        // Cells that were wrongly declared as globally ordered are written in order.
        if fixture.entry().recipe.starts_with("sparse-unsorted") {
            continue;
        }
        let array = ArrayOptions::new().between(TimeRange::ALL).open_on(fixture.array_storage()).unwrap();
        for fragment in array.fragments().unwrap() {
            // Arrays of formats below 7 receive fragments of the current format, unless another is
            // requested.
            let newer = (!fragment.schema().version().has(Feature::Validity)).then_some(FormatVersion::DEFAULT);
            for version in newer.into_iter().chain([fragment.footer().version()]) {
                let Some(ours) = rewritten(&fixture, fragment, version) else { continue };
                if version != fragment.footer().version() {
                    compared.newer += 1;
                    continue;
                }
                compared.fragments += 1;
                compared.versions.insert(version.number());
                compare(&fixture, fragment, &ours, &mut compared, &mut problems);
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(compared.versions.iter().copied().eq(1..=22), "{compared:?}");
    assert!(compared.fragments > 680 && compared.data > 4000 && compared.newer > 80, "{compared:?}");
    assert!(compared.by_first < 220, "{compared:?}");
    assert!(compared.free < 10 && compared.metadata > 300, "{compared:?}");
}

/// The reference library sums a row at once and stops at an overflow. If cells are given in another
/// order than stored, the reference library sums one by one and continues from the end of the
/// range.
#[test]
fn overflowing_sums_are_reproduced() {
    let side = |name, high: u8| Dimension::new(name, 0u8..=high).with_tile(high + 1);
    let schema = SchemaBuilder::dense().dimension(side("y", 1)).dimension(side("x", 2));
    let schema = schema.attribute(Attribute::new("a", Datatype::Int64)).build().unwrap();
    let definition = ArrayDefinition::new(schema).unwrap();
    let sum = |order: Order, values: [i64; 6]| {
        let storage = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&(storage.clone() as Arc<dyn Storage>), &definition).unwrap();
        let open = || ArrayOptions::new().open_on(storage.clone()).unwrap();
        open().write().order(order).cells([("a", &values)]).unwrap();
        let array = open();
        let fragment = &array.fragments().unwrap()[0];
        let file =
            metadata(fragment, &storage.read(&format!("{}/{FRAGMENT_METADATA_FILE}", fragment.folder())).unwrap());
        file.contents.fields[0].statistics.sums[0].cast_signed()
    };
    assert_eq!(sum(Order::RowMajor, [i64::MAX, 1, -10, 0, 0, 0]), i64::MAX);
    assert_eq!(sum(Order::ColMajor, [i64::MAX, 0, 1, 0, -10, 0]), i64::MAX - 10);
    assert_eq!(sum(Order::ColMajor, [7, 0, 1, 0, -10, 0]), -2);
}

/// Files of a fragment by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Writes the same cells into an empty array of the same schema, in this version. Returns `None`
/// for fragments that writers do not produce.
fn rewritten(fixture: &Fixture, fragment: &Fragment, version: FormatVersion) -> Option<Files> {
    let (schema, name, header) = (fragment.schema(), fragment.name(), fragment.footer().header());
    let is_plain = name.start() == name.end() && !header.has_timestamps && schema.version() == header.version;
    // The encoding of images is up to the writer. Sparse fragments of dense arrays are no longer
    // written.
    let is_image =
        |attribute: &Attribute| attribute.filters().filters.iter().any(|filter| matches!(filter, Filter::WebP(_)));
    if !is_plain || schema.attributes().iter().any(is_image) || header.dense != schema.is_dense() {
        return None;
    }
    // Isolate the fragment, whose commit may be consolidated with others.
    let theirs = Arc::new(MemoryStorage::new());
    let folder = format!("{}/", fragment.folder());
    copy(fixture, &theirs, |path| path.starts_with(&folder) || is_of_schema(path, &header.schema_name));
    theirs.create_folder("__commits").unwrap();
    if schema.version().has(Feature::CommitsFolder) {
        theirs.create_new(&format!("__commits/{name}.wrt"), &[]).unwrap();
    } else if schema.version().has(Feature::RootCommits) {
        theirs.create_new(&format!("{name}.ok"), &[]).unwrap();
    }
    let array = ArrayOptions::new().between(TimeRange::ALL).open_on(theirs).unwrap();
    assert_eq!(array.fragments().unwrap().len(), 1, "{}", fixture.name());
    let ours = Arc::new(MemoryStorage::new());
    copy(fixture, &ours, |path| is_of_schema(path, &header.schema_name));
    for folder in ["__fragments", "__commits"] {
        ours.create_folder(folder).unwrap();
    }
    let options = ArrayOptions::new().between(TimeRange::ALL);
    write(&array, &options.open_on(ours.clone()).unwrap(), version);
    let written = options.open_on(ours.clone()).unwrap();
    assert_eq!(cells(&written), cells(&array), "{}", fixture.name());
    assert_eq!(written.fragments().unwrap()[0].footer().version(), version, "{}", fixture.name());
    let folder = written.fragments().unwrap()[0].folder().to_owned();
    let names = ours.list(&folder).unwrap().into_iter().map(|entry| entry.name);
    let files = names.map(|name| (name.clone(), ours.read(&format!("{folder}/{name}")).unwrap()));
    Some(files.collect())
}

fn is_of_schema(path: &str, name: &str) -> bool {
    path == "__array_schema.tdb"
        || path.starts_with("__schema/__enumerations/")
        || (path.starts_with("__schema/") && path.ends_with(name))
}

fn copy(fixture: &Fixture, to: &MemoryStorage, wanted: impl Fn(&str) -> bool) {
    for path in fixture.array_files().filter(|path| wanted(path)) {
        to.insert(path, fixture.read(path)).unwrap();
    }
}

/// Writes all cells of an array with one fragment into another array.
fn write(from: &Array, to: &Array, version: FormatVersion) {
    let default =
        if to.schema().version().has(Feature::Validity) { to.schema().version() } else { FormatVersion::DEFAULT };
    let write = to.write();
    // Leave the default version implicit.
    let write = if version == default { write } else { write.version(version) };
    let mut write = write.ids(WriteIds::new().at(from.fragments().unwrap()[0].name().start()).seeded(1)).any_utf8();
    for (dimension, range) in ranges(from) {
        write = write.range(&dimension, range).unwrap();
    }
    assert_eq!(write.cells(&cells(from)).unwrap().fragments.len(), 1);
}

/// Returns all cells of an array with one fragment.
fn cells(array: &Array) -> Batch {
    let (schema, mut query) = (array.schema(), array.read());
    for (dimension, range) in ranges(array) {
        query = query.range(&dimension, range).unwrap();
    }
    let dimensions = if schema.is_dense() { &[] } else { schema.dimensions() };
    let names: Vec<&str> =
        dimensions.iter().map(Dimension::name).chain(schema.attributes().iter().map(Attribute::name)).collect();
    let order = if schema.is_dense() { Order::RowMajor } else { Order::Global };
    let batches = query.select(names).unwrap().order(order).batches().unwrap();
    let mut batches: Vec<_> = batches.collect::<Result<_, _>>().unwrap();
    assert_eq!(batches.len(), 1);
    batches.remove(0)
}

/// Returns the domain of the only fragment of a dense array.
fn ranges(array: &Array) -> Vec<(String, RangeInclusive<Scalar>)> {
    let domain = array.fragments().unwrap()[0].non_empty_domain().filter(|_| array.schema().is_dense());
    let ranges = domain.into_iter().flat_map(|domain| array.schema().dimensions().iter().zip(&domain.0));
    let along = ranges.map(|(dimension, range)| {
        let &DimRange::Fixed { lo, hi } = range else { panic!("{range:?}") };
        let scalar = |key| Scalar::from_key(dimension.physical(), key);
        (dimension.name().to_owned(), scalar(lo)..=scalar(hi))
    });
    along.collect()
}

fn compare(fixture: &Fixture, fragment: &Fragment, ours: &Files, compared: &mut Compared, problems: &mut Vec<String>) {
    let prefix = format!("{}/", fragment.folder());
    let theirs = fixture.array_files().filter_map(|path| Some((path.strip_prefix(&prefix)?.to_owned(), path)));
    let theirs: Files = theirs.map(|(name, path)| (name, fixture.read(path))).collect();
    let context = format!("{} {}", fixture.name(), fragment.name());
    if !theirs.keys().eq(ours.keys()) {
        problems.push(format!("{context}: found {:?}, expected {:?}", ours.keys(), theirs.keys()));
        return;
    }
    for (name, bytes) in theirs.iter().filter(|(name, _)| *name != FRAGMENT_METADATA_FILE) {
        if *bytes == ours[name] {
            compared.data += 1;
        } else if fixture.entry().writer != fixtures::NEWEST {
            compared.by_older += 1;
            compared.by_first += u32::from(!fragment.version().has(Feature::Validity));
        } else if leaves_room(fragment, name) {
            compared.free += 1;
        } else {
            problems.push(format!("{context}: {name}"));
        }
    }
    let [theirs_bytes, ours_bytes] = [&theirs, ours];
    let [theirs, ours] = [&theirs, ours].map(|files| metadata(fragment, &files[FRAGMENT_METADATA_FILE]));
    // The newest release cuts some chunks differently than releases in between, and so does this
    // library.
    let is_cut_alike = |name: &&String| *name != FRAGMENT_METADATA_FILE && !fragment.version().has(Feature::Validity);
    for name in theirs_bytes.keys().filter(is_cut_alike) {
        let [a, b] = [(&theirs, theirs_bytes), (&ours, ours_bytes)]
            .map(|(file, files)| chunks(fragment, file, name, &files[name]));
        if a != b {
            problems.push(format!("{context}: chunks of {name}: found {b:?}, expected {a:?}"));
        }
    }
    if theirs.footer.header() == ours.footer.header() && theirs.contents == ours.contents {
        compared.metadata += 1;
        return;
    }
    match difference(fragment.schema(), &theirs, &ours) {
        None => compared.explained += 1,
        Some(what) => problems.push(format!("{context}: {what}")),
    }
}

/// Returns the unfiltered bytes of each chunk of each tile of a data file.
fn chunks(fragment: &Fragment, file: &FragmentFile, name: &str, bytes: &[u8]) -> Vec<Vec<u32>> {
    let (schema, scheme) = (fragment.schema(), NameScheme::of(fragment.version()));
    let slots = *file.footer.slots();
    let mut parts = slots.iter().flat_map(|field| Part::ALL.map(|part| (field, part)));
    let (field, part) =
        parts.find(|(field, part)| scheme.data_file(schema, *field, *part).is_ok_and(|own| own == name)).unwrap();
    let offsets = file.contents.fields[slots.slot(field).unwrap()].offsets(part);
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let tiles = offsets.starts().iter().map(|start| {
        let mut at = usize::try_from(*start).unwrap() + 8;
        let count = number(at - 8);
        let chunk = |_| {
            let [unfiltered, filtered, metadata] = [0, 4, 8].map(|place| number(at + place));
            at += 12 + (filtered + metadata) as usize;
            unfiltered
        };
        (0..count).map(chunk).collect()
    });
    tiles.collect()
}

/// `true` if a filter of a data file leaves some bytes unspecified. The matches that gzip and LZ4
/// find are up to the encoder. Bit-width reduction writes half of each window's minimum from
/// uninitialized memory. The reference library also writes uninitialized memory in tiles that
/// extend beyond the datatype.
fn leaves_room(fragment: &Fragment, file: &str) -> bool {
    if has_tiles_beyond(fragment) {
        return true;
    }
    let is_free =
        |filter: &Filter| matches!(filter, Filter::Gzip { .. } | Filter::Lz4 { .. } | Filter::BitWidthReduction { .. });
    filters(fragment, file).iter().any(is_free)
}

/// `true` if tiles of the fragment extend beyond the datatype.
fn has_tiles_beyond(fragment: &Fragment) -> bool {
    let Tiles::Dense(grid) = fragment.footer().tiles() else { return false };
    let mut dimensions = fragment.schema().dimensions().iter().zip(grid.dimensions());
    dimensions.any(|(dimension, along)| {
        let last = dimension.tile_range(along.first + along.count - 1);
        last.is_some_and(|(first, last)| last - first + 1 < along.extent)
    })
}

/// Returns the filters of a data file.
fn filters(fragment: &Fragment, file: &str) -> Vec<Filter> {
    let (schema, scheme) = (fragment.schema(), NameScheme::of(fragment.version()));
    let fields = fragment.footer().slots().iter().flat_map(|field| Part::ALL.map(|part| (field, part)));
    let mut of_that_name =
        fields.filter(|(field, part)| scheme.data_file(schema, *field, *part).is_ok_and(|name| name == file));
    let (field, part) = of_that_name.next().unwrap();
    let field = match field {
        FragmentField::Attribute(index) => FieldRef::Attribute(index),
        FragmentField::Dimension(index) => FieldRef::Dimension(index),
        other => panic!("{other}"),
    };
    let filters = match part {
        Part::Validity => Cow::Borrowed(schema.validity_filters()),
        Part::Fixed if schema.field_type(field).unwrap().is_var() => Cow::Borrowed(schema.offsets_filters()),
        _ => schema.filters_of(field),
    };
    filters.filters.clone()
}

fn metadata(fragment: &Fragment, bytes: &[u8]) -> FragmentFile {
    let schema = fragment.schema();
    let folder = FragmentFolder { version: fragment.version(), has_coordinates: !schema.is_dense() };
    FragmentFile::parse(bytes, folder, schema, &mut GenericTileDecoder::new(Limits::default()), None).unwrap()
}

/// Returns a difference that neither lengths of filtered tiles nor unreliable statistics explain.
fn difference(schema: &ArraySchema, theirs: &FragmentFile, ours: &FragmentFile) -> Option<String> {
    let footer = &theirs.footer;
    let header: fn(&FragmentFile) -> &FooterHeader = |file| file.footer.header();
    if header(theirs) != header(ours) || theirs.contents.rtree != ours.contents.rtree {
        return Some(format!("found {:?}, expected {:?}", header(ours), header(theirs)));
    }
    if theirs.contents.bounding_coordinates != ours.contents.bounding_coordinates {
        return Some("first and last coordinates of tiles differ".to_owned());
    }
    for (slot, field) in footer.slots().iter().enumerate() {
        let rules = StatisticsRules::new(footer, schema, field).unwrap();
        let [a, b] = [theirs, ours].map(|file| &file.contents.fields[slot]);
        if a.tile_var_sizes != b.tile_var_sizes {
            return Some(format!("sizes of values of {field} differ"));
        }
        for tile in 0..footer.tile_count() {
            let [a, b] = [a, b].map(|field| field.statistics.tile(tile, footer.tiles(), &rules));
            if let Some(what) = other_statistic(&a, &b) {
                return Some(format!("{what} of tile {tile} of {field}: found {b:?}, expected {a:?}"));
            }
        }
        let totals = [theirs, ours].map(|file| file.contents.fragment_statistics.0.get(slot));
        if let [Some(a), Some(b)] = totals {
            let [a, b] = [a, b].map(|totals| totals.judge(footer.tiles(), &rules));
            if let Some(what) = other_statistic(&a, &b) {
                return Some(format!("{what} of {field}: found {b:?}, expected {a:?}"));
            }
        }
    }
    None
}

/// Returns the first reliable statistic that differs.
fn other_statistic(theirs: &ValueStatistics<'_>, ours: &ValueStatistics<'_>) -> Option<&'static str> {
    fn differs<T: PartialEq + Copy>(theirs: Statistic<T>, ours: Statistic<T>) -> bool {
        theirs.trusted().is_some() && theirs.stored() != ours.stored()
    }
    let values = [
        ("minimum", differs(theirs.min, ours.min)),
        ("maximum", differs(theirs.max, ours.max)),
        ("sum", differs(theirs.sum, ours.sum) && !are_nan(theirs.sum, ours.sum)),
        ("null count", differs(theirs.null_count, ours.null_count)),
    ];
    values.into_iter().find_map(|(what, differs)| differs.then_some(what))
}

/// The compiler determines which of many NaNs a sum is.
fn are_nan(a: Statistic<Sum>, b: Statistic<Sum>) -> bool {
    [a, b].iter().all(|sum| matches!(sum.stored(), Some(Sum::F64(sum)) if sum.is_nan()))
}
