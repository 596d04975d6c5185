//! Compares an array written by the library with the same array written by tdb.
//!
//! The library must read the same cells from both. Where the format leaves no choice, the files
//! must be identical.

mod ask;
mod pixels;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tdb_array::Array;
use tdb_array::tdb_fragment::{
    FRAGMENT_METADATA_FILE, FragmentFile, FragmentFolder, GenericTileDecoder, StatisticsRules, Sum, TileStatistics,
    ValueStatistics,
};
use tdb_cases::case::Case;
use tdb_cases::ours::make as make_ours;
use tdb_cases::place::{Place, is_on_store};
use tdb_cases::tally::Counts;
use tdb_cases::their_errors::their_failure;
use tdb_cases::verdict::{End, Failure, Verdict, ask_all};
use tdb_cases::writer::{make, set_key};
use tdb_cases::{ours, overhang};
use tdb_filters::Filter;
use tdb_reference::Reference;
use tdb_reference::model::Bytes;
use tdb_schema::{ArraySchema, Dimension, FieldRef};
use tdb_types::{FormatVersion, Limits};

use super::examine::{compare_facts, compare_questions};
use super::maintain::names_in;

pub use ask::ask;

/// Counts of files that are identical on both sides, and of differences.
#[derive(Debug)]
pub struct Files<'a> {
    pub counts: &'a mut Counts,
    /// Unexplained differences.
    pub others: Vec<String>,
}

/// Names of counters.
const DATA: &str = "data files";
const SAME_DATA: &str = "identical data files";
const FREE_DATA: &str = "data files with differences that a filter permits";
const METADATA: &str = "files of fragment metadata";
const SAME_METADATA: &str = "equal files of fragment metadata";
const EXPLAINED_METADATA: &str = "files of fragment metadata with known differences";

/// Returns the summary lines about files.
pub fn lines(counts: &Counts) -> Vec<String> {
    let mut lines = Vec::new();
    if counts.get(DATA) > 0 {
        let [same, all, free] = [SAME_DATA, DATA, FREE_DATA].map(|name| counts.get(name));
        lines.push("in arrays without encryption or duplicates:".to_owned());
        lines.push(format!("{same} of {all} data files are identical byte for byte"));
        lines.push(format!("{free} more differ in ways that gzip, bit-width reduction or images permit"));
        let [same, all, explained] = [SAME_METADATA, METADATA, EXPLAINED_METADATA].map(|name| counts.get(name));
        lines.push(format!("{same} of {all} files of fragment metadata are equal"));
        lines.push(format!(
            "{explained} more differ only in compressed sizes, or in statistics that the library gets wrong"
        ));
    }
    lines.extend(pixels::line(counts));
    lines
}

/// Runs a case in a new folder below `folder`. `version` is the format version of tdb's array.
///
/// # Errors
/// Fails if the folder cannot be created or the library's process cannot be started.
pub fn examine(
    case: &Case,
    (index, version): (u64, FormatVersion),
    reference: &mut Reference,
    folder: &Path,
    files: &mut Files<'_>,
) -> Result<Verdict, End> {
    set_key(reference, case.encrypted);
    let place = Place::new(folder);
    let [theirs, ours, given] = ["theirs", "ours", "given"].map(|name| place.uri(name));
    let their_end = |error| their_failure(case, None, &error);
    // The library's array has other coordinates if the last tile ends at or beyond the end of the
    // datatype.
    if let Some(wide) = overhang::wide_array(case, reference, &place).map_err(their_end)? {
        write_ours(case, (index, version), reference, [&wide.uri, &ours], files)?;
        return compare_questions(case, &[], reference, [&ours, &ours], Some(&wide));
    }
    let as_given = pixels::as_given(case);
    make(case, reference, &theirs).map_err(their_end)?;
    as_given.iter().try_for_each(|case| make(case, reference, &given)).map_err(their_end)?;
    write_ours(case, (index, version), reference, [&theirs, &ours], files)?;
    ask_all(case.questions.len(), |index, _| match &as_given {
        Some(_) => pixels::ask(case, index, reference, [&given, &theirs, &ours], files.counts),
        None => Ok(ask(case, index, &[], reference, [&theirs, &ours])?.cells),
    })
}

/// Writes tdb's array and compares its facts and files with the library's array.
fn write_ours(
    case: &Case,
    (index, version): (u64, FormatVersion),
    reference: &mut Reference,
    [theirs, ours]: [&str; 2],
    files: &mut Files<'_>,
) -> Result<(), End> {
    make_ours(case, (index, version), reference, ours)?;
    let is_newest = version == FormatVersion::DEFAULT;
    let of_ours = |failure: Failure| Failure { detail: format!("tdb's array: {}", failure.detail), ..failure };
    compare_facts(case, reference, ours, is_newest).map_err(of_ours)?;
    if is_newest {
        compare_files(case, theirs, ours, files);
    }
    Ok(())
}

