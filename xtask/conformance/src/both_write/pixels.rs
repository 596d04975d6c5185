//! Arrays with images whose pixels an encoder changes: those with loss, and those with alpha, in which the library changes
//! the colours of what is transparent.
//!
//! What was given stands in a third array, the library's, whose pixels go through no such filter. The library has to read
//! the same from ours as we do, and our loss has to be about the library's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tdb_cases::case::Case;
use tdb_cases::compare::difference;
use tdb_cases::defects;
use tdb_cases::ours::Reading;
use tdb_cases::reads::{compare_cells, read_again, settled, with_coordinates};
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{Failure, Kind};
use tdb_reference::model::{AttributeSpec, FilterSpec, ReadResult, WebpFormat};
use tdb_reference::{Reference, Result};

use super::ask::{Answer, unanswered};

/// How much greater our squared error may be than the library's, of the few pixels of a read: that times, and so much more.
const ALLOWED: (f64, f64) = (1.5, 100.0);

/// Squared errors of images with loss, and of how many bytes.
#[derive(Debug, Default)]
pub struct Loss {
    theirs: u64,
    ours: u64,
    bytes: u64,
}

const THEIRS: &str = "squared error of the library's images";
const OURS: &str = "squared error of our images";
const BYTES: &str = "bytes of images with loss";

impl Loss {
    pub fn add(&mut self, other: &Self) {
        self.theirs += other.theirs;
        self.ours += other.ours;
        self.bytes += other.bytes;
    }

    pub fn count(&self, counts: &mut Counts) {
        counts.add(THEIRS, self.theirs);
        counts.add(OURS, self.ours);
        counts.add(BYTES, self.bytes);
    }
}

/// What the summary says of images with loss, if there were any.
pub fn line(counts: &Counts) -> Option<String> {
    let [theirs, ours, bytes] = [THEIRS, OURS, BYTES].map(|name| counts.get(name) as f64);
    (bytes > 0.0).then(|| {
        format!(
            "images with loss, {bytes} bytes read: a mean squared error of {:.1}, and of {:.1} in the library's",
            ours / bytes,
            theirs / bytes
        )
    })
}

/// The case with pixels that stay as they are given; none if all do.
pub fn as_given(case: &Case) -> Option<Case> {
    let mut given = case.clone();
    let mut some = false;
    for attribute in given.array.attributes.iter_mut().filter(|attribute| changes(attribute)) {
        some = true;
        attribute.filters.filters.retain(|filter| !matches!(filter, FilterSpec::Webp { .. }));
    }
    some.then_some(given)
}

fn changes(attribute: &AttributeSpec) -> bool {
    attribute.filters.filters.iter().any(|filter| match filter {
        FilterSpec::Webp { lossless, format, .. } => !lossless || matches!(format, WebpFormat::Rgba | WebpFormat::Bgra),
        _ => false,
    })
}

fn has_loss(attribute: &AttributeSpec) -> bool {
    attribute.filters.filters.iter().any(|filter| matches!(filter, FilterSpec::Webp { lossless: false, .. }))
}

/// Asks the library about what was given, its own array and ours, and us about ours.
pub fn ask(
    case: &Case,
    index: usize,
    reference: &mut Reference,
    [given, theirs, ours]: [&str; 3],
    sum: &mut Loss,
) -> Result<Answer> {
    let question = &case.questions[index];
    if let Some(reason) = defects::is_wrong(case, question) {
        return Ok(Answer::Excused(reason.to_owned()));
    }
    let query = with_coordinates(case, question);
    let mut read = |uri| read_again(reference, uri, &query).0;
    let (given, theirs, got) = match (read(given), read(theirs), read(ours)) {
        (Ok(given), Ok(theirs), Ok(got)) => (given, theirs, got),
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
            return unanswered(case, index, &[], reference, ours, &error);
        }
    };
    let failed = |kind, detail| Ok(Answer::Failed(Failure { question: Some(index), ..Failure::new(kind, detail) }));
    let by_us = catch_unwind(AssertUnwindSafe(|| compare_cells(case, question, ours, &got)));
    match by_us {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => return failed(failure.kind, failure.detail),
        Err(_) => return failed(Kind::OurPanic, "our reader panicked".to_owned()),
    }
    let mut restored = Reading::of(&got);
    for attribute in case.array.attributes.iter().filter(|attribute| has_loss(attribute)) {
        let loss = match loss(attribute, [&given, &theirs, &got]) {
            Ok(loss) => loss,
            Err(detail) => return failed(Kind::Cells, detail),
        };
        sum.add(&loss);
        let same =
            given.columns.iter().zip(&mut restored.columns).find(|(column, _)| column.column.name == attribute.name);
        if let Some((given, got)) = same {
            got.values = given.column.values.clone();
        }
    }
    match difference(&given, &restored, &settled(case, question, &given)) {
        Some(detail) => {
            failed(Kind::Cells, format!("the library reads from our array, apart from lost pixels: {detail}"))
        }
        None => Ok(Answer::Same(given)),
    }
}

/// How far both sides are from what was given; a complaint if we are too far.
fn loss(attribute: &AttributeSpec, results: [&ReadResult; 3]) -> std::result::Result<Loss, String> {
    let name = &attribute.name;
    let values = results.map(|result| {
        let column = result.columns.iter().find(|column| column.column.name == *name);
        column.map(|column| column.column.values.0.as_slice()).unwrap_or_default()
    });
    let [given, theirs, ours] = values;
    if given.len() != ours.len() || given.len() != theirs.len() {
        return Err(format!("{name:?}: {} bytes given, {} and {} read", given.len(), theirs.len(), ours.len()));
    }
    let error = |values: &[u8]| given.iter().zip(values).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum::<u64>();
    let loss = Loss { theirs: error(theirs), ours: error(ours), bytes: given.len() as u64 };
    let (times, more) = ALLOWED;
    let [theirs, ours, bytes] = [loss.theirs, loss.ours, loss.bytes].map(|sum| sum as f64);
    if ours <= theirs * times + more * bytes {
        return Ok(loss);
    }
    let [theirs, ours] = [theirs / bytes, ours / bytes];
    Err(format!("{name:?}: a mean squared error of {ours:.1}, and of {theirs:.1} in the library's array"))
}
