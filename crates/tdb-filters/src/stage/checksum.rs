//! Checksums: a digest of each metadata and data part, stored with the unchanged data.
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | metadata parts |
//! | `u32` | data parts |
//! | per part, metadata first: `u64` | length |
//! | 16 or 32 bytes | digest |
//!
//! Earlier metadata follow.

mod md5_lanes;

use md5::{Digest, Md5};
use sha2::Sha256;
use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, finish, put_u32, split};
pub(crate) use md5_lanes::{LANES, digests};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Md5,
    Sha256,
}

impl Algorithm {
    fn filter(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha256 => "sha256",
        }
    }

    fn digest_len(self) -> u64 {
        match self {
            Self::Md5 => 16,
            Self::Sha256 => 32,
        }
    }

    fn matches(self, bytes: &[u8], digest: &[u8], known: Option<[u8; 16]>) -> bool {
        match self {
            Self::Md5 => known.unwrap_or_else(|| Md5::digest(bytes).into()) == digest,
            Self::Sha256 => Sha256::digest(bytes).as_slice() == digest,
        }
    }

    fn put(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Md5 => out.extend_from_slice(&Md5::digest(bytes)),
            Self::Sha256 => out.extend_from_slice(&Sha256::digest(bytes)),
        }
    }

    /// Reads the header from the front of `meta`. With `verify`, compares the digests of the
    /// following metadata and of `data`. `known` is the digest of all of `data`, if already
    /// computed.
    pub(crate) fn decode(
        self,
        meta: &mut ByteReader<'_>,
        mut data: &[u8],
        verify: bool,
        known: Option<[u8; 16]>,
    ) -> Result<(), FilterError> {
        let metadata_parts = meta.u32("number of metadata digests")?;
        let data_parts = meta.u32("number of data digests")?;
        let parts = u64::from(metadata_parts) + u64::from(data_parts);
        let mut digests = meta.sub("digests", parts * (8 + self.digest_len()))?;
        if !verify {
            return Ok(());
        }
        let mut metadata = meta.rest();
        for _ in 0..metadata_parts {
            self.verify(&mut digests, &mut metadata, "metadata", None)?;
        }
        for _ in 0..data_parts {
            let known = known.filter(|_| data_parts == 1);
            self.verify(&mut digests, &mut data, "data", known)?;
        }
        // Bytes without a digest would be unverified.
        finish(metadata, self.filter())?;
        finish(data, self.filter())
    }

    fn verify(
        self,
        digests: &mut ByteReader<'_>,
        bytes: &mut &[u8],
        part: &'static str,
        known: Option<[u8; 16]>,
    ) -> Result<(), FilterError> {
        let len = digests.u64("length of a part")?;
        let digest = digests.bytes("digest", self.digest_len())?;
        let filter = self.filter();
        // The known digest covers the entire data.
        let known = known.filter(|_| bytes.len() as u64 == len);
        let part_bytes = split(bytes, filter, len)?;
        if self.matches(part_bytes, digest, known) {
            Ok(())
        } else {
            Err(FilterError::ChecksumMismatch { filter, part })
        }
    }

    /// Adds the digests of the metadata so far and of the data. `known` is the digest of the data,
    /// if already computed.
    pub(crate) fn encode(
        self,
        meta: &mut Metadata<'_>,
        data: Option<&[u8]>,
        known: Option<[u8; 16]>,
    ) -> Result<(), FilterError> {
        let mut header = Vec::new();
        put_u32(&mut header, "number of metadata parts", meta.parts())?;
        put_u32(&mut header, "number of data parts", data.iter().len())?;
        for part in meta.latest_first() {
            header.extend_from_slice(&(part.len() as u64).to_le_bytes());
            self.put(part, &mut header);
        }
        if let Some(data) = data {
            header.extend_from_slice(&(data.len() as u64).to_le_bytes());
            match known {
                Some(digest) => header.extend_from_slice(&digest),
                None => self.put(data, &mut header),
            }
        }
        meta.add(|bytes| {
            bytes.extend_from_slice(&header);
            Ok(())
        })
    }
}
