//! The cells of every fixture, written by this library into arrays of the same format version. They
//! read as the reference library reads the fixtures.

use std::collections::BTreeSet;
use std::sync::Arc;

use tdb_array::{
    Array, ArrayError, ArrayOptions, Batch, Coordinate, CreateOptions, Group, GroupOptions, Metadata, MetadataValue,
    MetadataWriter, Order, WriteIds,
};
use tdb_condition::Condition;
use tdb_filters::{EncryptionKey, Filter, WebPFormat, WebPOptions};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArrayDefinition, Attribute, SchemaBuilder, SchemaEvolution};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{Datatype, FormatVersion, Scalar};

use crate::arrays::with_key;
use crate::queries::features::{self, of_versions};
use crate::queries::{check, is_comparable};

const BUDGET: usize = 64 << 20;

/// Maximum mean squared error of lossy images. The images of the fixtures are noise, edges and
/// slopes.
const MOST_LOSS: f64 = 200.0;

/// An array written by this library, equivalent to a fixture.
struct Copy {
    fixture: Fixture,
    storage: Arc<dyn Storage>,
}

impl Copy {
    /// Creates an array with the fixture's schema, without cells.
    fn empty(fixture: &Fixture) -> Self {
        Self::make(fixture, &open(fixture).definition().unwrap())
    }

    /// Like [`empty`](Self::empty), in another format version.
    fn empty_at(fixture: &Fixture, version: FormatVersion) -> Self {
        let old = open(fixture).definition().unwrap();
        let schema = SchemaBuilder::from(old.schema().clone()).version(version).build().unwrap();
        let mut definition = ArrayDefinition::new(schema).unwrap();
        for enumeration in old.enumerations() {
            definition = definition.with_enumeration(enumeration.clone()).unwrap();
        }
        Self::make(fixture, &definition)
    }

    fn make(fixture: &Fixture, definition: &ArrayDefinition) -> Self {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let options = CreateOptions::new().key(fixture.expected().key().map(EncryptionKey::new));
        options.create_on(&storage, definition).unwrap();
        Self { fixture: fixture.clone(), storage }
    }

    /// Writes the cells of the fixture in several overlapping fragments.
    fn filled(self) -> Self {
        self.fill().unwrap_or_else(|error| panic!("{}: {error}", self.fixture.name()));
        self
    }

    /// The fixture itself, with all cells written once more by this library.
    fn appended(fixture: &Fixture) -> Self {
        Self { fixture: fixture.clone(), storage: fixture.array_storage() }.filled()
    }

    fn open(&self, options: ArrayOptions) -> Result<Array, ArrayError> {
        with_key(options, &self.fixture).open_on(Arc::clone(&self.storage))
    }

    fn array(&self) -> Array {
        self.open(ArrayOptions::new()).unwrap()
    }

    /// Writes the fixture's cells and the values of its labels.
    fn fill(&self) -> Result<(), ArrayError> {
        let (from, to) = (open(&self.fixture), self.array());
        fill(&from, &to)?;
        for label in from.schema().labels() {
            let (from, to) = (from.label(&label.name)?, to.label(&label.name)?);
            fill(&from.array().clone().into(), &to.array().clone().into())?;
        }
        Ok(())
    }

    /// Checks every query of the fixture.
    fn check(&self) {
        for query in self.fixture.expected().queries.iter().filter(|query| is_comparable(query)) {
            if query.timestamps.is_some() {
                continue; // the copy has other timestamps
            }
            let checked = check(&|options| self.open(options), query, BUDGET, 2);
            checked.unwrap_or_else(|why| panic!("{}, {}: {why}", self.fixture.name(), query.name));
        }
    }
}

fn open(fixture: &Fixture) -> Array {
    with_key(ArrayOptions::new(), fixture).open_on(fixture.array_storage()).unwrap()
}

/// Writes the cells of an array into another, in several fragments. The fragments overlap if this
/// does not change the result.
fn fill(from: &Array, to: &Array) -> Result<(), ArrayError> {
    if from.schema().is_dense() { fill_dense(from, to) } else { fill_sparse(from, to) }
}

/// Writes all written cells, then the later half along the first dimension once more.
fn fill_dense(from: &Array, to: &Array) -> Result<(), ArrayError> {
    let Some(domain) = from.non_empty_domain().unwrap() else { return Ok(()) };
    let schema = from.schema();
    for halves in [1, 2] {
        let (mut read, mut write) = (from.read().order(Order::RowMajor).budget(usize::MAX), to.write());
        for (index, (dimension, range)) in schema.dimensions().iter().zip(&domain.0).enumerate() {
            let DimRange::Fixed { lo, hi } = *range else { unreachable!("dense") };
            let lo = if index == 0 && halves == 2 { lo + (hi - lo) / 2 } else { lo };
            let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.datatype().physical(), key));
            read = read.range(dimension.name(), coordinate(lo)..=coordinate(hi))?;
            write = write.range(dimension.name(), coordinate(lo)..=coordinate(hi))?;
        }
        let names: Vec<&str> = schema.attributes().iter().map(Attribute::name).collect();
        for batch in read.select(names)?.batches()? {
            write.clone().any_utf8().cells(&batch?)?;
        }
    }
    Ok(())
}

