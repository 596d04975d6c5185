//! Arrays with images whose pixels an encoder changes: lossy images, and images with alpha. The
//! library changes the colors of transparent pixels.
//!
//! A third array by the library, without the WebP filter, holds the original pixels. Both sides
//! must read the same from tdb's array, and tdb's loss must be close to the library's.

use tdb_cases::case::Case;
use tdb_cases::compare::difference;
use tdb_cases::defects;
use tdb_cases::ours::Reading;
use tdb_cases::reads::{compare_cells, read_again, settled, with_coordinates};
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{End, Failure, Kind, excuse, no_difference};
use tdb_reference::Reference;
use tdb_reference::model::{AttributeSpec, FilterSpec, ReadResult, WebpFormat};

use crate::examine::unanswered;

/// The largest squared error of tdb, relative to the library's: a factor, and an addend per byte.
const ALLOWED: (f64, f64) = (1.5, 100.0);

/// Sums of squared errors of lossy images.
struct Loss {
    theirs: u64,
    ours: u64,
    bytes: u64,
}

const THEIRS: &str = "squared error of the library's images";
const OURS: &str = "squared error of tdb's images";
const BYTES: &str = "bytes of images with loss";

/// Returns the summary line about lossy images, or `None` if no image was lossy.
pub fn line(counts: &Counts) -> Option<String> {
    let [theirs, ours, bytes] = [THEIRS, OURS, BYTES].map(|name| counts.get(name) as f64);
    (bytes > 0.0).then(|| {
        format!(
            "lossy images, {bytes} bytes read: mean squared error {:.1}, the library's {:.1}",
            ours / bytes,
            theirs / bytes
        )
    })
}

/// Returns the case without lossy WebP filters. Returns `None` if no WebP filter changes pixels.
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

/// Reads the original array and both sides' arrays with the library, and tdb's array with tdb.
pub fn ask(
    case: &Case,
    index: usize,
    reference: &mut Reference,
    [given, theirs, ours]: [&str; 3],
    counts: &mut Counts,
) -> Result<usize, End> {
    let question = &case.questions[index];
    excuse(defects::is_wrong(case, question))?;
    let query = with_coordinates(case, question);
    let mut read = |uri| {
        let read = read_again(reference, uri, &query).0;
        read.map_err(|error| unanswered(case, index, &[], reference, [ours, ours], &error))
    };
    let (given, theirs, got) = (read(given)?, read(theirs)?, read(ours)?);
    compare_cells(case, question, ours, &got)?;
    let mut restored = Reading::of(&got);
    for attribute in case.array.attributes.iter().filter(|attribute| has_loss(attribute)) {
        let loss = loss(attribute, [&given, &theirs, &got]).map_err(|detail| Failure::new(Kind::Cells, detail))?;
        counts.add(THEIRS, loss.theirs);
        counts.add(OURS, loss.ours);
        counts.add(BYTES, loss.bytes);
        let same =
            given.columns.iter().zip(&mut restored.columns).find(|(column, _)| column.column.name == attribute.name);
        if let Some((given, got)) = same {
            got.values = given.column.values.clone();
        }
    }
    let detail = difference(&given, &restored, &settled(case, question, &given))
        .map(|detail| format!("the library reads from the array of tdb, apart from lossy pixels: {detail}"));
    no_difference(Kind::Cells, detail)?;
    Ok(given.cells)
}

/// Computes the loss of both sides. Fails if tdb's loss is too large.
fn loss(attribute: &AttributeSpec, results: [&ReadResult; 3]) -> Result<Loss, String> {
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
    Err(format!("{name:?}: mean squared error {ours:.1}, the library's {theirs:.1}"))
}
