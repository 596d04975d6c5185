//! Filters that encode entire strings and their offsets.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::Metadata;
use crate::stage::strings::{Cells, Header, Strings};
use crate::stage::{dictionary, string_rle};

/// A filter that encodes entire strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StringCodec {
    Rle,
    Dictionary,
}

impl StringCodec {
    pub(crate) const fn filter(self) -> &'static str {
        match self {
            Self::Rle => string_rle::FILTER,
            Self::Dictionary => dictionary::FILTER,
        }
    }

    /// Decodes a chunk of strings.
    pub(crate) fn decode(
        self,
        meta: &mut ByteReader<'_>,
        data: &[u8],
        strings: &mut Strings<'_>,
    ) -> Result<(), FilterError> {
        let header = Header::read(meta, data, strings, self.filter())?;
        match self {
            Self::Rle => string_rle::decode(&header, data, strings)?,
            Self::Dictionary => dictionary::decode(&header, meta, data, strings)?,
        }
        meta.clone().finish("metadata of strings")?;
        Ok(())
    }

    /// Encodes a chunk of strings.
    pub(crate) fn encode(
        self,
        cells: Cells<'_>,
        meta: &mut Metadata<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), FilterError> {
        match self {
            Self::Rle => string_rle::encode(cells, meta, out),
            Self::Dictionary => dictionary::encode(cells, meta, out),
        }
    }
}