/// Writes several fragments, and repeats the first at the end if this adds no cells.
fn fill_sparse(from: &Array, to: &Array) -> Result<(), ArrayError> {
    let all = sparse_batches(from, BUDGET);
    let bytes: usize = all.iter().flat_map(Batch::columns).map(|column| column.bytes().len()).sum();
    let batches = sparse_batches(from, bytes / 3 + 1);
    let again = batches.iter().take(usize::from(!from.schema().allows_duplicates()));
    for batch in batches.iter().chain(again) {
        to.write().any_utf8().cells(batch)?;
    }
    Ok(())
}

fn sparse_batches(array: &Array, budget: usize) -> Vec<Batch> {
    let query = array.read().order(Order::Unordered).budget(budget);
    let schema = array.schema();
    let names = schema.dimensions().iter().map(tdb_schema::Dimension::name);
    let names: Vec<&str> = names.chain(schema.attributes().iter().map(Attribute::name)).collect();
    query.select(names).unwrap().batches().unwrap().map(Result::unwrap).collect()
}

/// Writes all fixtures anew and reads them.
fn write_these(fixtures: Vec<Fixture>) {
    for fixture in fixtures {
        let version = open(&fixture).schema().version();
        compare(&Copy::empty(&fixture).filled(), version);
        // Versions that no release writes, with all fixtures of the neighboring versions.
        let beside = match version.number() {
            2 => FormatVersion::new(1).unwrap(),
            22 => FormatVersion::MAX,
            _ => continue,
        };
        compare(&Copy::empty_at(&fixture, beside).filled(), beside);
    }
}

fn compare(copy: &Copy, version: FormatVersion) {
    let (name, array) = (copy.fixture.name(), copy.array());
    assert_eq!(array.schema().version(), version, "{name}");
    assert_eq!(
        array.fragments().unwrap().is_empty(),
        open(&copy.fixture).non_empty_domain().unwrap().is_none(),
        "{name}"
    );
    let written = if version.number() < 7 { FormatVersion::DEFAULT } else { version };
    for fragment in array.fragments().unwrap() {
        assert_eq!(fragment.footer().version(), written, "{name}");
    }
    copy.check();
}

#[test]
fn features() {
    features::WRITTEN.iter().for_each(|feature| write_these(feature.fixtures()));
}

/// Nullable fields in arrays of any kind.
#[test]
fn nullable_cells() {
    let nullable = |fixture: &Fixture| {
        let array = open(fixture);
        array.schema().attributes().iter().any(Attribute::is_nullable) && !loses_pixels(fixture)
    };
    write_these(of_versions(&[7..=23], nullable));
}

/// Lossy images are close to the cells of the fixture, which are lossy themselves. All other cells
/// are equal.
#[test]
fn images() {
    write_these(features::IMAGES.fixtures().into_iter().filter(|fixture| !loses_pixels(fixture)).collect());
    for fixture in of_versions(&[17..=17, 19..=19, 21..=22], loses_pixels) {
        check_pixels(&Copy::empty(&fixture).filled());
        check_pixels(&Copy::appended(&fixture));
    }
}

fn check_pixels(copy: &Copy) {
    let (from, to) = (open(&copy.fixture), copy.array());
    let name = copy.fixture.name();
    for attribute in from.schema().attributes() {
        let [given, found] = [&from, &to].map(|array| {
            let query = array.read().order(Order::RowMajor).budget(usize::MAX).select([attribute.name()]).unwrap();
            let batches: Vec<Batch> = query.batches().unwrap().map(Result::unwrap).collect();
            batches.iter().flat_map(|batch| batch.columns()[0].bytes().to_vec()).collect::<Vec<u8>>()
        });
        assert_eq!(given.len(), found.len(), "{name}");
        let depth = attribute.filters().filters.iter().find_map(|filter| match filter {
            Filter::WebP(WebPOptions { lossless: false, format: WebPFormat::Rgba | WebPFormat::Bgra, .. }) => Some(4),
            Filter::WebP(WebPOptions { lossless: false, .. }) => Some(3),
            _ => None,
        });
        let Some(depth) = depth else {
            assert_eq!(given, found, "{name}");
            continue;
        };
        let errors = given.iter().zip(&found).map(|(given, found)| f64::from(given.abs_diff(*found)));
        let (mut sum, mut colours) = (0.0, 0.0);
        for (index, error) in errors.enumerate() {
            if index % depth == 3 {
                assert!(error == 0.0, "{name}: another alpha at {index}");
            } else {
                sum += error * error;
                colours += 1.0;
            }
        }
        let mean = sum / colours;
        assert!(mean < MOST_LOSS, "{name}: a mean squared error of {mean}");
    }
}

