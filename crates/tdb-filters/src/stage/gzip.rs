//! The filter called gzip in the format: a zlib stream (RFC 1950).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::FilterError;

const FILTER: &str = "gzip";
const MAX_LEVEL: i32 = 9;

/// Reusable streams.
#[derive(Default)]
pub(crate) struct Context {
    inflate: Option<Decompress>,
    deflate: Option<(i32, Compress)>,
}

impl Context {
    pub(crate) fn decode(&mut self, input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        let corrupt = FilterError::Corrupt { filter: FILTER, what: "not a zlib stream of the stated length" };
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(true));
        inflate.reset(true);
        // Even an empty stream has an end marker, and the decoder needs output space to reach it.
        let expected = out.len();
        let mut nothing = [0];
        let out = if out.is_empty() { &mut nothing[..] } else { out };
        match inflate.decompress(input, out, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) if inflate.total_out() == expected as u64 => Ok(()),
            _ => Err(corrupt),
        }
    }

    pub(crate) fn encode(&mut self, level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        let deflate = match &mut self.deflate {
            Some((of, deflate)) if *of == level => {
                deflate.reset();
                deflate
            }
            other => &mut other.insert((level, Compress::new(compression(level)?, true))).1,
        };
        out.reserve(bound(input.len()));
        match deflate.compress_vec(input, out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => Ok(()),
            other => Err(FilterError::Encoder { filter: FILTER, message: format!("{other:?}") }),
        }
    }
}

fn compression(level: i32) -> Result<Compression, FilterError> {
    match u32::try_from(level) {
        Err(_) => Ok(Compression::default()),
        Ok(number) if level <= MAX_LEVEL => Ok(Compression::new(number)),
        Ok(number) => Err(FilterError::InvalidOption {
            filter: FILTER,
            option: "level",
            found: number.to_string(),
            expected: "at most 9",
        }),
    }
}

/// Returns the maximum length of a zlib stream, in bytes. For incompressible bytes, the fastest
/// level uses 9 bits per byte. Other levels store them unchanged, with a few bytes per block.
fn bound(len: usize) -> usize {
    len + len / 8 + 128
}
