//! Opens arrays and loads all fragments, as the library does.

use tdb_array::ArrayOptions;
use tdb_reference::{Stopwatch, TimedReads, repeated};

use crate::digest;
use crate::outcome::Result;
use crate::task::Request;

pub fn work(request: &Request) -> Result<TimedReads> {
    let options = ArrayOptions::new().threads(request.threads);
    let warm = options.open(&request.uri)?;
    let fragments = warm.fragments()?.iter().map(|fragment| (fragment.folder().to_owned(), fragment.cell_count()));
    let digest = digest::of_fragments(fragments);
    drop(warm);
    if request.digest {
        return Ok(TimedReads { digest, ..TimedReads::default() });
    }
    let mut cells = 0;
    let opened = repeated(request.repeats, || -> Result<_> {
        let start = Stopwatch::start();
        cells = options.open(&request.uri)?.fragments()?.len();
        Ok(start.taken(start.seconds(), 0))
    })?;
    Ok(TimedReads { cells, digest, ..opened })
}