fn loses_pixels(fixture: &Fixture) -> bool {
    let schema = open(fixture).schema().clone();
    let filters = schema.attributes().iter().flat_map(|attribute| attribute.filters().filters.clone());
    filters.into_iter().any(|filter| matches!(filter, Filter::WebP(options) if !options.lossless))
}

/// Fragments by this library in arrays of every release.
#[test]
fn later_releases() {
    let mut seen = 0;
    for fixture in of_versions(&[1..=23], |fixture| !loses_pixels(fixture)) {
        let array = open(&fixture);
        // A repeated cell would become an additional cell.
        if array.schema().allows_duplicates() {
            continue;
        }
        let before = array.fragments().unwrap().len();
        let copy = Copy::appended(&fixture);
        assert!(
            copy.array().fragments().unwrap().len() > before || array.non_empty_domain().unwrap().is_none(),
            "{}",
            fixture.name()
        );
        copy.check();
        seen += 1;
    }
    assert!(seen > 300, "{seen} arrays");
}

/// Adds an attribute and drops another, with cells written before and after.
#[test]
fn evolved_schemas() {
    for fixture in features::SPARSE_CELLS.fixtures() {
        let copy = Copy::empty(&fixture).filled();
        let before = copy.array();
        let dropped = before.schema().attributes()[0].name().to_owned();
        let added = Attribute::new("added", Datatype::Int32);
        let evolution = SchemaEvolution::new().add_attribute(added).drop_attribute(&dropped);
        before.evolve(&evolution, &WriteIds::new()).unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
        let after = copy.array();
        let version = after.schema().version();
        let kept = version == before.schema().version();
        assert!(kept || (before.schema().version().number() < 10 && version == FormatVersion::DEFAULT), "{version}");
        assert!(after.schema().field(&dropped).is_none());
        let batches = sparse_batches(&after, BUDGET);
        let cells: usize = batches.iter().map(Batch::len).sum();
        assert_eq!(cells, sparse_batches(&before, BUDGET).iter().map(Batch::len).sum::<usize>());
        let fill =
            |batch: &Batch| batch.column("added").unwrap().values::<i32>().unwrap().iter().all(|v| *v == i32::MIN);
        assert!(batches.iter().all(fill), "{}", fixture.name());
    }
}

/// In every format: the schema is upgraded to a format with current domains.
#[test]
fn arrays_without_a_current_domain_get_one() {
    let mut seen = 0;
    for fixture in features::SPARSE_CELLS.fixtures() {
        let copy = Copy::empty(&fixture).filled();
        let before = copy.array();
        let dimensions = before.schema().dimensions().iter();
        let whole = dimensions.map(|dimension| dimension.domain_keys().map(|(lo, hi)| DimRange::Fixed { lo, hi }));
        let Some(whole) = whole.collect::<Option<Vec<_>>>().filter(|_| before.schema().current_domain().is_none())
        else {
            continue;
        };
        let evolution = SchemaEvolution::new().expand_current_domain(NdRange(whole.clone()));
        before.evolve(&evolution, &WriteIds::new()).unwrap_or_else(|error| panic!("{}: {error}", fixture.name()));
        let after = copy.array();
        assert_eq!(after.schema().current_domain(), Some(&NdRange(whole)), "{}", fixture.name());
        assert!(after.schema().version().has(tdb_types::Feature::CurrentDomain), "{}", fixture.name());
        let cells = |array: &Array| sparse_batches(array, BUDGET).iter().map(Batch::len).sum::<usize>();
        assert_eq!(cells(&after), cells(&before), "{}", fixture.name());
        seen += 1;
    }
    assert!(seen > 10, "{seen} arrays");
}

/// Cells deleted by the value of an attribute, in arrays written by this library.
#[test]
fn deletes() {
    let mut seen = BTreeSet::new();
    for fixture in features::SPARSE_CELLS.fixtures() {
        let copy = Copy::empty(&fixture).filled();
        let array = copy.array();
        let number =
            array.schema().attributes().iter().find(|one| one.datatype() == Datatype::Int32 && !one.is_nullable());
        let Some(name) = number.map(|attribute| attribute.name().to_owned()) else { continue };
        let values = |array: &Array| {
            let batches = sparse_batches(array, BUDGET);
            let column = |batch: &Batch| batch.column(&name).unwrap().values::<i32>().unwrap().to_vec();
            batches.iter().flat_map(column).collect::<Vec<i32>>()
        };
        let before = values(&array);
        let mut sorted = before.clone();
        sorted.sort_unstable();
        let middle = sorted[sorted.len() / 2];
        let deleted = array.delete_cells(&Condition::field(&name).ge(middle), &WriteIds::new());
        if array.schema().version().number() < 16 {
            assert!(deleted.is_err(), "{}: a delete in format {}", fixture.name(), array.schema().version());
            continue;
        }
        deleted.unwrap();
        let kept: Vec<i32> = before.into_iter().filter(|value| *value < middle).collect();
        assert!(!kept.is_empty());
        assert_eq!(values(&copy.array()), kept, "{}", fixture.name());
        seen.insert(features::version(&fixture));
    }
    assert!(seen.iter().copied().eq(16..=23), "{seen:?}");
}

