//! LZ4: a raw block, without frame and size.

mod block;

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

use crate::FilterError;

const FILTER: &str = "lz4";

/// The encoder's tables.
///
/// The part's length alone selects the table, so that the output is reproducible. With a shared
/// table, the encoder would keep using the large table once allocated.
#[derive(Default)]
pub(crate) struct Context {
    small: Option<CompressTable>,
    large: Option<CompressTable>,
}

impl Context {
    pub(crate) fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        let table = if input.len() < usize::from(u16::MAX) {
            self.small.get_or_insert_with(CompressTable::small)
        } else {
            self.large.get_or_insert_with(CompressTable::large)
        };
        let start = out.len();
        out.resize(start + get_maximum_output_size(input.len()), 0);
        let written = compress_into_with_table(input, &mut out[start..], table)
            .map_err(|error| FilterError::Encoder { filter: FILTER, message: error.to_string() })?;
        out.truncate(start + written);
        Ok(())
    }
}

pub(crate) fn decode(input: &[u8], out: &mut [u8]) -> Result<(), FilterError> {
    let what = "not an LZ4 block of the stated length";
    block::decode(input, out).ok_or(FilterError::Corrupt { filter: FILTER, what })
}
