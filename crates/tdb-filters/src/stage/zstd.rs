//! Zstandard: one frame per part, with content size and without checksum.

use zstd::bulk::{Compressor, Decompressor};

use crate::FilterError;

const FILTER: &str = "zstd";
/// Levels below this mean the default.
const MIN_LEVEL: i32 = -7;

/// Reusable contexts, which save a third of the time on chunks of 64 KiB.
#[derive(Default)]
pub(crate) struct Context {
    decompressor: Option<Decompressor<'static>>,
    compressor: Option<(i32, Compressor<'static>)>,
}

impl Context {
    pub(crate) fn decode(&mut self, input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new().map_err(|error| encoder(&error))?),
        };
        match decompressor.decompress_to_buffer(input, out) {
            Ok(len) if len == out.len() => Ok(()),
            _ => Err(FilterError::Corrupt { filter: FILTER, what: "not a zstd frame of the stated length" }),
        }
    }

    pub(crate) fn encode(&mut self, level: i32, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        let compressor = match &mut self.compressor {
            Some((of, compressor)) if *of == level => compressor,
            other => &mut other.insert((level, compressor(level)?)).1,
        };
        let start = out.len();
        out.resize(start + zstd::zstd_safe::compress_bound(input.len()), 0);
        let written = compressor.compress_to_buffer(input, &mut out[start..]).map_err(|error| encoder(&error))?;
        out.truncate(start + written);
        Ok(())
    }
}

/// Level -1 is a distinct level, unlike in other codecs. Zstd clamps levels above the maximum.
fn compressor(level: i32) -> Result<Compressor<'static>, FilterError> {
    let level = if level < MIN_LEVEL { zstd::DEFAULT_COMPRESSION_LEVEL } else { level };
    Compressor::new(level).map_err(|error| encoder(&error))
}

fn encoder(error: &std::io::Error) -> FilterError {
    FilterError::Encoder { filter: FILTER, message: error.to_string() }
}
