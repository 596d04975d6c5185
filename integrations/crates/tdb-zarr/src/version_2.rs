//! Conversion of Zarr version 2 metadata to version 3.

use serde_json::{Value, json};

use crate::object::Attributes;

/// Converts the metadata of an array to version 3.
///
/// # Errors
/// Fails if the metadata is not of version 2, or if version 3 has no equivalent.
pub(crate) fn converted(metadata: &Attributes, mut attributes: Attributes) -> Result<Attributes, String> {
    let member = |name: &str| metadata.get(name).cloned().unwrap_or(Value::Null);
    if member("zarr_format") != json!(2) {
        return Err("expected zarr_format 2".to_owned());
    }
    let filters = member("filters").as_array().cloned().unwrap_or_default();
    let (data_type, endian) = data_type(&member("dtype"), &filters)?;
    let dimensions = member("shape").as_array().map_or(0, Vec::len);
    let mut codecs = Vec::new();
    match member("order").as_str() {
        None | Some("C") => {}
        // Both orders are the same below two dimensions.
        Some("F") if dimensions < 2 => {}
        Some("F") => {
            let order: Vec<usize> = (0..dimensions).rev().collect();
            codecs.push(json!({ "name": "transpose", "configuration": { "order": order } }));
        }
        Some(other) => return Err(format!("unsupported order {other:?}")),
    }
    let mut to_bytes = json!({ "name": "bytes", "configuration": { "endian": endian } });
    let mut behind = Vec::new();
    for filter in filters {
        match filter.get("id").and_then(Value::as_str) {
            Some(name @ ("vlen-utf8" | "vlen-bytes")) => to_bytes = json!({ "name": name }),
            Some("shuffle") => behind.push(codec(&filter, "numcodecs.shuffle")),
            Some("crc32c") => behind.push(codec(&filter, "crc32c")),
            _ => return Err(format!("unsupported filter {filter}")),
        }
    }
    codecs.push(to_bytes);
    codecs.append(&mut behind);
    let compressor = member("compressor");
    if !compressor.is_null() {
        let name = match compressor.get("id").and_then(Value::as_str) {
            Some(name @ ("blosc" | "gzip" | "zstd" | "zlib")) => name,
            Some("lz4") => "numcodecs.lz4",
            _ => return Err(format!("unsupported compressor {compressor}")),
        };
        codecs.push(codec(&compressor, name));
    }
    // In version 2, xarray stores the dimension names in this attribute. Version 3 has
    // `dimension_names`.
    let names = attributes.remove("_ARRAY_DIMENSIONS").unwrap_or(Value::Null);
    let separator = member("dimension_separator").as_str().unwrap_or(".").to_owned();
    let converted = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": member("shape"),
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": member("chunks") } },
        "chunk_key_encoding": { "name": "v2", "configuration": { "separator": separator } },
        "fill_value": member("fill_value"),
        "codecs": codecs,
        "dimension_names": names,
        "attributes": attributes,
    });
    match converted {
        Value::Object(converted) => Ok(converted),
        _ => Ok(Attributes::new()),
    }
}

fn codec(of: &Value, name: &str) -> Value {
    let mut configuration = of.as_object().cloned().unwrap_or_default();
    configuration.remove("id");
    json!({ "name": name, "configuration": configuration })
}

/// Returns the data type, and the byte order.
fn data_type(dtype: &Value, filters: &[Value]) -> Result<(Value, &'static str), String> {
    let unknown = || format!("unsupported data type {dtype}");
    let text = dtype.as_str().filter(|text| text.is_ascii()).ok_or_else(unknown)?;
    let (order, rest) = text.split_at_checked(1).ok_or_else(unknown)?;
    let endian = match order {
        "<" | "|" => "little",
        ">" => "big",
        _ => return Err(unknown()),
    };
    let (kind, size) = rest.split_at_checked(1).ok_or_else(unknown)?;
    let number = || size.parse::<u64>().ok().filter(|size| *size > 0).ok_or_else(unknown);
    let sized = |name: &str, factor: u64| {
        let length = number()?.saturating_mul(factor);
        Ok::<_, String>(json!({ "name": name, "configuration": { "length_bytes": length } }))
    };
    let time = |name: &str| {
        let unit = size.strip_prefix("8[").and_then(|unit| unit.strip_suffix(']')).ok_or_else(unknown)?;
        let at = unit.find(|char: char| !char.is_ascii_digit()).unwrap_or(unit.len());
        let scale: u64 = unit[..at].parse().unwrap_or(1);
        Ok::<_, String>(json!({ "name": name, "configuration": { "unit": &unit[at..], "scale_factor": scale } }))
    };
    let is_filter = |name: &str| filters.iter().any(|filter| filter.get("id").and_then(Value::as_str) == Some(name));
    let bits = |name: &str| Ok::<_, String>(json!(format!("{name}{}", number()?.saturating_mul(8))));
    let data_type = match kind {
        "b" if size == "1" => json!("bool"),
        "i" => bits("int")?,
        "u" => bits("uint")?,
        "f" => bits("float")?,
        "c" => bits("complex")?,
        "M" => time("numpy.datetime64")?,
        "m" => time("numpy.timedelta64")?,
        "S" => sized("null_terminated_bytes", 1)?,
        "V" => sized("raw_bytes", 1)?,
        "U" => sized("fixed_length_utf32", 4)?,
        "O" if is_filter("vlen-utf8") => json!("string"),
        "O" if is_filter("vlen-bytes") => json!("bytes"),
        _ => return Err(unknown()),
    };
    Ok((data_type, endian))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_type_names_convert() {
        let utf8 = [json!({ "id": "vlen-utf8" })];
        let time = json!({ "name": "numpy.datetime64", "configuration": { "unit": "s", "scale_factor": 10 } });
        for (dtype, name, endian) in [
            ("<i4", json!("int32"), "little"),
            (">f8", json!("float64"), "big"),
            ("|b1", json!("bool"), "little"),
            ("|O", json!("string"), "little"),
            ("<M8[10s]", time, "little"),
        ] {
            assert_eq!(data_type(&json!(dtype), &utf8).unwrap(), (name, endian));
        }
        for dtype in [json!("<M8"), json!("é"), json!(""), json!("="), json!("<i"), json!([["a", "<i4"]])] {
            assert!(data_type(&dtype, &[]).is_err(), "{dtype}");
        }
        assert!(data_type(&json!("|O"), &[]).is_err());
    }
}
