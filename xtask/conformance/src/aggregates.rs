//! Compares the aggregates of both sides, and checks tdb's against a plain computation over the
//! cells.

mod judge;
mod plain;

use tdb_array::Fragment;
use tdb_cases::case::{Case, Question};
use tdb_cases::defects;
use tdb_cases::evaluation::{choose, typed};
use tdb_cases::generate::is_theirs;
use tdb_cases::ours::{self, Reading};
use tdb_cases::print::bytes_as_text;
use tdb_cases::reads::merged;
use tdb_cases::selection::Selection;
use tdb_cases::their_errors::{as_failure, excuse};
use tdb_cases::values::Kind;
use tdb_cases::verdict::{self, Failure, no_difference};
use tdb_reference::model::{AggregateFunction, AggregateSpec, DimensionSpec, QuerySpec};
use tdb_reference::{Error, Reference};
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{ArrayType, Scalar};

use judge::{Judgement, judge};
use plain::{Answer, Sum, Values};

/// Computes a question's aggregates on both sides. `judged` is an equivalent question for the
/// library, with its query and the number of cells. Without `judged`, checks only tdb's aggregates.
///
/// # Errors
/// Returns the first difference.
pub fn compare(
    case: &Case,
    question: &Question,
    reference: &mut Reference,
    [their_uri, uri]: [&str; 2],
    judged: Option<(&Question, &QuerySpec, usize)>,
    excuses: &mut Vec<String>,
) -> Result<(), Failure> {
    let known = Known::read(case, question, uri).map_err(Failure::ours)?;
    no_difference(verdict::Kind::Aggregates, known.check_ours(uri).map_err(Failure::ours)?)?;
    let Some((question, query, cells)) = judged else { return Ok(()) };
    Known { question, ..known }.compare_theirs(reference, their_uri, (query, cells), excuses)
}

/// The cells to aggregate.
struct Known<'a> {
    case: &'a Case,
    question: &'a Question,
    reading: Reading,
    /// The fragments of a dense array, oldest first.
    fragments: Vec<Fragment>,
}

impl<'a> Known<'a> {
    fn read(case: &'a Case, question: &'a Question, uri: &str) -> Result<Self, String> {
        let mut fields: Vec<String> = case.array.dimension_names().map(str::to_owned).collect();
        for name in question.aggregates.iter().filter_map(|aggregate| aggregate.field.as_ref()) {
            if !fields.contains(name) {
                fields.push(name.clone());
            }
        }
        let array = ours::open(uri, case, question)?;
        let reading = match question.selection.is_plain() {
            true => {
                let ranges = question.query.ranges.iter().map(|ranges| merged(case, ranges)).collect();
                ours::matching(&array, &QuerySpec { fields, ranges, ..question.query.clone() }, &Selection::default())?
            }
            false => {
                let all = QuerySpec { fields, ranges: Vec::new(), ..question.query.clone() };
                let whole = typed(&array, ours::matching(&array, &all, &Selection::default())?);
                Reading::of(&choose(case, question, &whole))
            }
        };
        let fragments = array.fragments().map_err(|error| ours::describe(&error))?.to_vec();
        Ok(Self { case, question, reading, fragments })
    }

    fn compare_theirs(
        &self,
        reference: &mut Reference,
        uri: &str,
        (query, cells): (&QuerySpec, usize),
        excuses: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if let Some(reason) = defects::mistakes_aggregates(self.case, self.question) {
            excuses.push(reason.to_owned());
            return Ok(());
        }
        let aggregates = self.of_theirs(excuses);
        if aggregates.is_empty() {
            return Ok(());
        }
        let theirs = match reference.aggregate(uri, query, &aggregates) {
            Err(Error::Crashed { .. }) => reference.aggregate(uri, query, &aggregates),
            answer => answer,
        };
        let theirs = match theirs {
            Ok(theirs) => theirs,
            Err(error) => {
                let known = excuse(self.case, None, &error).or_else(|| self.excuse(&aggregates, &error));
                let unknown = || Failure { detail: format!("aggregates: {error}"), ..as_failure(None, &error) };
                excuses.push(known.ok_or_else(unknown)?);
                return Ok(());
            }
        };
        for (aggregate, column) in aggregates.iter().zip(&theirs) {
            let theirs = column.valid_cells().first().copied().flatten();
            let detail = self.check_theirs(aggregate, theirs, cells, excuses);
            no_difference(verdict::Kind::Aggregates, detail)?;
        }
        Ok(())
    }

