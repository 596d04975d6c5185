//! Metadata of arrays and groups as Zarr attributes, and back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use tdb_array::tdb_types::{Datatype, PhysicalType, Scalar};
use tdb_array::{Metadata, MetadataValue, MetadataView};

use crate::mark::{KEY, Mark};
use crate::object::Attributes;

/// Prefix of the metadata keys of attributes that are stored as JSON text, because no metadata
/// datatype fits.
const JSON_PREFIX: &str = "zarr.json:";

/// Maximum length of number lists in attributes. The mark stores longer lists as bytes, because
/// parsed JSON numbers take much memory.
const MAX_NUMBERS: usize = 1 << 14;

/// Converts metadata to attributes. Values that JSON cannot represent exactly go into the mark.
pub(crate) fn of_metadata(metadata: &Metadata, mark: &mut Mark) -> Attributes {
    let mut attributes = Attributes::new();
    for (key, value) in metadata.entries() {
        let told = std::str::from_utf8(key).ok().filter(|key| *key != KEY).and_then(|key| told(key, value));
        match told {
            Some((key, json, is_usual)) if !attributes.contains_key(&key) => {
                if !is_usual {
                    mark.types.insert(key.clone(), json!(value.datatype().name()));
                }
                attributes.insert(key, json);
            }
            _ => mark.exact.push(json!({
                "key": BASE64.encode(key),
                "datatype": value.datatype().name(),
                "value": BASE64.encode(value.as_bytes()),
            })),
        }
    }
    attributes
}

/// Returns the key and value of the attribute for a metadata value, and `true` if the attribute
/// converts back without a datatype in the mark. Returns `None` if no attribute represents the
/// value exactly.
fn told(key: &str, value: &MetadataValue) -> Option<(String, Value, bool)> {
    if let (Some(key), Some(text)) = (key.strip_prefix(JSON_PREFIX), value.as_text())
        && key != KEY
        && let Ok(json) = serde_json::from_str::<Value>(&text)
        && of_json(&json, None).is_none()
    {
        return Some((key.to_owned(), json, true));
    }
    let json = match value.view() {
        MetadataView::Text(text) => json!(text),
        MetadataView::Number(number) => of_scalar(value.datatype(), number)?,
        MetadataView::Numbers(numbers) if numbers.len() > MAX_NUMBERS => return None,
        MetadataView::Numbers(numbers) => {
            numbers.into_iter().map(|number| of_scalar(value.datatype(), number)).collect::<Option<Value>>()?
        }
        MetadataView::Empty | MetadataView::Bytes(_) => return None,
    };
    let is_usual = of_json(&json, None).as_ref() == Some(value);
    let is_told = is_usual || of_json(&json, Some(value.datatype())).as_ref() == Some(value);
    is_told.then(|| (key.to_owned(), json, is_usual))
}

fn of_scalar(datatype: Datatype, scalar: Scalar) -> Option<Value> {
    match scalar.to_integer() {
        _ if datatype.is_float() => {
            let number = scalar.to_f64();
            number.is_finite().then(|| json!(number))
        }
        Some(integer) if datatype == Datatype::Bool => (0..2).contains(&integer).then(|| json!(integer == 1)),
        Some(integer) => {
            i64::try_from(integer).map(Value::from).or_else(|_| u64::try_from(integer).map(Value::from)).ok()
        }
        None => None,
    }
}

/// Converts attributes to metadata, using the mark.
pub(crate) fn to_metadata(attributes: &Attributes, mark: &Mark) -> Vec<(Vec<u8>, MetadataValue)> {
    let mut all = Vec::new();
    for (key, json) in attributes.iter().filter(|(key, _)| *key != KEY) {
        let datatype = mark.types.get(key).and_then(|name| Datatype::from_name(name.as_str()?));
        let value = datatype.and_then(|datatype| of_json(json, Some(datatype))).or_else(|| of_json(json, None));
        match value {
            Some(value) => all.push((key.clone().into_bytes(), value)),
            None => {
                if let Ok(text) = MetadataValue::text(&json.to_string()) {
                    all.push((format!("{JSON_PREFIX}{key}").into_bytes(), text));
                }
            }
        }
    }
    all.extend(mark.exact.iter().filter_map(exact));
    all
}

fn exact(told: &Value) -> Option<(Vec<u8>, MetadataValue)> {
    let bytes = |name: &str| BASE64.decode(told.get(name)?.as_str()?).ok();
    let datatype = Datatype::from_name(told.get("datatype")?.as_str()?)?;
    Some((bytes("key")?, MetadataValue::new(datatype, bytes("value")?).ok()?))
}

/// Converts JSON to a metadata value of this datatype, or of the default datatype. Returns `None`
/// if that is impossible.
fn of_json(json: &Value, datatype: Option<Datatype>) -> Option<MetadataValue> {
    match json {
        Value::String(text) => match datatype {
            None => MetadataValue::text(text).ok(),
            Some(datatype) => {
                let value = MetadataValue::new(datatype, text.as_bytes().to_vec()).ok()?;
                value.as_text().is_some_and(|told| told == *text).then_some(value)
            }
        },
        Value::Array(several) if several.len() > 1 => {
            let datatype = datatype.or_else(|| common(several))?;
            let mut values = Vec::new();
            for one in several {
                values.extend(bytes(one, datatype)?);
            }
            MetadataValue::new(datatype, values).ok()
        }
        one => {
            let datatype = datatype.or_else(|| usual(one))?;
            MetadataValue::new(datatype, bytes(one, datatype)?).ok()
        }
    }
}

fn usual(one: &Value) -> Option<Datatype> {
    match one {
        Value::Bool(_) => Some(Datatype::Bool),
        Value::Number(number) if number.is_i64() => Some(Datatype::Int64),
        Value::Number(number) if number.is_u64() => Some(Datatype::UInt64),
        Value::Number(_) => Some(Datatype::Float64),
        _ => None,
    }
}

/// Returns the common datatype of several values, or `None` if no datatype holds all of them.
fn common(several: &[Value]) -> Option<Datatype> {
    let mut all: Vec<Datatype> = several.iter().map(usual).collect::<Option<_>>()?;
    all.sort_unstable_by_key(|datatype| *datatype as u8);
    all.dedup();
    match all.as_slice() {
        [one] => Some(*one),
        _ if all.contains(&Datatype::Bool) => None,
        _ if all.contains(&Datatype::Float64) => Some(Datatype::Float64),
        _ => several.iter().all(Value::is_u64).then_some(Datatype::UInt64),
    }
}

fn bytes(one: &Value, datatype: Datatype) -> Option<Vec<u8>> {
    if let Value::Bool(truth) = one {
        return (datatype == Datatype::Bool).then(|| vec![u8::from(*truth)]);
    }
    let number = one.as_number()?;
    let physical = datatype.physical();
    #[allow(clippy::cast_possible_truncation)] // loses precision only as far as the type demands
    let scalar = match physical {
        PhysicalType::F32 => Scalar::F32(number.as_f64()? as f32),
        PhysicalType::F64 => {
            let float = number.as_f64()?;
            let is_exact = number.is_f64() || float.abs() < 9e15;
            is_exact.then_some(Scalar::F64(float))?
        }
        _ if number.is_f64() => return None,
        _ => Scalar::parse(physical, &number.to_string())?,
    };
    Some(scalar.to_le_bytes().to_vec())
}
