//! Execution of all filters of a pipeline on one chunk.
//!
//! Decoding reads the file's bytes in place, alternates between two buffers, and ends in the
//! caller's memory. A pipeline with a single filter therefore makes no extra copy.

use std::mem::swap;

use tdb_types::ByteReader;

use crate::FilterError;
use crate::chunk::ChunkHeader;
use crate::flow::{Metadata, Sink};
use crate::scratch::Between;
use crate::stage::string_codec::StringCodec;
use crate::stage::strings::{Cells, Strings};
use crate::stage::{Effect, Stage, Tail, frame};

/// A chunk as stored in the file.
#[derive(Debug)]
pub(crate) struct Filtered<'a> {
    pub(crate) metadata: ByteReader<'a>,
    pub(crate) data: &'a [u8],
}

/// The location of a chunk's data during decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    File,
    /// The first bytes of the front buffer, up to this length.
    Front(usize),
    /// The caller's memory.
    Out,
}

/// Settings for decoding a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding<'a> {
    /// All filters, in pipeline order.
    pub(crate) stages: &'a [Stage],
    /// `true` if checksums are compared.
    #[cfg_attr(not(feature = "checksum"), allow(dead_code))]
    pub(crate) verify: bool,
    /// Maximum number of bytes between two filters.
    pub(crate) budget: u64,
    /// The MD5 digest of the stored data, if already computed.
    #[cfg_attr(not(feature = "checksum"), allow(dead_code))]
    pub(crate) known: Option<[u8; 16]>,
}

impl Decoding<'_> {
    /// Decodes a chunk into `out` and overwrites every byte.
    pub(crate) fn bytes(self, chunk: Filtered<'_>, out: &mut [u8], between: &mut Between) -> Result<(), FilterError> {
        let first_writer = self.stages.iter().position(Stage::rewrites);
        let mut unwinding = Unwinding::new(self, chunk, between);
        for (index, stage) in self.stages.iter().enumerate().rev() {
            let last = Some(index) == first_writer;
            unwinding.step(stage, Some(&mut *out), last)?;
        }
        match unwinding.place {
            Place::Out => Ok(()),
            Place::File | Place::Front(_) => Sink::Final(out).put(unwinding.data()),
        }?;
        unwinding.metadata().finish("metadata of the chunk")?;
        Ok(())
    }

    /// Decodes a chunk of strings. The first filter `codec` is not among the stages.
    pub(crate) fn strings(
        self,
        codec: StringCodec,
        chunk: Filtered<'_>,
        strings: &mut Strings<'_>,
        between: &mut Between,
    ) -> Result<(), FilterError> {
        let mut unwinding = Unwinding::new(self, chunk, between);
        for stage in self.stages.iter().rev() {
            unwinding.step(stage, None, false)?;
        }
        codec.decode(&mut unwinding.metadata(), unwinding.data(), strings)
    }
}

/// A chunk during decoding.
struct Unwinding<'f, 'b> {
    decoding: Decoding<'b>,
    file: &'f [u8],
    /// The metadata in the file, or `None` once they are in the front buffer for metadata.
    file_metadata: Option<ByteReader<'f>>,
    /// The unread part of the front buffer for metadata.
    front_metadata: std::ops::Range<usize>,
    place: Place,
    between: &'b mut Between,
}

impl<'f, 'b> Unwinding<'f, 'b> {
    fn new(decoding: Decoding<'b>, chunk: Filtered<'f>, between: &'b mut Between) -> Self {
        let Filtered { metadata, data } = chunk;
        Self { decoding, file: data, file_metadata: Some(metadata), front_metadata: 0..0, place: Place::File, between }
    }

    /// Returns the data, unless they were decoded into the caller's memory.
    fn data(&self) -> &[u8] {
        match self.place {
            Place::Front(len) => &self.between.front[..len],
            Place::File | Place::Out => self.file,
        }
    }

