//! Mapping between Zarr codecs and TileDB filters.

use serde_json::{Value, json};
use tdb_array::tdb_filters::{Filter, FilterPipeline};

use crate::codec::bounded_name;
use crate::element::Form;

/// Compression of chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// The compression of the array's tiles, or Zstandard if Zarr lacks that codec.
    #[default]
    Same,
    /// No compression.
    None,
    /// Gzip, with a level from 0 to 9.
    Gzip(u8),
    /// Zstandard, with a level from -7 to 22.
    Zstd(i8),
}

/// Zstandard level if no level is known, for example in place of a codec that Zarr lacks.
const USUAL_LEVEL: i32 = 3;

/// Returns the codecs for writing chunks.
pub(crate) fn written(form: Form, filters: &FilterPipeline, compression: Compression) -> Vec<Value> {
    let to_bytes = match form {
        Form::Text => json!({ "name": "vlen-utf8" }),
        Form::Bytes => json!({ "name": "vlen-bytes" }),
        Form::Bool | Form::Raw(_) | Form::Signed(1) | Form::Unsigned(1) => json!({ "name": "bytes" }),
        _ => json!({ "name": "bytes", "configuration": { "endian": "little" } }),
    };
    let packed = match compression {
        Compression::None => None,
        Compression::Gzip(level) => Some(gzip(i32::from(level))),
        Compression::Zstd(level) => Some(zstd(i32::from(level))),
        Compression::Same => filters.filters.iter().find_map(|filter| match filter {
            Filter::Gzip { level } => Some(gzip(if *level < 0 { 6 } else { *level })),
            Filter::Zstd { level } => Some(zstd(if *level < -7 { USUAL_LEVEL } else { *level })),
            Filter::Lz4 { .. } => Some(zstd(1)),
            Filter::Bzip2 { .. }
            | Filter::Rle { .. }
            | Filter::DoubleDelta { .. }
            | Filter::Delta { .. }
            | Filter::Dictionary { .. }
            | Filter::BitWidthReduction { .. }
            | Filter::PositiveDelta { .. }
            | Filter::FloatScale { .. }
            | Filter::WebP { .. } => Some(zstd(USUAL_LEVEL)),
            _ => None,
        }),
    };
    let is_checked = filters.filters.iter().any(|filter| matches!(filter, Filter::Md5 | Filter::Sha256));
    let checksum = is_checked.then(|| json!({ "name": "crc32c" }));
    [Some(to_bytes), packed, checksum].into_iter().flatten().collect()
}

fn gzip(level: i32) -> Value {
    json!({ "name": "gzip", "configuration": { "level": level.clamp(0, 9) } })
}

fn zstd(level: i32) -> Value {
    json!({ "name": "zstd", "configuration": { "level": level, "checksum": false } })
}

/// Replaces compression codecs by codecs with an output limit.
///
/// # Errors
/// A codec is unknown, or its configuration is not supported.
pub(crate) fn bounded(codecs: &[Value]) -> Result<Vec<Value>, String> {
    codecs.iter().map(bounded_codec).collect()
}

fn bounded_codec(codec: &Value) -> Result<Value, String> {
    let name = name(codec).ok_or_else(|| format!("codec {codec} has no name"))?;
    let mut configuration = codec.get("configuration").cloned().unwrap_or_else(|| json!({}));
    if let Some(name) = bounded_name(name) {
        return Ok(json!({ "name": name, "configuration": configuration }));
    }
    match name {
        "sharding_indexed" => {
            for key in ["codecs", "index_codecs"] {
                let Some(inner) = configuration.get_mut(key) else { continue };
                let codecs = inner.as_array().ok_or_else(|| format!("{key} of codec {name} are not a list"))?;
                let names = codecs.iter().filter_map(|codec| self::name(codec));
                // Compressed indices could claim any length, and nested shards could nest without
                // end.
                if names.clone().any(|name| name == "sharding_indexed")
                    || key == "index_codecs" && names.clone().any(|name| !["bytes", "crc32c"].contains(&name))
                {
                    return Err(format!("unsupported {key} {inner}"));
                }
                *inner = Value::Array(bounded(codecs)?);
            }
            Ok(json!({ "name": name, "configuration": configuration }))
        }
        "bytes" | "transpose" | "vlen-utf8" | "vlen-bytes" | "crc32c" | "numcodecs.shuffle" => {
            // zarrs rejects an empty configuration.
            match configuration.as_object().is_some_and(serde_json::Map::is_empty) {
                true => Ok(json!({ "name": name })),
                false => Ok(json!({ "name": name, "configuration": configuration })),
            }
        }
        _ => Err(format!("unsupported codec {name}")),
    }
}

