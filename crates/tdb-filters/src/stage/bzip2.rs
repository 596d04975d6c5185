//! Bzip2: one stream per part.

use bzip2::{Action, Compress, Compression, Decompress, Status};

use tdb_types::saturating_len;

use crate::FilterError;

const FILTER: &str = "bzip2";
const MAX_LEVEL: u32 = 9;

pub(crate) fn decode(input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    let corrupt = FilterError::Corrupt { filter: FILTER, what: "not a bzip2 stream of the stated length" };
    let mut stream = Decompress::new(false);
    let expected = out.len() as u64;
    let mut status = stream.decompress(input, out).map_err(|_| corrupt.clone())?;
    if status == Status::Ok {
        // The last block is complete, but the decoder had no room to check the end of the stream.
        let used = saturating_len(stream.total_in());
        let rest = input.get(used..).unwrap_or_default();
        status = stream.decompress(rest, &mut [0]).map_err(|_| corrupt.clone())?;
    }
    if status == Status::StreamEnd && stream.total_out() == expected { Ok(()) } else { Err(corrupt) }
}

pub(crate) fn encode(level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
    // Levels below 1 mean 1.
    let level = u32::try_from(level).unwrap_or(1).max(1);
    if level > MAX_LEVEL {
        return Err(FilterError::InvalidOption {
            filter: FILTER,
            option: "level",
            found: level.to_string(),
            expected: "at most 9",
        });
    }
    let mut stream = Compress::new(Compression::new(level), 0);
    // A bzip2 stream exceeds the input by at most 1% and 600 bytes.
    out.reserve(input.len() + input.len() / 100 + 600);
    match stream.compress_vec(input, out, Action::Finish) {
        Ok(Status::StreamEnd) => Ok(()),
        other => Err(FilterError::Encoder { filter: FILTER, message: format!("{other:?}") }),
    }
}
