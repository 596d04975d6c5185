//! The types for JavaScript.
//!
//! Each call returns a JSON object with a single key: `done` with the result, `need` with the
//! missing folders and ranges, or `error`. After `need`, JavaScript fetches the parts and repeats
//! the call. `need` also has the number of windows read so far: two windows may need the same
//! ranges, but a call that needs the same parts for the same window would never end.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use arrow_ipc::writer::StreamWriter;
use serde_json::{Map, Value, json};
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_storage::{Entry, StorageError};
use tdb_array::tdb_types::Limits;
use tdb_array::{
    Array, ArrayError, ArrayOptions, Batch, Clock, Column, Environment, Group, GroupOptions, Listing, Options,
    TimeRange,
};
use tdb_arrow::Conversion;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cursor::{Reading, Step, columns, engine_budget, most_ahead, requested_bytes, want};
use crate::describe;
use crate::failure::{Failure, Result};
use crate::files::{Files, Needs};
use crate::query::{Spec, aggregates};
use crate::value::{cell, metadata, sides};

/// The default budget of a read, in bytes.
const BUDGET: usize = 256 << 20;

fn need(needs: &Needs, windows: usize) -> String {
    let ranges: Vec<_> = needs.ranges.iter().map(|(path, range)| json!([path, range.start, range.end])).collect();
    json!({ "need": { "folders": needs.folders, "ranges": ranges, "windows": windows } }).to_string()
}

fn done(outcome: Result<Value>) -> String {
    match outcome {
        Ok(value) => json!({ "done": value }).to_string(),
        Err(failure) => json!({ "error": failure.to_json() }).to_string(),
    }
}

/// Runs a call of the engine.
fn answer(files: &Files, call: impl FnOnce() -> Result<Value>) -> String {
    let outcome = call();
    let needs = files.take_needs();
    // A failed prefetch does not fail the call, but costs a round trip for each part later.
    if needs.is_empty() { done(outcome) } else { need(&needs, 0) }
}

fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(Failure::usage)
}

/// The time of opening, passed by JavaScript.
#[derive(Debug)]
struct Opened(u64);

impl Clock for Opened {
    fn now(&self) -> io::Result<u64> {
        Ok(self.0)
    }
}

/// Parses how an array or group is opened.
fn options<T>(given: &Value, key: Option<&[u8]>, now: f64) -> Result<Options<T>> {
    let key = key.map(|bytes| {
        let known = <[u8; 32]>::try_from(bytes);
        known
            .map(EncryptionKey::new)
            .map_err(|_| Failure::usage(format!("the key has {} bytes; expected 32 for AES-256", bytes.len())))
    });
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)] // milliseconds since 1970
    let environment = Environment::system().with_clock(Opened(now as u64));
    let mut options = Options::<T>::new().threads(1).key(key.transpose()?).environment(environment).with_footers();
    // A larger tile cannot be held together with its stored bytes.
    options = options.limits(Limits::default().with_tile_bytes(1 << 30).with_generic_tile_bytes(256 << 20));
    let time = |value: &Value| {
        let wrong = || Failure::usage(format!("{value} is not a time; expected milliseconds since 1970"));
        value.as_u64().ok_or_else(wrong)
    };
    match (&given["at"], given["between"].as_array().map(Vec::as_slice)) {
        (Value::Null, None) => {}
        (Value::Null, Some([start, end])) => {
            options = options.between(TimeRange { start: time(start)?, end: time(end)? });
        }
        (at, None) => options = options.at(time(at)?),
        _ => return Err(Failure::usage("give either `at`, or `between` with two times")),
    }
    Ok(options)
}

/// A source, with the fetched parts.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Session {
    files: Files,
}

#[wasm_bindgen]
impl Session {
    /// Creates a session. `name` precedes the paths in messages.
    #[must_use]
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Self {
        Self { files: Files::new(name) }
    }