    fn kind(&self, name: &str) -> Option<Kind> {
        let attributes = self.case.final_attributes();
        let attribute = attributes.iter().find(|attribute| attribute.name == name).map(Kind::of_attribute);
        attribute.or_else(|| self.case.array.dimension(name).map(Kind::of_dimension))
    }

    /// Returns the values that tdb aggregates. For attributes, tdb treats "no time" as null.
    fn our_values(&self, aggregate: &AggregateSpec) -> Option<Values> {
        let values = self.values(aggregate, &self.once(aggregate))?;
        let attributes = self.case.final_attributes();
        let is_attribute = attributes.iter().any(|attribute| Some(&attribute.name) == aggregate.field.as_ref());
        Some(if is_attribute { values.without_no_time() } else { values })
    }

    /// Returns the values of the aggregate's field. For a count of cells, any field will do.
    fn values(&self, aggregate: &AggregateSpec, times: &[u64]) -> Option<Values> {
        let first = self.case.array.dimensions.first().map(|dimension| dimension.name.as_str());
        let name = aggregate.field.as_deref().or(first)?;
        let kind = self.kind(name)?;
        match self.reading.columns.iter().find(|column| column.name == name) {
            Some(column) => Some(Values::new(kind, column, times)),
            None => (self.reading.cells == 0).then(|| Values::new(kind, &Default::default(), &[])),
        }
    }

    fn check_ours(&self, uri: &str) -> Result<Option<String>, String> {
        let question = self.question;
        let array = ours::open(uri, self.case, question)?;
        let all = ours::aggregate(&array, question, &question.aggregates, question.budget)?;
        let asked = question.aggregates.iter().zip(all);
        let alone = question.aggregates.first().map(|aggregate| {
            let found = ours::aggregate(&array, question, std::slice::from_ref(aggregate), Some(question.tiny_budget))?;
            Ok::<_, String>((aggregate, found.into_iter().next().flatten()))
        });
        for (aggregate, found) in asked.chain(alone.transpose()?) {
            let values = self.our_values(aggregate).ok_or_else(|| format!("{aggregate}: no such column"))?;
            let Some(answer) = values.parse(aggregate.function, found.as_deref()) else {
                return Ok(Some(format!("{aggregate}: tdb returns {found:?}")));
            };
            if !is_right(&values, aggregate.function, &answer) {
                let expected = values.answer(aggregate.function);
                return Ok(Some(self.difference(aggregate, "tdb", &expected, &answer)));
            }
        }
        Ok(None)
    }

    /// Returns the aggregates that the library supports.
    fn of_theirs(&self, excuses: &mut Vec<String>) -> Vec<AggregateSpec> {
        let is_theirs = |aggregate: &&AggregateSpec| match &aggregate.field {
            Some(name) => self.kind(name).is_some_and(|kind| is_theirs(aggregate.function, &kind)),
            None => true,
        };
        let mut asked: Vec<AggregateSpec> = self.question.aggregates.iter().filter(is_theirs).cloned().collect();
        asked.retain(|aggregate| match defects::fails_on(self.case, aggregate) {
            Some(reason) => {
                excuses.push(format!("aggregates: {reason}"));
                false
            }
            None => true,
        });
        asked
    }

    fn check_theirs(
        &self,
        aggregate: &AggregateSpec,
        theirs: Option<&[u8]>,
        cells: usize,
        excuses: &mut Vec<String>,
    ) -> Option<String> {
        let values = self.values(aggregate, &self.once(aggregate))?;
        let is_count = aggregate.function == AggregateFunction::Count;
        let is_dense = self.case.array.array_type == ArrayType::Dense;
        if is_count && is_dense {
            // A dense read returns a cell for each coordinate of the subarray.
            let all = theirs == Some(&(cells as u64).to_le_bytes()[..]);
            return (!all).then(|| format!("count: the library reads {cells} cells, but counts {theirs:?}"));
        }
        let Some(answer) = values.parse(aggregate.function, theirs) else {
            return Some(format!("{aggregate}: the library returns {theirs:?}"));
        };
        let reason = match judge(&values, aggregate.function, &answer) {
            Judgement::Same => return None,
            Judgement::Known(reason) => Some(reason),
            Judgement::Wrong if is_dense && values.is_mean_of_more(aggregate.function, &answer, cells as u64) => {
                Some("divides sums of partly written tiles by the number of all their cells")
            }
            Judgement::Wrong if is_dense && values.is_zero_of_nulls(&answer) => {
                Some("treats null cells of partly written tiles as values")
            }
            Judgement::Wrong => defects::misstates(self.case, self.question, aggregate, values.kind),
        };
        match reason {
            Some(reason) => {
                excuses.push(format!("aggregates: {reason}"));
                None
            }
            None => Some(self.difference(aggregate, "the library", &values.answer(aggregate.function), &answer)),
        }
    }