/// Returns why arrays of both sides cannot hold the same cells, or `None` if they can.
pub fn cannot_be_the_same(case: &Case) -> Option<&'static str> {
    pixels::as_given(case).map(|_| "lossy images, or images with transparent pixels whose colors the library changes")
}

/// Compares the files of fragments of both sides with equal timestamps. Skips encrypted arrays,
/// because encryption never yields the same bytes twice.
fn compare_files(case: &Case, theirs: &str, ours: &str, files: &mut Files<'_>) {
    // The order of cells with equal coordinates is not defined. Files on a store cannot be
    // inspected.
    if case.encrypted || case.array.allows_dups || is_on_store() {
        return;
    }
    let open = |uri: &str| ours::options(case).open(uri).map(|array| (uri.to_owned(), array)).ok();
    let (Some(theirs), Some(ours)) = (open(theirs), open(ours)) else { return };
    let (their_fragments, our_fragments) = (fragments(&theirs.0), fragments(&ours.0));
    for (time, their_name) in &their_fragments {
        let mut of_that_time = our_fragments.iter().filter(|(other, _)| other == time);
        // Several fragments of one time are the parts of a size-bounded consolidation.
        let (Some((_, our_name)), None) = (of_that_time.next(), of_that_time.next()) else { continue };
        let is_read = |side: &(String, Array), name: &str| {
            side.1.directory().fragments.iter().any(|fragment| fragment.name.as_str() == name)
        };
        if !is_read(&theirs, their_name) || !is_read(&ours, our_name) {
            // The fragment has since been consolidated.
            continue;
        }
        let folder = |side: &(String, Array), name: &str| Path::new(&side.0).join("__fragments").join(name);
        let (their_folder, our_folder) = (folder(&theirs, their_name), folder(&ours, our_name));
        compare_fragment((&theirs.1, &their_folder), (&ours.1, &our_folder), files);
    }
}

/// Returns the timestamps and names of the fragments that were not consolidated.
fn fragments(uri: &str) -> Vec<(u64, String)> {
    let names = names_in(&Path::new(uri).join("__fragments"), "").into_iter();
    names.filter(|name| name.start() == name.end()).map(|name| (name.start(), name.as_str().to_owned())).collect()
}

fn compare_fragment(theirs: (&Array, &Path), ours: (&Array, &Path), files: &mut Files<'_>) {
    let our_folder = ours.1.display();
    let mut names: Vec<_> = [theirs.1, ours.1]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names.dedup();
    for name in names {
        let [expected, got] = [theirs.1, ours.1].map(|folder| fs::read(folder.join(&name)).ok());
        if name != FRAGMENT_METADATA_FILE {
            files.counts.add(DATA, 1);
            if expected.is_some() && expected == got {
                files.counts.add(SAME_DATA, 1);
            } else if is_free(ours.0, &name) {
                files.counts.add(FREE_DATA, 1);
            } else {
                files.others.push(format!("{our_folder}/{name}: {}", first_difference(expected, got)));
            }
            continue;
        }
        files.counts.add(METADATA, 1);
        let said = metadata(theirs, expected).zip(metadata(ours, got));
        match said {
            Some((expected, got)) if expected == got => files.counts.add(SAME_METADATA, 1),
            Some((expected, got)) => match unexplained(&expected, &got) {
                None => files.counts.add(EXPLAINED_METADATA, 1),
                Some(line) => files.others.push(format!("{our_folder}: metadata: {line}")),
            },
            None => files.others.push(format!("{our_folder}: no metadata")),
        }
    }
}

/// `true` if a filter of a data file permits different bytes. Gzip leaves the search for matches to
/// the encoder, and WebP the packing of pixels. The library's bit-width reduction writes half of
/// each window's minimum from uninitialized memory.
fn is_free(array: &Array, file: &str) -> bool {
    let schema = array.schema();
    let name = file.trim_end_matches(".tdb");
    let field = |name: &str| {
        let index = name.get(1..).and_then(|index| index.parse().ok())?;
        Some(if name.starts_with('a') { FieldRef::Attribute(index) } else { FieldRef::Dimension(index) })
    };
    let of = |field: Option<FieldRef>| field.map(|field| schema.filters_of(field).into_owned()).unwrap_or_default();
    let filters = match (name.strip_suffix("_validity"), name.strip_suffix("_var"), field(name)) {
        (Some(_), _, _) => schema.validity_filters().clone(),
        (_, Some(name), _) => of(field(name)),
        (_, _, Some(field)) if schema.field_type(field).is_some_and(|kind| kind.is_var()) => {
            schema.offsets_filters().clone()
        }
        (_, _, field) => of(field),
    };
    let is_open =
        |filter: &Filter| matches!(filter, Filter::Gzip { .. } | Filter::BitWidthReduction { .. } | Filter::WebP(_));
    filters.filters.iter().any(is_open)
}