    /// Supplies a listing: a JSON array of names with a size, or `null` for a folder. Without a
    /// listing, the folder does not exist.
    pub fn supply_folder(&self, folder: &str, entries: Option<String>) {
        let entries = entries.map(|text| {
            let listed = serde_json::from_str::<Vec<(String, Option<u64>)>>(&text).unwrap_or_default();
            let entry = |(name, size): (String, Option<u64>)| match size {
                Some(size) => Entry::file(name, size),
                None => Entry::folder(name),
            };
            listed.into_iter().map(entry).collect()
        });
        self.files.supply_folder(folder, entries);
    }

    /// Supplies bytes of a file for an operation.
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)] // an offset
    pub fn supply(&self, operation: u32, path: &str, start: f64, bytes: Vec<u8>) {
        self.files.supply(operation, path, start as u64, bytes);
    }

    /// Reports a listed file as missing.
    pub fn supply_gone(&self, path: &str) {
        self.files.supply_gone(path);
    }

    /// Frees the bytes of an operation.
    pub fn release(&self, operation: u32) {
        self.files.release(operation);
    }

    /// Returns `"array"`, `"group"` or `null`.
    #[must_use]
    pub fn kind(&self, path: &str) -> String {
        answer(&self.files, || {
            let root = match self.files.storage(path)?.list("") {
                Ok(root) => root,
                Err(StorageError::NotFound { .. } | StorageError::NotAFolder { .. }) => return Ok(Value::Null),
                Err(error) => return Err(error.into()),
            };
            let listing = Listing::of_root(root);
            Ok(match () {
                () if listing.is_array() => json!("array"),
                () if listing.is_group() => json!("group"),
                () => Value::Null,
            })
        })
    }
}

/// An array, before and after opening.
#[wasm_bindgen]
#[derive(Debug)]
pub struct OpenArray {
    files: Files,
    folder: String,
    options: Result<ArrayOptions>,
    budget: usize,
    array: Option<Array>,
}

#[wasm_bindgen]
impl OpenArray {
    /// Prepares to open the array in a folder of the session. `options` is JSON.
    #[must_use]
    #[wasm_bindgen(constructor)]
    #[allow(clippy::needless_pass_by_value)] // JavaScript passes bytes by value
    pub fn new(session: &Session, folder: &str, options: &str, key: Option<Vec<u8>>, now: f64) -> Self {
        let given = parsed(options).unwrap_or_default();
        let budget = given["budget"].as_u64().and_then(|budget| usize::try_from(budget).ok());
        Self {
            files: session.files.clone(),
            folder: folder.to_owned(),
            options: self::options(&given, key.as_deref(), now),
            budget: budget.unwrap_or(BUDGET).max(1 << 20),
            array: None,
        }
    }

    /// Opens the array, and returns its schema.
    pub fn open(&mut self) -> String {
        let Self { files, folder, options, array, .. } = self;
        answer(files, || {
            let options = options.as_ref().map_err(Clone::clone)?;
            let opened = options.open_on(files.storage(folder)?)?;
            let schema = describe::schema(opened.schema());
            *array = Some(opened);
            Ok(schema)
        })
    }

    fn call(&self, call: impl FnOnce(&Array) -> Result<Value>) -> String {
        answer(&self.files, || call(self.array.as_ref().ok_or_else(|| Failure::usage("the array is not open"))?))
    }

    /// Returns the fragments.
    #[must_use]
    pub fn fragments(&self) -> String {
        self.call(describe::fragments)
    }

    /// Returns the non-empty domain, or `null`.
    #[must_use]
    pub fn non_empty_domain(&self) -> String {
        self.call(|array| {
            let domain = array.non_empty_domain()?;
            Ok(domain.map_or(Value::Null, |domain| sides(array.schema(), &domain)))
        })
    }

    /// Returns the metadata.
    #[must_use]
    pub fn metadata(&self) -> String {
        self.call(|array| Ok(metadata(array.metadata()?)))
    }

