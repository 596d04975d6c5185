//! Arrays with dimension labels, whose values are stored in separate arrays.

use std::path::Path;

use tdb_cases::case::Case;
use tdb_cases::ours::{self, Manner, Reading, describe};
use tdb_cases::random::Random;
use tdb_cases::reads::read_again;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{Failure, Kind, by_us};
use tdb_cases::writer::set_key;
use tdb_reference::Reference;
use tdb_reference::model::{
    ArraySpec, Bytes, Column, DimensionSpec, FilterSpec, LabelSpec, Pipeline, QuerySpec, RangesSpec, ReadResult,
    WriteSpec, attribute, bytes_of, column, dimension, var_column,
};
use tdb_types::{DataOrder, Datatype, FormatVersion, Layout};

use super::counters::{NEITHER, NEWEST, OLDER};
use super::made_twice::Share;
use super::metadata_and_groups::by_reference;
use crate::by_release::Sides;
use crate::create;

/// Timestamp of the first write. The second write follows one millisecond later.
const TIME: u64 = 1_700_000_000_000;
/// Name of the attribute.
const CELLS: &str = "a";

type Done = Result<(), Failure>;

/// Writes an array with labels twice, once with tdb as a writer. Reads both arrays with both
/// releases, and tdb's array with tdb.
pub(super) fn labels(index: u64, sides: &mut Sides, folder: &Path, counts: &mut Counts) -> Done {
    for side in [&mut sides.older, &mut sides.newest] {
        set_key(side, false);
    }
    let folder = tempfile::tempdir_in(folder).map_err(by_reference)?;
    let [theirs, ours] = ["theirs", "ours"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    let labelled = Labelled::new(&mut Random::new(!index));
    let case = Case::of(labelled.spec.clone());
    let mut array = Pair { index, labelled, case, sides, theirs, ours, counts };
    let outcome = array.make().and_then(|()| array.read());
    outcome.map_err(|failure| Failure { detail: format!("{:?}: {}", array.labelled, failure.detail), ..failure })
}

/// A dense array of 32-bit integers in ascending row-major order from zero, and the lengths of the
/// dimensions.
#[derive(Debug)]
struct Labelled {
    spec: ArraySpec,
    lengths: Vec<usize>,
    /// Number of coordinates of the first dimension that the first write covers.
    begun: usize,
    starts: Vec<i64>,
}

impl Labelled {
    fn new(random: &mut Random) -> Self {
        let count = random.between(1, 2);
        let lengths: Vec<usize> = (0..count).map(|_| random.between(2, 30)).collect();
        let datatype = *random.pick(&[Datatype::Int32, Datatype::Int64, Datatype::DatetimeDay]);
        let starts: Vec<i64> = (0..count).map(|_| *random.pick(&[0, 1, -7, 1000])).collect();
        let ends = starts.iter().zip(&lengths);
        let dimensions: Vec<_> = ends
            .enumerate()
            .map(|(index, (start, length))| {
                let last = start + *length as i64 - 1;
                let extent = random.between(1, *length) as i64;
                numbers(&format!("d{index}"), datatype, [*start, last], extent)
            })
            .collect();
        let mut spec = ArraySpec::dense(dimensions, [attribute(CELLS, Datatype::Int32)]);
        for index in 0..random.between(1, 3) {
            let datatypes = [
                Datatype::Float64,
                Datatype::Float32,
                Datatype::Int32,
                Datatype::UInt64,
                Datatype::DatetimeDay,
                Datatype::StringAscii,
            ];
            spec.labels.push(LabelSpec {
                dimension: random.below(count) as u32,
                name: format!("l{index}"),
                order: *random.pick(&[DataOrder::Increasing, DataOrder::Decreasing]),
                datatype: *random.pick(&datatypes),
                filters: random.percent(50).then(|| Pipeline::from([FilterSpec::ZSTD])),
            });
        }
        let begun = random.between(1, lengths[0] - 1);
        Self { spec, lengths, begun, starts }
    }

    /// Returns one half of the cells, with the labels of the coordinates.
    fn half(&self, second: bool) -> Half<'_> {
        let first = if second { self.begun..self.lengths[0] } else { 0..self.begun };
        let others = self.lengths[1..].iter().map(|length| 0..*length);
        Half { labelled: self, places: std::iter::once(first).chain(others).collect(), time: TIME + u64::from(second) }
    }

    /// Returns the bytes of the coordinate at a position.
    fn coordinate(&self, dimension: usize, place: usize) -> Bytes {
        let value = self.starts[dimension] + place as i64;
        Bytes(value.to_le_bytes()[..self.spec.dimensions[dimension].datatype.size()].to_vec())
    }

    /// Returns the label of the coordinate at a position.
    fn label(&self, label: &LabelSpec, place: usize) -> Bytes {
        let last = self.lengths[label.dimension as usize] - 1;
        let rank = if label.order == DataOrder::Decreasing { last - place } else { place } as i64;
        match label.datatype {
            Datatype::Float64 => bytes_of([rank as f64 / 4.0 - 1.5]),
            Datatype::Float32 => bytes_of([rank as f32 * 1000.5]),
            Datatype::Int32 => bytes_of([rank as i32 * 3 - 20]),
            // Strings of several lengths in byte order.
            Datatype::StringAscii => {
                Bytes(format!("{:c<2}{}", (b'a' + rank as u8 / 10) as char, rank % 10).into_bytes())
            }
            _ => bytes_of([rank * 7]),
        }
    }

    fn labels_of(&self, label: &LabelSpec, places: std::ops::Range<usize>) -> Column {
        let is_var = label.datatype == Datatype::StringAscii;
        let column = var_column(&label.name, places.map(|place| self.label(label, place).0));
        Column { offsets: column.offsets.filter(|_| is_var), ..column }
    }

    /// Generates reads of cells and labels, by ranges of coordinates and labels, now and before the
    /// second write.
    fn questions(&self, random: &mut Random) -> Vec<QuerySpec> {
        let all = QuerySpec::all(Layout::RowMajor);
        let mut questions = vec![all.clone(), QuerySpec { timestamps: Some((0, TIME)), ..all.clone() }];
        for label in &self.spec.labels {
            let dimension = label.dimension as usize;
            let (a, b) = (random.below(self.lengths[dimension]), random.below(self.lengths[dimension]));
            let (first, last) = (a.min(b), a.max(b));
            let coordinates = RangesSpec {
                dimension: self.spec.dimensions[dimension].name.clone(),
                ranges: vec![(self.coordinate(dimension, first), self.coordinate(dimension, last))],
            };
            let (low, high) = if label.order == DataOrder::Decreasing { (last, first) } else { (first, last) };
            let by_label = RangesSpec {
                dimension: label.name.clone(),
                ranges: vec![(self.label(label, low), self.label(label, high))],
            };
            let fields = vec![label.name.clone()];
            questions.push(QuerySpec { fields: fields.clone(), ranges: vec![coordinates.clone()], ..all.clone() });
            let past = Some((0, TIME));
            questions.push(QuerySpec { fields, ranges: vec![coordinates], timestamps: past, ..all.clone() });
            questions.push(QuerySpec { fields: vec![CELLS.to_owned()], ranges: vec![by_label], ..all.clone() });
        }
        questions
    }
}