fn name(codec: &Value) -> Option<&str> {
    codec.as_str().or_else(|| codec.get("name")?.as_str())
}

/// Sharding configuration in the metadata.
#[derive(Clone, Debug)]
pub(crate) struct Sharding {
    /// Shape of the inner chunks.
    pub(crate) shape: Vec<u64>,
    /// Codecs of the inner chunks.
    pub(crate) codecs: Vec<Value>,
    pub(crate) index_codecs: Vec<Value>,
    /// `true` if the index precedes the chunks in the file.
    pub(crate) is_at_start: bool,
}

/// Returns the sharding configuration, if sharding is the only codec.
///
/// # Errors
/// The configuration is invalid.
pub(crate) fn sharding(codecs: &[Value]) -> Result<Option<Sharding>, String> {
    let [codec] = codecs else { return Ok(None) };
    if name(codec) != Some("sharding_indexed") {
        return Ok(None);
    }
    let configured = |key: &str| codec.get("configuration").and_then(|all| all.get(key));
    let list = |key: &str| {
        let list = configured(key).and_then(Value::as_array);
        list.ok_or_else(|| format!("{key} of the shards is not a list"))
    };
    let is_at_start = match configured("index_location").map(Value::as_str) {
        None | Some(Some("end")) => false,
        Some(Some("start")) => true,
        Some(_) => return Err("index_location of the shards is neither start nor end".to_owned()),
    };
    let shape: Option<Vec<u64>> = list("chunk_shape")?.iter().map(Value::as_u64).collect();
    Ok(Some(Sharding {
        shape: shape.ok_or("chunk_shape of the shards is not a list of lengths")?,
        codecs: list("codecs")?.clone(),
        index_codecs: list("index_codecs")?.clone(),
        is_at_start,
    }))
}

/// Returns the filters that correspond to codecs.
pub(crate) fn filters(codecs: &[Value]) -> FilterPipeline {
    let mut filters = Vec::new();
    add_filters(codecs, &mut filters);
    FilterPipeline::new(filters)
}

fn add_filters(codecs: &[Value], filters: &mut Vec<Filter>) {
    for codec in codecs {
        let configured = |key: &str| codec.get("configuration").and_then(|all| all.get(key));
        let level = |key: &str, usual: i32| {
            configured(key).and_then(Value::as_i64).and_then(|level| i32::try_from(level).ok()).unwrap_or(usual)
        };
        match name(codec) {
            Some("sharding_indexed") => {
                let inner = configured("codecs").and_then(Value::as_array);
                add_filters(inner.map_or(&[], Vec::as_slice), filters);
            }
            Some("gzip" | "zlib" | "numcodecs.zlib" | "numcodecs.gzip") => {
                filters.push(Filter::Gzip { level: level("level", 6).clamp(0, 9) });
            }
            Some("zstd" | "numcodecs.zstd") => filters.push(Filter::Zstd { level: zstd_level(level("level", 0)) }),
            Some("numcodecs.lz4") => filters.push(Filter::Lz4 { level: -1 }),
            Some("numcodecs.shuffle") => filters.push(Filter::Byteshuffle),
            Some("crc32c") => filters.push(Filter::Md5),
            Some("blosc") => {
                match configured("shuffle") {
                    Some(Value::String(kind)) if kind == "shuffle" => filters.push(Filter::Byteshuffle),
                    Some(Value::String(kind)) if kind == "bitshuffle" => filters.push(Filter::Bitshuffle),
                    Some(Value::Number(kind)) if kind.as_u64() == Some(1) => filters.push(Filter::Byteshuffle),
                    Some(Value::Number(kind)) if kind.as_u64() == Some(2) => filters.push(Filter::Bitshuffle),
                    _ => {}
                }
                let level = level("clevel", 5);
                filters.push(match configured("cname").and_then(Value::as_str) {
                    Some("zstd") => Filter::Zstd { level: zstd_level(level) },
                    Some("zlib") => Filter::Gzip { level: level.clamp(0, 9) },
                    _ => Filter::Lz4 { level: -1 },
                });
            }
            _ => {}
        }
    }
}

/// Maps level 0, the default of Zstandard.
fn zstd_level(level: i32) -> i32 {
    if level == 0 { USUAL_LEVEL } else { level.clamp(-7, 22) }
}
