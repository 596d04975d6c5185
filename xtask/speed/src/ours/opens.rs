//! Opens arrays and loads all fragments, as the library does.

use tdb_array::ArrayOptions;
use tdb_reference::{Stopwatch, TimedReads, peak_memory, reset_peak_memory};

use crate::digest;
use crate::outcome::Result;
use crate::task::Request;

pub fn work(request: &Request) -> Result<TimedReads> {
    let options = ArrayOptions::new().threads(request.threads);
    let warm = options.open(&request.uri)?;
    let fragments = warm.fragments()?.iter().map(|fragment| (fragment.folder().to_owned(), fragment.cell_count()));
    let mut timed = TimedReads { digest: digest::of_fragments(fragments), ..TimedReads::default() };
    drop(warm);
    if request.digest {
        return Ok(timed);
    }
    reset_peak_memory();
    for _ in 0..request.repeats {
        let start = Stopwatch::start();
        let array = options.open(&request.uri)?;
        timed.cells = array.fragments()?.len();
        drop(array);
        timed.reads.push(start.taken(start.seconds(), 0));
    }
    timed.peak_memory = peak_memory();
    Ok(timed)
}
