//! Run-length encoding of strings: for each run the count, the string's length, and the string.

use crate::FilterError;
use crate::flow::Metadata;
use crate::stage::strings::{Cells, Entry, Header, Strings, Width};

pub(crate) const FILTER: &str = "rle";

pub(crate) fn decode(header: &Header, mut data: &[u8], strings: &mut Strings<'_>) -> Result<(), FilterError> {
    while !data.is_empty() {
        let lengths = header.count_width.take(&mut data).zip(header.length_width.take(&mut data));
        let Some((run, length)) = lengths else { return corrupt("the last run is truncated") };
        let string = usize::try_from(length).ok().and_then(|length| Entry::at_start(data, length));
        let Some(string) = string else { return corrupt("the parts are longer than the data") };
        data = &data[string.len()..];
        strings.push(string, run, FILTER)?;
    }
    Ok(())
}

// Cold, to avoid the construction of an error for each run.
#[cold]
fn corrupt<T>(what: &'static str) -> Result<T, FilterError> {
    Err(FilterError::Corrupt { filter: FILTER, what })
}

pub(crate) fn encode(cells: Cells<'_>, meta: &mut Metadata<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let start = out.len();
    // Most runs and strings are short. Encoding starts with one byte per length, and restarts if a
    // length does not fit.
    let mut header = Header { count_width: Width::One, length_width: Width::One };
    let needed = put_runs(cells, &header, out);
    if needed != header {
        out.truncate(start);
        header = needed;
        put_runs(cells, &header, out);
    }
    meta.clear();
    meta.add(|bytes| header.write(bytes, cells, out.len() - start))
}

/// Appends all runs with the length widths of `header`, and returns the widths needed.
fn put_runs(cells: Cells<'_>, header: &Header, out: &mut Vec<u8>) -> Header {
    let (mut longest_run, mut longest_string) = (0, 0);
    for (string, run) in runs(cells) {
        longest_run = longest_run.max(run);
        // The reference library ignores the last run here and may fail to read its own output.
        longest_string = longest_string.max(string.len());
        header.count_width.put(run, out);
        header.length_width.put(string.len(), out);
        out.extend_from_slice(string);
    }
    Header { count_width: Width::of(longest_run), length_width: Width::of(longest_string) }
}

/// Iterates over runs of equal strings, with their counts.
fn runs<'a>(cells: Cells<'a>) -> impl Iterator<Item = (&'a [u8], usize)> {
    let mut strings = cells.entries();
    let mut next: Option<Entry<'a>> = strings.next();
    std::iter::from_fn(move || {
        let string = next.take()?;
        let mut run = 1;
        for other in strings.by_ref() {
            if other != string {
                next = Some(other);
                break;
            }
            run += 1;
        }
        Some((string.string, run))
    })
}