fn entries(metadata: &Metadata) -> Vec<(Vec<u8>, MetadataValue)> {
    metadata.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Writes all metadata of the fixtures anew, and deletes a key. Arrays from before metadata existed
/// get it in the form that release 2.30.0 writes.
#[test]
fn metadata_of_arrays() {
    let first = fixtures::named("v4-by-1.7.7-dense-metadata");
    let wanted = entries(open(&first).metadata().unwrap());
    for fixture in of_versions(&[1..=3], |fixture| features::version(fixture) < 4) {
        let copy = Copy::empty(&fixture);
        let root = |storage: &dyn Storage| {
            storage.list("").unwrap().into_iter().map(|entry| entry.name).collect::<BTreeSet<_>>()
        };
        assert!(!root(&*copy.storage).contains("__meta"), "{}", fixture.name());
        let writer = copy.array().write_metadata();
        let writer = wanted.iter().fold(writer, |writer, (key, value)| writer.put(key.clone(), value.clone()));
        writer.commit().unwrap();
        assert_eq!(entries(copy.array().metadata().unwrap()), wanted, "{}", fixture.name());
        let files = copy.storage.list("__meta").unwrap();
        let [file] = &files[..] else { panic!("{files:?}") };
        // Releases from 1.7 on, with format 4, read it.
        let header = copy.storage.read(&format!("__meta/{}", file.name)).unwrap();
        assert_eq!(header[..4], [4, 0, 0, 0], "{}", fixture.name());
        copy.array().write_metadata().delete(wanted[0].0.clone()).commit().unwrap();
        assert_eq!(entries(copy.array().metadata().unwrap()), wanted[1..], "{}", fixture.name());
    }
    for fixture in of_versions(&[4..=5, 8..=8, 10..=10, 12..=12, 19..=19, 21..=23], |fixture| {
        !fixture.expected().metadata.is_empty()
    }) {
        let copy = Copy::empty(&fixture);
        let wanted = entries(open(&fixture).metadata().unwrap());
        let array = copy.array();
        let put =
            |writer: MetadataWriter, (key, value): &(Vec<u8>, MetadataValue)| writer.put(key.clone(), value.clone());
        let extra = (b"extra".to_vec(), wanted[0].1.clone());
        wanted.iter().chain([&extra]).fold(array.write_metadata(), put).commit().unwrap();
        copy.array().write_metadata().delete("extra").commit().unwrap();
        assert_eq!(entries(copy.array().metadata().unwrap()), wanted, "{}", fixture.name());
    }
}

/// Removes and adds members in the groups of every release, and adds metadata.
#[test]
fn groups() {
    let groups = fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases());
    let mut versions = BTreeSet::new();
    for fixture in groups.filter(|fixture| !fixture.expected_group().members.is_empty()) {
        let storage: Arc<dyn Storage> = fixture.group_storage();
        let key = fixture.expected_group().key().map(EncryptionKey::new);
        let open = || GroupOptions::new().key(key.clone()).open_on(Arc::clone(&storage)).unwrap();
        let members = |group: &Group| {
            let member = |member: &tdb_array::Member| (member.name.clone(), member.uri.clone());
            group.members().iter().map(member).collect::<BTreeSet<_>>()
        };
        let before = members(&open());
        let (name, uri) = before.first().unwrap().clone();
        let gone = name.clone().unwrap_or_else(|| uri.clone());
        open().change().remove(gone).commit().unwrap();
        let mut expected = before.clone();
        expected.remove(&(name, uri.clone()));
        assert_eq!(members(&open()), expected, "{}", fixture.name());
        open().change().add(&uri, true, Some("back again")).commit().unwrap();
        expected.insert((Some("back again".to_owned()), uri));
        assert_eq!(members(&open()), expected, "{}", fixture.name());
        let wanted = entries(open().metadata().unwrap());
        open().write_metadata().put("more", wanted[0].1.clone()).commit().unwrap();
        assert_eq!(open().metadata().unwrap().entries().len(), wanted.len() + 1);
        versions.insert(features::version(&fixture));
    }
    assert!(versions.iter().eq(&[12, 16, 19, 21, 22]), "{versions:?}");
}
