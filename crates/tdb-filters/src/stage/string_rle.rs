//! Run lengths of strings: for each run of equal strings its length, the string's length, and the string.

use crate::FilterError;
use crate::flow::Metadata;
use crate::stage::strings::{Cells, Header, Strings, Width};

pub(crate) const FILTER: &str = "rle";

pub(crate) fn decode(header: &Header, mut data: &[u8], strings: &mut Strings<'_>) -> Result<(), FilterError> {
    let cut = FilterError::Corrupt { filter: FILTER, what: "the last run is cut off" };
    while !data.is_empty() {
        let run = header.count_width.take(&mut data).ok_or_else(|| cut.clone())?;
        let length = header.length_width.take(&mut data).ok_or_else(|| cut.clone())?;
        let string = crate::flow::split(&mut data, FILTER, length)?;
        strings.push(string, run, FILTER)?;
    }
    Ok(())
}

pub(crate) fn encode(cells: Cells<'_>, meta: &mut Metadata<'_>, out: &mut Vec<u8>) -> Result<(), FilterError> {
    let (mut longest_run, mut longest_string) = (0, 0);
    for (string, run) in runs(cells) {
        longest_run = run.max(longest_run);
        // The reference library forgets the last run here, and can then not read what it wrote.
        longest_string = string.len().max(longest_string);
    }
    let header = Header { count_width: Width::of(longest_run), length_width: Width::of(longest_string) };
    let start = out.len();
    for (string, run) in runs(cells) {
        header.count_width.put(run, out);
        header.length_width.put(string.len(), out);
        out.extend_from_slice(string);
    }
    meta.clear();
    meta.add(|bytes| header.write(bytes, cells, out.len() - start))
}

/// Each string that differs from the one before, and how many times it comes.
fn runs<'a>(cells: Cells<'a>) -> impl Iterator<Item = (&'a [u8], usize)> {
    let mut strings = cells.iter().peekable();
    std::iter::from_fn(move || {
        let string = strings.next()?;
        let mut run = 1;
        while strings.next_if(|&next| next == string).is_some() {
            run += 1;
        }
        Some((string, run))
    })
}