fn numbers(name: &str, datatype: Datatype, domain: [i64; 2], extent: i64) -> DimensionSpec {
    match datatype {
        Datatype::Int32 => dimension(name, datatype, domain.map(|end| end as i32), extent as i32),
        _ => dimension(name, datatype, domain, extent),
    }
}

/// Cells to write, as ranges of positions along each dimension.
struct Half<'a> {
    labelled: &'a Labelled,
    places: Vec<std::ops::Range<usize>>,
    time: u64,
}

impl Half<'_> {
    /// Returns the subarray of a range of dimensions.
    fn subarray(&self, dimensions: std::ops::Range<usize>) -> Vec<(Bytes, Bytes)> {
        let ends = |dimension: usize| {
            let places = &self.places[dimension];
            let coordinate = |place| self.labelled.coordinate(dimension, place);
            (coordinate(places.start), coordinate(places.end - 1))
        };
        dimensions.map(ends).collect()
    }

    fn write(&self, dimensions: std::ops::Range<usize>, cells: Vec<Column>) -> WriteSpec {
        let subarray = Some(self.subarray(dimensions));
        WriteSpec { layout: Layout::RowMajor, subarray, timestamp: Some(self.time), cells }
    }

    /// Returns the write of the attribute's cells.
    fn cells(&self) -> WriteSpec {
        let width = self.places.get(1).map_or(1, |places| places.len());
        let cells = (self.places[0].start * width..self.places[0].end * width).map(|cell| cell as i32);
        self.write(0..self.places.len(), vec![column(CELLS, cells)])
    }

    /// Returns the write of cells and labels together, as the library takes it.
    fn whole(&self) -> WriteSpec {
        let mut spec = self.cells();
        for label in &self.labelled.spec.labels {
            spec.cells.push(self.labelled.labels_of(label, self.places[label.dimension as usize].clone()));
        }
        spec
    }

    /// Returns the write of a label to the label array.
    fn values(&self, label: &LabelSpec, attribute: &str) -> WriteSpec {
        let dimension = label.dimension as usize;
        let column = self.labelled.labels_of(label, self.places[dimension].clone());
        self.write(dimension..dimension + 1, vec![Column { name: attribute.to_owned(), ..column }])
    }
}

struct Pair<'a> {
    index: u64,
    labelled: Labelled,
    case: Case,
    sides: &'a mut Sides,
    theirs: String,
    ours: String,
    counts: &'a mut Counts,
}

