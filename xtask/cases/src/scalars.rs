//! Single values: as integers, as bytes, and as sort keys.

use tdb_reference::model::Bytes;
use tdb_types::{Datatype, PhysicalType, Scalar};

/// Returns the minimum and maximum of an integer type.
pub fn type_limits(physical: PhysicalType) -> (i128, i128) {
    match physical {
        PhysicalType::I8 => (i8::MIN.into(), i8::MAX.into()),
        PhysicalType::U8 => (0, u8::MAX.into()),
        PhysicalType::I16 => (i16::MIN.into(), i16::MAX.into()),
        PhysicalType::U16 => (0, u16::MAX.into()),
        PhysicalType::I32 => (i32::MIN.into(), i32::MAX.into()),
        PhysicalType::U32 => (0, u32::MAX.into()),
        PhysicalType::U64 => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

/// Returns the little-endian bytes of an integer, which must fit the type.
pub fn integer_bytes(physical: PhysicalType, value: i128) -> Bytes {
    Bytes(value.to_le_bytes()[..physical.size()].to_vec())
}

/// Parses the little-endian bytes of an integer.
pub fn integer_of(physical: PhysicalType, bytes: &[u8]) -> i128 {
    let mut all = [if physical.is_signed_integer() && bytes[bytes.len() - 1] & 0x80 > 0 { 0xff } else { 0 }; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(all)
}

/// Returns a key that sorts like coordinates. Zeros of either sign have the same key.
pub fn order_of(datatype: Datatype, bytes: &[u8]) -> (u64, Vec<u8>) {
    if datatype == Datatype::StringAscii {
        return (0, bytes.to_vec());
    }
    let scalar = match Scalar::from_le_bytes(datatype.physical(), bytes) {
        Some(Scalar::F32(0.0)) => Scalar::F32(0.0),
        Some(Scalar::F64(0.0)) => Scalar::F64(0.0),
        Some(scalar) => scalar,
        None => return (0, bytes.to_vec()),
    };
    (scalar.key(), Vec::new())
}

/// Parses the little-endian bytes of a float.
pub fn float_of(datatype: Datatype, bytes: &[u8]) -> f64 {
    Scalar::from_le_bytes(datatype.physical(), bytes).map_or(0.0, Scalar::to_f64)
}

/// Returns the bytes of a float of 32 or 64 bits.
pub fn float_bytes(datatype: Datatype, value: f64) -> Bytes {
    match datatype {
        Datatype::Float32 => Bytes((value as f32).to_le_bytes().to_vec()),
        _ => Bytes(value.to_le_bytes().to_vec()),
    }
}