    /// Returns how often each cell counts: 1, or 0 for cells of a dense array in which no fragment
    /// has written the aggregate's field.
    fn once(&self, aggregate: &AggregateSpec) -> Vec<u64> {
        let name = aggregate.field.as_deref().filter(|_| self.case.array.array_type == ArrayType::Dense);
        let Some(name) = name else { return vec![1; self.reading.cells] };
        let fragments = self.fragments.iter().rev();
        let boxes: Vec<_> = fragments
            .filter_map(|fragment| Some((fragment.non_empty_domain()?, fragment.schema().field(name).is_some())))
            .collect();
        written(self.case, &boxes, &self.reading).into_iter().map(u64::from).collect()
    }

    fn difference(&self, aggregate: &AggregateSpec, side: &str, expected: &Answer, got: &Answer) -> String {
        let kind = aggregate.field.as_deref().and_then(|name| self.kind(name));
        let text = |answer: &Answer| match (answer, kind) {
            (Answer::Value(bytes), Some(kind)) => bytes_as_text(kind.datatype, bytes),
            (answer, _) => format!("{answer:?}"),
        };
        format!(
            "{aggregate} of {} cells: expected {}, {side} returns {}",
            self.reading.cells,
            text(expected),
            text(got)
        )
    }

    fn excuse(&self, aggregates: &[AggregateSpec], error: &Error) -> Option<String> {
        let with_kind = |aggregate| Some((aggregate, self.kind(AggregateSpec::field(aggregate)?)?));
        let aggregates: Vec<_> = aggregates.iter().filter_map(with_kind).collect();
        let reason = defects::refuses_aggregates(&aggregates, &error.to_string());
        reason.map(|reason| format!("aggregates: {reason}"))
    }
}

/// Returns `true` if tdb's answer is right. If some order of the finite floats overflows, any
/// finite sum is accepted.
fn is_right(values: &Values, function: AggregateFunction, answer: &Answer) -> bool {
    let is_sum = matches!(function, AggregateFunction::Sum | AggregateFunction::Mean);
    match (values.sum(), answer) {
        (Sum::Float { passes: true, .. }, Answer::Float(sum)) if is_sum => sum.is_finite(),
        (Sum::Float { passes: true, .. }, Answer::Null) if is_sum => values.kind.nullable,
        _ => values.are_same(function, &values.answer(function), answer),
    }
}

/// Returns, for each cell of a dense array, the flag of the first box that contains the cell.
/// Returns `false` for cells outside of all boxes.
fn written(case: &Case, boxes: &[(&NdRange, bool)], reading: &Reading) -> Vec<bool> {
    let keys = |dimension: &DimensionSpec| {
        let column = reading.columns.iter().find(|column| column.name == dimension.name)?;
        let key = |cell| Scalar::from_le_bytes(dimension.datatype.physical(), column.cell(reading.cells, cell));
        (0..reading.cells).map(|cell| key(cell).map(Scalar::key)).collect::<Option<Vec<u64>>>()
    };
    let keys: Vec<Vec<u64>> = case.array.dimensions.iter().filter_map(keys).collect();
    let holds = |ranges: &NdRange, cell: usize| {
        keys.iter().zip(&ranges.0).all(|(keys, range)| match range {
            DimRange::Fixed { lo, hi } => (lo..=hi).contains(&&keys[cell]),
            DimRange::Var { .. } => false,
        })
    };
    let newest = |cell: usize| boxes.iter().find(|(ranges, _)| holds(ranges, cell));
    (0..reading.cells).map(|cell| newest(cell).is_some_and(|(_, has_field)| *has_field)).collect()
}