    /// Returns the values of an enumeration.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> String {
        self.call(|array| describe::enumeration(array, name))
    }

    /// Returns the definition of the array in TOML.
    #[must_use]
    pub fn toml(&self) -> String {
        self.call(|array| {
            let text = tdb_schema_text::to_toml(&array.definition()?);
            Ok(json!(text.map_err(Failure::usage)?))
        })
    }

    /// Returns the number of tiles, requests and bytes of a query, and the plan as text.
    #[must_use]
    pub fn plan(&self, query: &str) -> String {
        self.call(|array| {
            let spec = Spec::parse(array.schema(), &parsed(query)?)?;
            let plan = spec.query(array, engine_budget(self.budget), &Default::default())?.plan()?;
            let reads = plan.fragments.iter().flat_map(|fragment| &fragment.reads);
            let requests: u64 = reads
                .flat_map(|reads| tdb_array::tdb_storage::coalesce(&reads.ranges, crate::files::PROFILE.gap))
                .map(|range| (range.end - range.start).div_ceil(crate::files::PROFILE.largest))
                .sum();
            let text = plan.to_string();
            Ok(json!({ "requests": requests, "bytes": requested_bytes(&plan), "tiles": plan.tile_count(), "text": text }))
        })
    }

    /// Computes aggregates. Returns a list of rows.
    #[must_use]
    pub fn aggregate(&self, query: &str, list: &str, by: &str, operation: u32) -> String {
        let text = self.call(|array| {
            let spec = Spec::parse(array.schema(), &parsed(query)?)?;
            if spec.limit.is_some() || spec.offset > 0 {
                return Err(Failure::usage("an aggregate has no limit and no offset"));
            }
            let list = aggregates(&parsed(list)?)?;
            let by = parsed(by)?;
            let by: Vec<&str> = by.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let query = spec.query(array, engine_budget(self.budget), &Default::default())?;
            let batch = match by.as_slice() {
                [] => query.clone().aggregate(list).map(|found| found.batch().clone()),
                by => query.clone().group_by(by, list).and_then(|mut groups| {
                    let batches = groups.by_ref().collect::<Result<Vec<_>, ArrayError>>()?;
                    Ok(Batch::joined(batches).unwrap_or_else(|| groups.empty_batch()))
                }),
            };
            if batch.is_err() && self.files.has_needs() {
                self.want_all(&query)?;
            }
            Ok(rows(array, &batch?))
        });
        if !text.starts_with("{\"need\"") {
            self.files.release(operation);
        }
        text
    }

    /// Starts a read of cells. With `is_whole`, the result is a single table.
    #[must_use]
    pub fn read(&self, query: &str, operation: u32, is_whole: bool) -> Cursor {
        let reading = match &self.array {
            None => Err(Failure::usage("the array is not open")),
            Some(array) => parsed(query)
                .and_then(|query| Spec::parse(array.schema(), &query))
                .map(|spec| Reading::new(self.files.clone(), array.clone(), spec, self.budget, operation)),
        };
        let array = self.array.clone();
        Cursor {
            files: self.files.clone(),
            array,
            reading,
            budget: self.budget,
            is_whole,
            kept: Vec::new(),
            table: None,
        }
    }
}

impl OpenArray {
    /// Records all ranges of a scan larger than the engine's read-ahead. Otherwise the scan would
    /// restart after each part.
    fn want_all(&self, query: &tdb_array::Query) -> Result<()> {
        let plan = query.plan()?;
        let bytes = requested_bytes(&plan);
        if bytes <= most_ahead(self.budget) / 4 * 3 {
            return Ok(());
        }
        if bytes > self.budget as u64 {
            let budget = self.budget;
            // Without needs, the error ends the operation.
            self.files.take_needs();
            return Err(Failure::memory(format!("the aggregate reads {bytes} bytes; the budget is {budget} bytes")));
        }
        want(&self.files, &self.folder, &plan);
        Ok(())
    }
}

