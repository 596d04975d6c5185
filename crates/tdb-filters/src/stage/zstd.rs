//! Zstandard: one frame per part, with content size and without checksum.

use std::io;

use zstd::bulk::{Compressor, Decompressor};

use crate::FilterError;

const FILTER: &str = "zstd";
/// Levels below this mean the default.
const MIN_LEVEL: i32 = -7;

/// Reusable contexts, which save a third of the time on chunks of 64 KiB.
#[derive(Default)]
pub(crate) struct Context {
    decompressor: Option<Decompressor<'static>>,
    /// A level and the compressor for it. As a function, because dropping a [`Compressor`] would
    /// link the encoder into programs that only read, such as the package for browsers.
    compressor: Option<(i32, Box<Compress>)>,
}

/// Compresses bytes, and returns the compressed size.
type Compress = dyn FnMut(&[u8], &mut [u8]) -> io::Result<usize> + Send;

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
        let compress = match &mut self.compressor {
            Some((of, compress)) if *of == level => compress,
            other => &mut other.insert((level, compressor(level)?)).1,
        };
        let start = out.len();
        out.resize(start + zstd::zstd_safe::compress_bound(input.len()), 0);
        let written = compress(input, &mut out[start..]).map_err(|error| encoder(&error))?;
        out.truncate(start + written);
        Ok(())
    }
}

/// Level -1 is a distinct level, unlike in other codecs. Zstd clamps levels above the maximum.
fn compressor(level: i32) -> Result<Box<Compress>, FilterError> {
    let level = if level < MIN_LEVEL { zstd::DEFAULT_COMPRESSION_LEVEL } else { level };
    let mut compressor = Compressor::new(level).map_err(|error| encoder(&error))?;
    Ok(Box::new(move |input, out| compressor.compress_to_buffer(input, out)))
}

fn encoder(error: &io::Error) -> FilterError {
    FilterError::Encoder { filter: FILTER, message: error.to_string() }
}
