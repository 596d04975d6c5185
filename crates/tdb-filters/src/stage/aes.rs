//! AES-256 in Galois/counter mode without associated data, the last filter of encrypted tiles.
//!
//! The only remaining metadata are:
//!
//! | metadata | field |
//! | --- | --- |
//! | `u32` | metadata parts |
//! | `u32` | data parts |
//! | per part, metadata first: `u32` | length before encryption |
//! | `u32` | length after encryption, the same number |
//! | 12 bytes | IV |
//! | 16 bytes | authentication tag |
//!
//! The data are the encrypted parts in the same order.

use std::fmt;
use std::sync::Arc;

use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes256Gcm, KeyInit};
use tdb_types::ByteReader;

use crate::flow::{Metadata, Sink, finish, put_u32, room, split, split_mut};
use crate::ivs::IvSource;
use crate::{EncryptionKey, FilterError};

const FILTER: &str = "aes_256_gcm";
/// Two `u32`, IV and tag, in bytes.
const PART_LEN: u64 = 8 + IV_LEN + TAG_LEN;
const IV_LEN: u64 = 12;
const TAG_LEN: u64 = 16;

/// The cipher with an array's key.
#[derive(Clone)]
pub(crate) struct Cipher(Arc<Aes256Gcm>);

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher(…)")
    }
}

/// The header of a part.
struct Part<'a> {
    len: u64,
    iv: &'a [u8],
    tag: &'a [u8],
}

/// The header of the encrypted data.
struct Header<'a> {
    parts: ByteReader<'a>,
    metadata_parts: u32,
    /// Total length of the metadata parts, in bytes.
    metadata: u64,
    /// Total length of the data parts, in bytes.
    data: u64,
}

impl<'a> Header<'a> {
    fn read(meta: &mut ByteReader<'a>) -> Result<Self, FilterError> {
        let metadata_parts = meta.u32("number of encrypted metadata parts")?;
        let data_parts = meta.u32("number of encrypted data parts")?;
        let count = u64::from(metadata_parts) + u64::from(data_parts);
        meta.count("encrypted parts", count, PART_LEN)?;
        let parts = meta.sub("encrypted parts", count * PART_LEN)?;
        // Encryption packs all earlier metadata, so no metadata follow.
        meta.clone().finish("metadata of the encryption")?;
        let mut header = Self { parts: parts.clone(), metadata_parts, metadata: 0, data: 0 };
        for index in 0..count {
            let len = header.part()?.len;
            // Cannot overflow: each sum has less than 2³² parts of less than 2³² bytes.
            *(if index < u64::from(metadata_parts) { &mut header.metadata } else { &mut header.data }) += len;
        }
        header.parts = parts;
        Ok(header)
    }

    fn part(&mut self) -> Result<Part<'a>, FilterError> {
        let len = u64::from(self.parts.u32("length before encryption")?);
        if u64::from(self.parts.u32("length after encryption")?) != len {
            return Err(FilterError::Corrupt {
                filter: FILTER,
                what: "the lengths before and after encryption differ",
            });
        }
        Ok(Part { len, iv: self.parts.bytes("IV", IV_LEN)?, tag: self.parts.bytes("authentication tag", TAG_LEN)? })
    }
}

impl Cipher {
    pub(crate) fn new(key: &EncryptionKey) -> Self {
        Self(Arc::new(Aes256Gcm::new(key.as_bytes().into())))
    }

    /// Decrypts all parts, with the data into `sink` and earlier metadata into `earlier`. Returns
    /// the length of the earlier metadata.
    pub(crate) fn decode(
        &self,
        meta: &mut ByteReader<'_>,
        mut data: &[u8],
        sink: &mut Sink<'_>,
        (earlier, budget): (&mut Vec<u8>, u64),
    ) -> Result<usize, FilterError> {
        let mut header = Header::read(meta)?;
        let mut metadata_out = room(earlier, header.metadata, budget)?;
        let earlier_len = metadata_out.len();
        let mut data_out = sink.take(header.data)?;
        let mut index: u32 = 0;
        while header.parts.remaining() > 0 {
            let part = header.part()?;
            let input = split(&mut data, FILTER, part.len)?;
            let is_metadata = index < header.metadata_parts;
            let out = if is_metadata { &mut metadata_out } else { &mut data_out };
            self.decrypt(input, &part, split_mut(out, FILTER, part.len)?)?;
            index = index.saturating_add(1);
        }
        finish(data, FILTER)?;
        Ok(earlier_len)
    }

    fn decrypt(&self, input: &[u8], part: &Part<'_>, out: &mut [u8]) -> Result<(), FilterError> {
        let failed = FilterError::NotAuthentic { filter: FILTER };
        let (Ok(iv), Ok(tag)) = (part.iv.try_into(), part.tag.try_into()) else { return Err(failed) };
        let Ok(buffer) = InOutBuf::new(input, out) else { return Err(failed) };
        self.0.decrypt_inout_detached(iv, &[], buffer, tag).map_err(|_| failed)
    }

    /// Encrypts earlier metadata and data. The header becomes the only metadata.
    pub(crate) fn encode(
        &self,
        meta: &mut Metadata<'_>,
        data: Option<&[u8]>,
        out: &mut Vec<u8>,
        ivs: &mut IvSource,
    ) -> Result<(), FilterError> {
        let metadata_parts = meta.parts();
        let mut header = Vec::with_capacity(8 + PART_LEN as usize * (metadata_parts + 1));
        put_u32(&mut header, "number of metadata parts", metadata_parts)?;
        put_u32(&mut header, "number of data parts", data.iter().len())?;
        for part in meta.latest_first().chain(data) {
            let iv = ivs.next().ok_or(FilterError::IvsRequired)?;
            let start = out.len();
            out.extend_from_slice(part);
            let buffer = InOutBuf::from(&mut out[start..]);
            let tag = self.0.encrypt_inout_detached((&iv).into(), &[], buffer).map_err(|error| {
                let message = error.to_string();
                FilterError::Encoder { filter: FILTER, message }
            })?;
            put_u32(&mut header, "length of a part", part.len())?;
            put_u32(&mut header, "encrypted length of a part", part.len())?;
            header.extend_from_slice(&iv);
            header.extend_from_slice(&tag);
        }
        meta.clear();
        meta.add(|bytes| {
            bytes.extend_from_slice(&header);
            Ok(())
        })
    }
}