/// Converts the rows of a small batch.
fn rows(array: &Array, batch: &Batch) -> Value {
    let schema = array.schema();
    let enumeration = |column: &Column| {
        let attribute = schema.attributes().iter().find(|attribute| attribute.name() == column.name())?;
        array.enumeration(attribute.enumeration()?).ok()
    };
    let enumerations: Vec<_> = batch.columns().iter().map(enumeration).collect();
    let row = |row: usize| {
        let cells = batch.columns().iter().zip(&enumerations).map(|(column, enumeration)| {
            let value = match (column.cell(row), enumeration) {
                (None, _) => Value::Null,
                (Some(bytes), Some(values)) => {
                    let scalar = tdb_array::tdb_types::Scalar::from_le_bytes(column.datatype().physical(), bytes);
                    let place = scalar.and_then(|scalar| usize::try_from(scalar.to_integer()?).ok());
                    let value = place.and_then(|place| values.value(place));
                    value.map_or(Value::Null, |value| cell(values.datatype(), values.cell_val_num(), value))
                }
                (Some(bytes), None) => cell(column.datatype(), column.cell_val_num(), bytes),
            };
            (column.name().to_owned(), value)
        });
        Value::Object(cells.collect::<Map<_, _>>())
    };
    (0..batch.len()).map(row).collect()
}

/// A read of cells.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Cursor {
    files: Files,
    array: Option<Array>,
    reading: Result<Reading>,
    budget: usize,
    is_whole: bool,
    kept: Vec<Batch>,
    table: Option<Table>,
}

#[wasm_bindgen]
impl Cursor {
    /// Continues to read. The result is the number of cells that [`take`](Self::take) returns, or
    /// `null` after the last table.
    pub fn step(&mut self) -> String {
        let outcome = self.next();
        let needs = self.files.take_needs();
        if matches!(outcome, Ok(None)) && !needs.is_empty() {
            return need(&needs, self.reading.as_ref().map_or(0, Reading::windows));
        }
        done(outcome.map(|step| step.unwrap_or(Value::Null)))
    }

    /// Takes the table of the last step.
    pub fn take(&mut self) -> Option<Table> {
        self.table.take()
    }
}

impl Cursor {
    /// Returns `None` if further bytes are needed.
    fn next(&mut self) -> Result<Option<Value>> {
        let reading = self.reading.as_mut().map_err(|failure| failure.clone())?;
        loop {
            let step = reading.step()?;
            let batch = match step {
                Step::Need => return Ok(None),
                Step::Batch(batch) if self.is_whole => {
                    self.kept.push(batch);
                    let held = self.kept.iter().map(Batch::memory).fold(0, usize::saturating_add);
                    if held > self.budget {
                        let budget = self.budget;
                        return Err(Failure::memory(format!("the result exceeds the budget of {budget} bytes")));
                    }
                    continue;
                }
                Step::Batch(batch) => batch,
                Step::End if self.is_whole => {
                    self.is_whole = false;
                    match Batch::joined(std::mem::take(&mut self.kept)).or_else(|| reading.empty()) {
                        Some(batch) => batch,
                        None => return Ok(Some(Value::Null)),
                    }
                }
                Step::End => return Ok(Some(Value::Null)),
            };
            let rows = batch.len();
            let (Some(array), Some(conversion)) = (&self.array, reading.conversion()) else { return Ok(None) };
            let shape = reading.shape().map(<[u64]>::to_vec);
            self.table = Some(Table { columns: columns(array, &batch), batch, conversion: Rc::clone(conversion) });
            return Ok(Some(json!({ "rows": rows, "shape": shape })));
        }
    }
}

/// Cells of a result.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Table {
    batch: Batch,
    columns: Value,
    conversion: Rc<Conversion>,
}