    fn metadata(&self) -> ByteReader<'_> {
        match &self.file_metadata {
            Some(reader) => reader.clone(),
            None => ByteReader::new(&self.between.meta_front[self.front_metadata.clone()]),
        }
    }

    /// Reverses one filter. If `last` is `true`, no later step rewrites the data, so the filter
    /// writes into `out`.
    fn step(&mut self, stage: &Stage, out: Option<&mut [u8]>, last: bool) -> Result<(), FilterError> {
        let Between { front, back, meta_front, meta_back, contexts, .. } = &mut *self.between;
        let mut metadata = match &self.file_metadata {
            Some(reader) => reader.clone(),
            None => ByteReader::new(&meta_front[self.front_metadata.clone()]),
        };
        #[cfg(feature = "checksum")]
        if let Stage::Checksum(algorithm) = stage {
            let data = match (self.place, &out) {
                (Place::Out, Some(out)) => out,
                (Place::Front(len), _) => &front[..len],
                _ => self.file,
            };
            let known = self.decoding.known.filter(|_| self.place == Place::File);
            algorithm.decode(&mut metadata, data, self.decoding.verify, known)?;
            let left = metadata.remaining();
            self.keep_metadata(left);
            return Ok(());
        }
        let data = match self.place {
            Place::Front(len) => &front[..len],
            Place::File | Place::Out => self.file,
        };
        let budget = self.decoding.budget;
        // Metadata of strings may end with a dictionary instead of lengths. Lost bytes are then
        // unknown.
        let tail = if out.is_some() { Tail::Zeros } else { Tail::Refused };
        let mut sink = match out {
            Some(out) if last => Sink::Final(out),
            _ => Sink::Scratch { buffer: back, budget, taken: 0 },
        };
        let earlier = (&mut *meta_back, budget);
        let packed = match stage {
            Stage::Codec(codec) => {
                Some(frame::decode((*codec, tail), &mut metadata, data, &mut sink, earlier, contexts)?)
            }
            #[cfg(feature = "aes")]
            Stage::Encryption(cipher) => Some(cipher.decode(&mut metadata, data, &mut sink, earlier)?),
            _ => None,
        };
        if let Some(len) = packed {
            self.place = sink.place();
            swap(meta_front, meta_back);
            self.file_metadata = None;
            self.front_metadata = 0..len;
        } else {
            stage.decode(&mut metadata, data, &mut sink)?;
            self.place = sink.place();
            let left = metadata.remaining();
            self.keep_metadata(left);
        }
        if matches!(self.place, Place::Front(_)) {
            swap(&mut self.between.front, &mut self.between.back);
        }
        Ok(())
    }

    /// Drops all metadata except the last `left` bytes, after a filter has consumed its header.
    fn keep_metadata(&mut self, left: usize) {
        match &mut self.file_metadata {
            Some(reader) => {
                let taken = reader.remaining() - left;
                // The bytes exist, because the filter has read them.
                let _ = reader.bytes("metadata", taken as u64);
            }
            None => self.front_metadata.start = self.front_metadata.end - left,
        }
    }
}

impl Sink<'_> {
    /// Returns the location of the data written to this sink.
    fn place(&self) -> Place {
        match self {
            Self::Final(_) => Place::Out,
            Self::Scratch { taken, .. } => Place::Front(*taken),
        }
    }

    /// Copies `data` into the sink.
    fn put(&mut self, data: &[u8]) -> Result<(), FilterError> {
        self.take(data.len() as u64)?.copy_from_slice(data);
        Ok(())
    }
}

/// The input of an encoded chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unfiltered<'a> {
    Bytes(&'a [u8]),
    /// Input of the string codec, which is not among the stages.
    Strings(StringCodec, Cells<'a>),
}

/// Appends a chunk with its header to `out`.
pub(crate) fn encode(
    stages: &[Stage],
    chunk: Unfiltered<'_>,
    out: &mut Vec<u8>,
    between: &mut Between,
) -> Result<(), FilterError> {
    let Between { front, back, meta_front, meta_ends, contexts, .. } = between;
    let mut metadata = Metadata::new(meta_front, meta_ends);
    // Data not rewritten by any filter stay in place.
    let (original, mut in_front) = match chunk {
        Unfiltered::Bytes(bytes) => (bytes, false),
        Unfiltered::Strings(codec, cells) => {
            front.clear();
            codec.encode(cells, &mut metadata, front)?;
            (cells.values, true)
        }
    };
    // An empty chunk counts as a part until it passes a filter that keeps the data unchanged.
    let mut is_part = true;
    for stage in stages {
        let data = if in_front { front.as_slice() } else { original };
        back.clear();
        match stage.encode(&mut metadata, is_part.then_some(data), back, contexts)? {
            Effect::Rewrote => {
                swap(front, back);
                (in_front, is_part) = (true, true);
            }
            Effect::Kept => is_part &= !data.is_empty(),
        }
    }
    let data = if in_front { front.as_slice() } else { original };
    let header = ChunkHeader {
        original: crate::length_u32("bytes of a chunk", original.len())?,
        filtered: crate::length_u32("filtered bytes of a chunk", data.len())?,
        metadata: crate::length_u32("bytes of a chunk's metadata", metadata.len())?,
    };
    out.extend_from_slice(&header.to_bytes());
    metadata.latest_first().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(data);
    Ok(())
}
