//! The frame around every filter of the compression family.
//!
//! A compressor packs all earlier metadata into the data. The metadata then are:
//!
//! | bytes | field |
//! | --- | --- |
//! | `u32` | metadata parts |
//! | `u32` | data parts |
//! | per part, metadata first: `u32` | uncompressed length |
//! | `u32` | compressed length |
//!
//! The data are the compressed parts in the same order.

use tdb_types::ByteReader;

use crate::FilterError;
use crate::flow::{Metadata, Sink, finish, put_u32, room, split, split_mut};
use crate::stage::{Codec, Contexts, Tail};

const FILTER: &str = "compressor";
/// Two `u32`, in bytes.
const PART_LEN: u64 = 8;

/// The header of the frame.
struct Header<'a> {
    pairs: ByteReader<'a>,
    metadata_parts: u32,
    /// Total uncompressed length of the metadata parts, in bytes.
    metadata: u64,
    /// Total uncompressed length of the data parts, in bytes.
    data: u64,
}

impl<'a> Header<'a> {
    fn read(meta: &mut ByteReader<'a>) -> Result<Self, FilterError> {
        let metadata_parts = meta.u32("number of compressed metadata parts")?;
        let data_parts = meta.u32("number of compressed data parts")?;
        let parts = u64::from(metadata_parts) + u64::from(data_parts);
        meta.count("compressed parts", parts, PART_LEN)?;
        let pairs = meta.sub("compressed parts", parts * PART_LEN)?;
        // A compressor packs all earlier metadata, so no metadata follow.
        meta.clone().finish("metadata of a compressor")?;
        let mut reader = pairs.clone();
        let mut sizes = [0; 2];
        for part in 0..parts {
            let original = reader.u32("uncompressed length")?;
            reader.u32("compressed length")?;
            // Cannot overflow: each sum has less than 2³² parts of less than 2³² bytes.
            sizes[usize::from(part >= u64::from(metadata_parts))] += u64::from(original);
        }
        Ok(Self { pairs, metadata_parts, metadata: sizes[0], data: sizes[1] })
    }
}

/// Decodes all parts, with the data into `sink` and earlier metadata into `earlier`. Returns the
/// length of the earlier metadata. `tail` applies to metadata parts only. A data part that
/// lost its last bytes is rejected, because these bytes are unknown.
pub(crate) fn decode(
    (codec, tail): (Codec, Tail),
    meta: &mut ByteReader<'_>,
    mut data: &[u8],
    sink: &mut Sink<'_>,
    (earlier, budget): (&mut Vec<u8>, u64),
    contexts: &mut Contexts,
) -> Result<usize, FilterError> {
    let mut header = Header::read(meta)?;
    let mut metadata_out = room(earlier, header.metadata, budget)?;
    let earlier_len = metadata_out.len();
    let mut data_out = sink.take(header.data)?;
    let mut part: u32 = 0;
    while header.pairs.remaining() > 0 {
        let original = u64::from(header.pairs.u32("uncompressed length")?);
        let compressed = u64::from(header.pairs.u32("compressed length")?);
        let input = split(&mut data, FILTER, compressed)?;
        let (out, tail) =
            if part < header.metadata_parts { (&mut metadata_out, tail) } else { (&mut data_out, Tail::Refused) };
        codec.decode_part(input, split_mut(out, FILTER, original)?, tail, contexts)?;
        part = part.saturating_add(1);
    }
    finish(data, FILTER)?;
    Ok(earlier_len)
}

/// Encodes earlier metadata and data. The header of the frame becomes the only metadata.
pub(crate) fn encode(
    codec: Codec,
    meta: &mut Metadata<'_>,
    data: Option<&[u8]>,
    out: &mut Vec<u8>,
    contexts: &mut Contexts,
) -> Result<(), FilterError> {
    let metadata_parts = meta.parts();
    let mut header = Vec::with_capacity(8 + 8 * (metadata_parts + 1));
    put_u32(&mut header, "number of metadata parts", metadata_parts)?;
    put_u32(&mut header, "number of data parts", data.iter().len())?;
    for part in meta.latest_first().chain(data) {
        let start = out.len();
        codec.encode_part(part, out, contexts)?;
        put_u32(&mut header, "length of a part", part.len())?;
        put_u32(&mut header, "compressed length of a part", out.len() - start)?;
    }
    meta.clear();
    meta.add(|bytes| {
        bytes.extend_from_slice(&header);
        Ok(())
    })
}