#[wasm_bindgen]
impl Table {
    /// Returns the number of cells.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.batch.len()
    }

    /// Describes the columns, as a JSON array.
    #[must_use]
    pub fn columns(&self) -> String {
        self.columns.to_string()
    }

    /// Returns the addresses and lengths in bytes of the values, of the offsets as 64-bit numbers of
    /// values, and of the validity with a bit per cell. Missing buffers have the address 0.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // addresses of 32 bits
    pub fn buffers(&self, column: usize) -> Vec<u32> {
        let Some(column) = self.batch.columns().get(column) else { return Vec::new() };
        let values = column.bytes();
        let offsets = column.offsets().map_or((0, 0), |offsets| (offsets.as_ptr() as usize, size_of_val(offsets)));
        let validity = column.validity().map_or((0, 0), |bits| (bits.as_ptr() as usize, bits.len()));
        [(values.as_ptr() as usize, values.len()), offsets, validity]
            .into_iter()
            .flat_map(|(address, len)| [address as u32, len as u32])
            .collect()
    }

    /// Returns the cells as an Arrow IPC stream.
    ///
    /// # Errors
    /// Arrow cannot hold a cell. The error is JSON.
    pub fn arrow(&self) -> std::result::Result<Vec<u8>, String> {
        self.stream().map_err(|failure| failure.to_json().to_string())
    }
}

impl Table {
    fn stream(&self) -> Result<Vec<u8>> {
        let batch = self.conversion.record_batch(self.batch.clone())?;
        let mut writer = StreamWriter::try_new(Vec::new(), self.conversion.schema()).map_err(Failure::usage)?;
        writer.write(&batch).map_err(Failure::usage)?;
        writer.into_inner().map_err(Failure::usage)
    }
}

/// A group, before and after opening.
#[wasm_bindgen]
#[derive(Debug)]
pub struct OpenGroup {
    files: Files,
    folder: String,
    options: Result<GroupOptions>,
    group: Option<Arc<Group>>,
}

#[wasm_bindgen]
impl OpenGroup {
    /// Prepares to open the group in a folder of the session. `options` is JSON.
    #[must_use]
    #[wasm_bindgen(constructor)]
    #[allow(clippy::needless_pass_by_value)] // JavaScript passes bytes by value
    pub fn new(session: &Session, folder: &str, options: &str, key: Option<Vec<u8>>, now: f64) -> Self {
        let given = parsed(options).unwrap_or_default();
        let options = self::options(&given, key.as_deref(), now);
        Self { files: session.files.clone(), folder: folder.to_owned(), options, group: None }
    }

    /// Opens the group, and returns its members and its metadata.
    pub fn open(&mut self) -> String {
        let Self { files, folder, options, group } = self;
        answer(files, || {
            let options = options.as_ref().map_err(Clone::clone)?;
            let opened = match group {
                Some(opened) => Arc::clone(opened),
                None => {
                    let opened = Arc::new(options.open_on(files.storage(folder)?)?);
                    *group = Some(Arc::clone(&opened));
                    opened
                }
            };
            describe::group(&opened)
        })
    }
}

#[cfg(test)]
mod tests {
    use tdb_array::tdb_filters::FilterPipeline;
    use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    use tdb_array::tdb_storage::{EntryKind, MemoryStorage, Storage};
    use tdb_array::tdb_types::Datatype;
    use tdb_array::{CreateOptions, WriteBatch};

    use super::*;

