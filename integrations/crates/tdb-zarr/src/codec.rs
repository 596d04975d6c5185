//! Decompression codecs with an output limit.
//!
//! The codecs of zarrs decompress without a limit. Chunks are therefore decoded with these codecs,
//! in place of the codecs in the metadata. Separate names protect other users of zarrs in the
//! program.

mod blosc;
mod unpack;

use std::borrow::Cow;
use std::io::{Read as _, Write as _};
use std::sync::{Arc, Once};

use zarrs::array::codec::api::{
    Codec, CodecRuntimePluginV3, PartialDecoderCapability, PartialEncoderCapability, register_codec_v3,
};
use zarrs::array::{
    ArrayBytesRaw, BytesRepresentation, BytesToBytesCodecTraits, CodecError, CodecMetadataOptions, CodecOptions,
    CodecTraits, RecommendedConcurrency,
};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use unpack::UnpackError;

/// Name prefix of these codecs.
const PREFIX: &str = "tdb.";
/// Maximum decompressed size of chunks with elements of variable length.
pub(crate) const MAX_UNBOUNDED: usize = 1 << 30;

/// A compression codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packer {
    Gzip,
    Zlib,
    Zstd,
    Blosc,
    Lz4,
}

/// A codec with a compression level.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    packer: Packer,
    level: i32,
}

const PACKERS: [(&str, Packer); 8] = [
    ("gzip", Packer::Gzip),
    ("zstd", Packer::Zstd),
    ("blosc", Packer::Blosc),
    ("zlib", Packer::Zlib),
    ("numcodecs.zlib", Packer::Zlib),
    ("numcodecs.lz4", Packer::Lz4),
    ("numcodecs.gzip", Packer::Gzip),
    ("numcodecs.zstd", Packer::Zstd),
];

/// Returns the name of the limited codec that replaces the given codec. Returns `None` if there is
/// no replacement.
pub(crate) fn bounded_name(name: &str) -> Option<String> {
    PACKERS.iter().any(|(known, _)| *known == name).then(|| format!("{PREFIX}{name}"))
}

/// Registers the codecs, once.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let find = |name: &str| {
            let name = name.strip_prefix(PREFIX)?;
            PACKERS.iter().find(|(known, _)| *known == name).map(|(_, packer)| *packer)
        };
        let create = move |metadata: &MetadataV3| {
            let unknown = || PluginCreateError::from("unknown codec");
            let packer = find(metadata.name()).ok_or_else(unknown)?;
            let level = metadata.configuration().and_then(|all| all.get("level")?.as_i64());
            let level = level.and_then(|level| i32::try_from(level).ok()).unwrap_or(0);
            Ok(Codec::BytesToBytes(Arc::new(Bounded { packer, level })))
        };
        let _registered = register_codec_v3(CodecRuntimePluginV3::new(move |name| find(name).is_some(), create));
    });
}

impl Bounded {
    fn unpack(self, packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
        match self.packer {
            Packer::Gzip => unpack::gzip(packed, limit),
            Packer::Zlib => unpack::zlib(packed, limit),
            Packer::Zstd => unpack::zstd(packed, limit),
            Packer::Blosc => blosc::unpack(packed, limit),
            Packer::Lz4 => {
                let cut = UnpackError::Damaged("truncated");
                let Some((len, rest)) = packed.split_first_chunk() else { return Err(cut) };
                let len = u32::from_le_bytes(*len) as usize;
                if len > limit {
                    return Err(UnpackError::TooLong { len: Some(len as u64), limit });
                }
                unpack::lz4(rest, len)
            }
        }
    }

    fn pack(self, plain: &[u8]) -> Result<Vec<u8>, CodecError> {
        let failed = |error: std::io::Error| CodecError::Other(error.to_string());
        match self.packer {
            Packer::Gzip => {
                let level = flate2::Compression::new(u32::try_from(self.level.clamp(0, 9)).unwrap_or(6));
                let mut packed = Vec::new();
                flate2::read::GzEncoder::new(plain, level).read_to_end(&mut packed).map_err(failed)?;
                Ok(packed)
            }
            Packer::Zstd => {
                // Other readers need the content size.
                let mut encoder = zstd::Encoder::new(Vec::new(), self.level).map_err(failed)?;
                encoder.set_pledged_src_size(Some(plain.len() as u64)).map_err(failed)?;
                encoder.include_contentsize(true).map_err(failed)?;
                encoder.write_all(plain).map_err(failed)?;
                encoder.finish().map_err(failed)
            }
            Packer::Zlib | Packer::Blosc | Packer::Lz4 => {
                Err(CodecError::Other(format!("writing with {:?} is not supported", self.packer)))
            }
        }
    }
}

impl ExtensionName for Bounded {
    fn name(&self, _: ZarrVersion) -> Option<Cow<'static, str>> {
        let known = PACKERS.iter().find(|(_, packer)| *packer == self.packer);
        known.map(|(name, _)| Cow::Owned(format!("{PREFIX}{name}")))
    }
}

impl CodecTraits for Bounded {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        // These names are never stored in metadata, but the codecs of shards are created from this
        // configuration.
        let level = ("level".to_owned(), self.level.into());
        Some(serde_json::Map::from_iter([level]).into())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability { partial_read: false, partial_decode: false }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability { partial_encode: false }
    }
}

impl BytesToBytesCodecTraits for Bounded {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(&self, _: &BytesRepresentation) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        // Incompressible data grows a little. Blosc adds a table with an entry per block, and
        // blocks may have any size.
        let longest = |size: u64| size.saturating_add(size / 4).saturating_add(1 << 16);
        decoded
            .size()
            .map_or(BytesRepresentation::UnboundedSize, |size| BytesRepresentation::BoundedSize(longest(size)))
    }

    fn encode<'a>(&self, decoded: ArrayBytesRaw<'a>, _: &CodecOptions) -> Result<ArrayBytesRaw<'a>, CodecError> {
        self.pack(&decoded).map(Cow::Owned)
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let limit = decoded.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(MAX_UNBOUNDED);
        let unpacked = self.unpack(&encoded, limit.min(isize::MAX.cast_unsigned() / 2));
        unpacked.map(Cow::Owned).map_err(|error| CodecError::Other(error.to_string()))
    }
}
