//! Datatypes at each filter of a pipeline.

use tdb_types::Datatype;

use crate::stage::float_scale::FloatScale;
use crate::stage::{Codec, Stage};
use crate::word::Integer;
use crate::{ElementTypes, EncryptionKey, Filter, FilterError, FilterPipeline, TileKind, WebPOptions};

/// Returns the active filters of a pipeline, each bound to the datatype at its position.
pub(super) fn stages(
    pipeline: &FilterPipeline,
    kind: &TileKind,
    cell_size: usize,
    key: Option<&EncryptionKey>,
) -> Result<Vec<Stage>, FilterError> {
    let mut stages = Vec::with_capacity(pipeline.filters.len());
    let mut datatype = kind.datatype;
    for filter in &pipeline.filters {
        let stage = stage(filter, datatype, kind, cell_size, key)?;
        if kind.element_types == ElementTypes::Stage {
            datatype = filter.output_datatype(datatype);
        }
        stages.extend(stage);
    }
    Ok(stages)
}

/// Binds a filter to `datatype`. Returns `None` if the filter leaves this datatype unchanged.
fn stage(
    filter: &Filter,
    datatype: Datatype,
    kind: &TileKind,
    cell_size: usize,
    key: Option<&EncryptionKey>,
) -> Result<Option<Stage>, FilterError> {
    let size = datatype.size();
    Ok(Some(match *filter {
        Filter::None => return Ok(None),
        Filter::Gzip { .. } | Filter::Zstd { .. } | Filter::Lz4 { .. } | Filter::Bzip2 { .. } => codec(filter),
        Filter::Rle { .. } => Stage::Codec(Codec::Rle { unit: cell_size }),
        Filter::DoubleDelta { reinterpret, .. } => {
            Stage::Codec(Codec::DoubleDelta { integer: delta(filter, reinterpret.unwrap_or(datatype))? })
        }
        Filter::Delta { reinterpret, .. } => {
            Stage::Codec(Codec::Delta { integer: delta(filter, reinterpret.unwrap_or(datatype))? })
        }
        Filter::BitWidthReduction { max_window } => {
            let integer = Integer::for_bit_width_reduction(datatype, kind.version);
            return Ok(integer.map(|integer| Stage::BitWidthReduction { integer, max_window }));
        }
        Filter::PositiveDelta { max_window } => {
            let integer = Integer::for_positive_delta(datatype, kind.version);
            return Ok(integer.map(|integer| Stage::PositiveDelta { integer, max_window }));
        }
        Filter::Byteshuffle => Stage::Byteshuffle { size },
        Filter::Bitshuffle => Stage::Bitshuffle { size },
        Filter::Xor => Stage::Xor { size },
        Filter::FloatScale { scale, offset, byte_width } => {
            Stage::FloatScale(FloatScale::new(datatype, scale, offset, byte_width)?)
        }
        Filter::Md5 | Filter::Sha256 => checksum(filter),
        // As the first filter of strings, dictionary encoding runs through `BoundPipeline::strings`
        // instead.
        Filter::Dictionary { .. } => {
            let hint = "use it as the first filter of variable-size string_ascii from format version 13, or \
                        string_utf8 from format version 17";
            Stage::Refused(FilterError::UnsupportedDatatype { filter: filter.name(), datatype, hint })
        }
        Filter::Aes256Gcm => match key {
            Some(key) => encryption(filter, key),
            None => Stage::Refused(FilterError::KeyRequired),
        },
        Filter::WebP(ref options) => images(filter, options),
        Filter::Unknown { code, .. } => Stage::Refused(FilterError::UnknownFilter { code }),
    }))
}

fn delta(filter: &Filter, datatype: Datatype) -> Result<Integer, FilterError> {
    let hint = "use it on integers";
    Integer::for_delta(datatype).ok_or(FilterError::UnsupportedDatatype { filter: filter.name(), datatype, hint })
}

/// Binds a general compressor, if the build includes it.
fn codec(filter: &Filter) -> Stage {
    let feature = match *filter {
        #[cfg(feature = "zlib")]
        Filter::Gzip { level } => return Stage::Codec(Codec::Gzip { level }),
        #[cfg(feature = "zstd")]
        Filter::Zstd { level } => return Stage::Codec(Codec::Zstd { level }),
        #[cfg(feature = "lz4")]
        Filter::Lz4 { .. } => return Stage::Codec(Codec::Lz4),
        #[cfg(feature = "bzip2")]
        Filter::Bzip2 { level } => return Stage::Codec(Codec::Bzip2 { level }),
        #[cfg(not(feature = "zlib"))]
        Filter::Gzip { .. } => "zlib",
        #[allow(unreachable_patterns)] // for builds with all codecs
        _ => filter.name(),
    };
    #[allow(unreachable_code)]
    Stage::Refused(FilterError::CodecDisabled { filter: filter.name(), feature })
}

/// Invalid options are rejected when an image is filtered, because the schema of an array without
/// tiles may hold them.
#[cfg(feature = "webp")]
fn images(_: &Filter, options: &WebPOptions) -> Stage {
    crate::stage::webp::Images::new(options).map_or_else(Stage::Refused, Stage::WebP)
}

#[cfg(not(feature = "webp"))]
fn images(filter: &Filter, _: &WebPOptions) -> Stage {
    Stage::Refused(FilterError::CodecDisabled { filter: filter.name(), feature: "webp" })
}

#[cfg(feature = "aes")]
fn encryption(_: &Filter, key: &EncryptionKey) -> Stage {
    Stage::Encryption(crate::stage::aes::Cipher::new(key))
}

#[cfg(not(feature = "aes"))]
fn encryption(filter: &Filter, _: &EncryptionKey) -> Stage {
    Stage::Refused(FilterError::CodecDisabled { filter: filter.name(), feature: "aes" })
}

#[cfg(feature = "checksum")]
fn checksum(filter: &Filter) -> Stage {
    use crate::stage::checksum::Algorithm;
    Stage::Checksum(if matches!(filter, Filter::Md5) { Algorithm::Md5 } else { Algorithm::Sha256 })
}

#[cfg(not(feature = "checksum"))]
fn checksum(filter: &Filter) -> Stage {
    Stage::Refused(FilterError::CodecDisabled { filter: filter.name(), feature: "checksum" })
}