    /// Repeats a call until all parts are there. A call must not need the same parts again.
    fn complete(session: &Session, storage: &dyn Storage, operation: u32, mut call: impl FnMut() -> String) -> Value {
        let mut before = String::new();
        loop {
            let text = call();
            let outcome: Value = serde_json::from_str(&text).unwrap();
            let Some(need) = outcome.get("need") else { return outcome };
            assert_ne!(text, before);
            for folder in need["folders"].as_array().unwrap() {
                let folder = folder.as_str().unwrap();
                let entry = |entry: Entry| json!([entry.name, (entry.kind == EntryKind::File).then_some(entry.size)]);
                let entries = storage.list(folder).ok();
                let entries = entries.map(|entries| entries.into_iter().map(entry).collect::<Value>().to_string());
                session.supply_folder(folder, entries);
            }
            for range in need["ranges"].as_array().unwrap() {
                let (path, start, end) = (range[0].as_str().unwrap(), range[1].as_u64().unwrap(), range[2].as_u64());
                let mut bytes = vec![0; usize::try_from(end.unwrap() - start).unwrap()];
                storage.open(path).unwrap().read_into(start, &mut bytes).unwrap();
                session.supply(operation, path, start as f64, bytes);
            }
            before = text;
        }
    }

    /// The cells are spread over the domain, so that all windows of the read need the same tiles.
    #[test]
    fn windows_may_need_the_same_ranges() {
        let cells = 300_000u64;
        let schema = SchemaBuilder::sparse()
            .coords_filters(FilterPipeline::default())
            .dimension(Dimension::new("x", 0u64..=999_999).with_tile(1_000_000u64))
            .dimension(Dimension::new("y", 0u64..=999_999).with_tile(1_000_000u64))
            .attribute(Attribute::new("a", Datatype::UInt64))
            .build()
            .unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        CreateOptions::new().create_on(&storage, ArrayDefinition::new(schema).unwrap()).unwrap();
        let scattered = |factor: u64| (0..cells).map(|cell| cell * factor % 1_000_000).collect::<Vec<_>>();
        let (x, y, a) = (scattered(617_003), scattered(390_001), (0..cells).collect::<Vec<_>>());
        let array = ArrayOptions::new().open_on(storage.clone()).unwrap();
        array.write().cells(WriteBatch::new().with("x", &x).with("y", &y).with("a", &a)).unwrap();

        let session = Session::new("memory");
        let mut array = OpenArray::new(&session, "", "{}", None, 4e12);
        let opened = complete(&session, &*storage, 1, || array.open());
        assert!(opened.get("done").is_some(), "{opened}");
        let mut cursor = array.read(r#"{"offset": 250000, "limit": 70000, "order": "row-major"}"#, 2, true);
        assert_eq!(complete(&session, &*storage, 2, || cursor.step())["done"]["rows"], json!(50_000));
        assert!(cursor.reading.as_ref().unwrap().windows() > 1);
    }

    #[test]
    fn floats_keep_their_last_bit() {
        for bits in (1..10_000u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2) {
            let value = f64::from_bits(bits);
            assert_eq!(parsed(&format!("{value:e}")).unwrap().as_f64(), Some(value));
        }
    }

    #[test]
    fn opening_names_the_missing_folders() {
        let session = Session::new("memory");
        let mut array = OpenArray::new(&session, "a", "{}", None, 1.0);
        let outcome: Value = serde_json::from_str(&array.open()).unwrap();
        let folders = outcome["need"]["folders"].as_array().unwrap();
        assert!(folders.contains(&json!("a")) && folders.contains(&json!("a/__schema")), "{outcome}");
        for folder in folders {
            session.supply_folder(folder.as_str().unwrap(), None);
        }
        let outcome: Value = serde_json::from_str(&array.open()).unwrap();
        assert_eq!(outcome["error"]["category"], json!("unavailable"), "{outcome}");
    }

    #[test]
    fn wrong_options_are_usage_errors() {
        let session = Session::new("memory");
        for (options, key) in
            [(r#"{"at": -1}"#, None), (r#"{"at": 1, "between": [1, 2]}"#, None), ("{}", Some(vec![1]))]
        {
            let mut array = OpenArray::new(&session, "", options, key, 1.0);
            let outcome: Value = serde_json::from_str(&array.open()).unwrap();
            assert_eq!(outcome["error"]["category"], json!("usage"), "{outcome}");
        }
    }
}