/// Describes the first difference: both lengths, and the bytes from the first differing offset.
fn first_difference(expected: Option<Vec<u8>>, got: Option<Vec<u8>>) -> String {
    let (expected, got) = (expected.unwrap_or_default(), got.unwrap_or_default());
    let at = expected.iter().zip(&got).position(|(a, b)| a != b).unwrap_or(expected.len().min(got.len()));
    let some = |bytes: &[u8]| Bytes(bytes[at..bytes.len().min(at + 16)].to_vec()).to_hex();
    format!("{} bytes, tdb {}; at {at} {}, tdb {}", expected.len(), got.len(), some(&expected), some(&got))
}

/// The metadata of a fragment, with its schema.
#[derive(Debug)]
struct Metadata {
    file: FragmentFile,
    schema: Arc<ArraySchema>,
}

impl PartialEq for Metadata {
    /// Ignores schema names and section offsets.
    fn eq(&self, other: &Self) -> bool {
        let header = |side: &Self| {
            let mut header = side.file.footer.header().clone();
            header.schema_name.clear();
            header
        };
        header(self) == header(other) && self.file.contents == other.file.contents
    }
}

fn metadata((array, folder): (&Array, &Path), bytes: Option<Vec<u8>>) -> Option<Metadata> {
    let name = folder.file_name()?.to_str()?;
    let fragment = array.fragments().ok()?.iter().find(|fragment| fragment.name().as_str() == name)?;
    let place = FragmentFolder { version: fragment.version(), has_coordinates: !array.schema().is_dense() };
    let mut decoder = GenericTileDecoder::new(Limits::default());
    let file = FragmentFile::parse(&bytes?, place, fragment.schema(), &mut decoder, None).ok()?;
    Some(Metadata { file, schema: Arc::clone(fragment.schema()) })
}

/// Returns the first difference apart from compressed sizes and known wrong statistics of the
/// library.
fn unexplained(expected: &Metadata, got: &Metadata) -> Option<String> {
    let (theirs, ours) = (&expected.file, &got.file);
    // The MBRs of dense fragments depend on the domain.
    let domains =
        [expected, got].map(|side| side.schema.dimensions().iter().map(Dimension::domain).collect::<Vec<_>>());
    if domains[0] == domains[1] && theirs.contents.rtree != ours.contents.rtree {
        return Some("R-trees differ".to_owned());
    }
    let footer = &theirs.footer;
    for (slot, field) in footer.slots().iter().enumerate() {
        let rules = StatisticsRules::new(footer, &expected.schema, field)?;
        let [a, b] = [theirs, ours].map(|file| &file.contents.fields[slot]);
        if a.tile_var_sizes != b.tile_var_sizes {
            return Some(format!("var sizes of {field} differ"));
        }
        for tile in 0..footer.tile_count() {
            let known = a.statistics.tile(tile, footer.tiles(), &rules);
            if let Some(what) = other_statistic(&known, [&a.statistics, &b.statistics].map(|all| raw(all, tile))) {
                return Some(format!("{what} of tile {tile} of {field}: {known:?}"));
            }
        }
        let totals = [theirs, ours].map(|file| &file.contents.fragment_statistics.0[slot]);
        let known = totals[0].judge(footer.tiles(), &rules);
        let raw = totals.map(|of| ([Some(&*of.min), Some(&*of.max)], [Some(of.sum), Some(of.null_count)]));
        if let Some(what) = other_statistic(&known, raw) {
            return Some(format!("{what} of {field}: {known:?}"));
        }
    }
    None
}

type Raw<'a> = ([Option<&'a [u8]>; 2], [Option<u64>; 2]);

fn raw(statistics: &TileStatistics, tile: u64) -> Raw<'_> {
    let at = |values: &[u64]| usize::try_from(tile).ok().and_then(|tile| values.get(tile).copied());
    let bounds = [&statistics.mins, &statistics.maxs].map(|values| values.get(tile));
    (bounds, [at(&statistics.sums), at(&statistics.null_counts)])
}

/// Returns the name of a statistic that differs although the library's value can be trusted.
fn other_statistic(known: &ValueStatistics<'_>, [theirs, ours]: [Raw<'_>; 2]) -> Option<&'static str> {
    // For several NaNs, the compiler determines which NaN the sum becomes.
    let is_nan = |bits: Option<u64>| bits.is_some_and(|bits| f64::from_bits(bits).is_nan());
    let of_nans = matches!(known.sum.stored(), Some(Sum::F64(_))) && is_nan(theirs.1[0]) && is_nan(ours.1[0]);
    let values = [
        ("min", theirs.0[0] != ours.0[0] && known.min.trusted().is_some()),
        ("max", theirs.0[1] != ours.0[1] && known.max.trusted().is_some()),
        ("sum", theirs.1[0] != ours.1[0] && !of_nans && known.sum.trusted().is_some()),
        ("null count", theirs.1[1] != ours.1[1] && known.null_count.trusted().is_some()),
    ];
    values.into_iter().find(|(_, differs)| *differs).map(|(what, _)| what)
}