impl Pair<'_> {
    fn make(&mut self) -> Done {
        let (older, share) = (&mut self.sides.older, Share::of(self.index));
        older.create(&self.theirs, &self.labelled.spec).map_err(by_reference)?;
        if share == Share::Second {
            older.create(&self.ours, &self.labelled.spec).map_err(by_reference)?;
        } else {
            let version = FormatVersion::new(older.release().format).map_err(by_reference)?;
            by_us("create", || ours::create(&self.ours, &self.case, version))?;
            create::compare(Path::new(&self.theirs), Path::new(&self.ours), false)
                .map_err(|detail| Failure::new(Kind::Schema, format!("created arrays differ: {detail}")))?;
        }
        let (first, second) = (self.labelled.half(false), self.labelled.half(true));
        older.write(&self.theirs, &first.whole()).map_err(by_reference)?;
        match share {
            Share::All => self.by_us(&first)?,
            _ => older.write(&self.ours, &first.whole()).map_err(by_reference)?,
        }
        self.sides.newest.write(&self.theirs, &second.whole()).map_err(by_reference)?;
        self.by_us(&second)
    }

    /// Writes cells and labels with tdb. The label arrays are stored inside of the array.
    fn by_us(&self, half: &Half<'_>) -> Done {
        let manner = Manner::by(self.index);
        let write = || {
            ours::write(&self.ours, &self.case, &half.cells(), manner)?;
            for label in &half.labelled.spec.labels {
                let array = ours::options(&self.case).open(&self.ours).map_err(|error| describe(&error))?;
                let label_array = array.label(&label.name).map_err(|error| describe(&error))?;
                let description = label_array.description();
                let uri = format!("{}/{}", self.ours, description.uri);
                ours::write(&uri, &self.case, &half.values(label, &description.attribute), manner)?;
            }
            Ok(())
        };
        by_us("labels", write)
    }

    fn read(&mut self) -> Done {
        for query in self.labelled.questions(&mut Random::new(self.index)) {
            let read = |side: &mut Reference| [&self.theirs, &self.ours].map(|uri| read_again(side, uri, &query).0);
            let [expected, got] = read(&mut self.sides.newest);
            let expected = expected.map_err(by_reference)?;
            let expected = Reading::of(&expected);
            let differs = |who: &str, detail| {
                Failure::new(Kind::Cells, format!("{who} reads from the array of tdb: {query:?}: {detail}"))
            };
            unlike(&expected, &got).map_or(Ok(()), |detail| Err(differs("release 2.30.0", detail)))?;
            self.counts.add(NEWEST, 1);
            let own = self.by_our_reader(&query).map_err(|detail| differs("ours", detail))?;
            if own.columns != expected.columns {
                return Err(differs("ours", format!("{:?} instead of {:?}", own.columns, expected.columns)));
            }
            let by_older = read(&mut self.sides.older);
            match unlike(&expected, &by_older[1]) {
                None => self.counts.add(OLDER, 1),
                Some(_) if unlike(&expected, &by_older[0]).is_some() => self.counts.add(NEITHER, 1),
                Some(detail) => {
                    let library = self.sides.older.release().library;
                    return Err(differs(&format!("release {library}"), detail));
                }
            }
        }
        Ok(())
    }

    /// Reads with tdb. Labels are read from their arrays.
    fn by_our_reader(&self, query: &QuerySpec) -> Result<Reading, String> {
        let mut options = ours::options(&self.case);
        if let Some((start, end)) = query.timestamps {
            options = options.between(tdb_array::TimeRange { start, end });
        }
        let array = options.open(&self.ours).map_err(|error| describe(&error))?;
        let field = query.fields.first().filter(|field| *field != CELLS);
        let Some(name) = field else { return ours::read(&array, query, None) };
        let label = array.label(name).map_err(|error| describe(&error))?;
        let own_dimension = label.array().schema().dimensions()[0].name().to_owned();
        let ranges = query.ranges.iter().map(|spec| RangesSpec { dimension: own_dimension.clone(), ..spec.clone() });
        let fields = vec![label.description().attribute.clone()];
        let query = QuerySpec { fields, ranges: ranges.collect(), ..query.clone() };
        let mut reading = ours::read(&tdb_array::Array::from(label.array().clone()), &query, None)?;
        reading.columns.iter_mut().for_each(|column| column.name.clone_from(name));
        Ok(reading)
    }
}

/// Returns the difference between a library's read and the expected one.
fn unlike(expected: &Reading, got: &tdb_reference::Result<ReadResult>) -> Option<String> {
    match got {
        Ok(got) if Reading::of(got).columns == expected.columns => None,
        Ok(got) => Some(format!("{:?} instead of {:?}", Reading::of(got).columns, expected.columns)),
        Err(error) => Some(error.to_string()),
    }
}
