//! Group keys that compare like their values.
//!
//! A key is the concatenation of its fields, encoded so that bytes sort like the values. Numbers
//! are big-endian [ordered keys](tdb_types::ordered_key). Strings of variable length have an end
//! marker, except in the last field. A nullable field has a prefix byte, 1 for null, so that nulls
//! sort last. Keys up to 128 bits, with fields of fixed size up to 64 bits, are stored as numbers.

use tdb_types::{Cells, PhysicalType, from_ordered_key, ordered_key};

use crate::kind::ValueKind;
use crate::number::is_nan;

/// A field of the group key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// The kind of the values, which determines their order.
    pub kind: ValueKind,
    /// The size of a cell in bytes, or `None` if variable.
    pub size: Option<usize>,
    /// `true` if cells may be null.
    pub nullable: bool,
}

impl KeyField {
    fn is_valid(&self, cells: &Cells<'_>, cell: usize) -> bool {
        !self.nullable || cells.is_valid(cell) && !self.kind.is_null(cells.cell(cell))
    }
}

/// The fields of the group key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyShape {
    fields: Vec<KeyField>,
    pub(crate) packed: bool,
}

/// The keys of some cells, in order.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    Packed(Vec<u128>),
    Bytes { ends: Vec<usize>, bytes: Vec<u8> },
}

/// The byte after a zero byte that is part of a string.
const ZERO: u8 = 0xff;
/// The byte after a zero byte that ends a string.
const END: u8 = 0;

impl KeyShape {
    /// Creates the shape of keys with these fields.
    #[must_use]
    pub fn new(fields: Vec<KeyField>) -> Self {
        let bytes = fields.iter().try_fold(0_usize, |sum, field| {
            let size = field.size.filter(|size| *size <= 8)?;
            Some(sum + size + usize::from(field.nullable))
        });
        let packed = bytes.is_some_and(|bytes| bytes <= size_of::<u128>());
        Self { fields, packed }
    }

    /// Returns the fields.
    #[must_use]
    pub fn fields(&self) -> &[KeyField] {
        &self.fields
    }

    /// Returns the keys of the picked cells. `columns` has the cells of each field.
    pub(crate) fn keys(&self, columns: &[Cells<'_>], picked: &[u32]) -> Keys {
        if !self.packed {
            return self.bytes(columns, picked);
        }
        let mut keys = vec![0_u128; picked.len()];
        for (field, cells) in self.fields.iter().zip(columns) {
            let bits = field.size.unwrap_or(0) * 8;
            for (key, cell) in keys.iter_mut().zip(picked) {
                let valid = field.is_valid(cells, *cell as usize);
                let value = if valid { packed(field.kind, cells.cell(*cell as usize)) } else { 0 };
                if field.nullable {
                    *key = *key << 8 | u128::from(!valid);
                }
                *key = (*key).checked_shl(bits as u32).unwrap_or(0) | u128::from(value);
            }
        }
        Keys::Packed(keys)
    }

    fn bytes(&self, columns: &[Cells<'_>], picked: &[u32]) -> Keys {
        let (mut ends, mut bytes) = (Vec::with_capacity(picked.len()), Vec::new());
        for cell in picked {
            let cell = *cell as usize;
            for (place, (field, cells)) in self.fields.iter().zip(columns).enumerate() {
                let valid = field.is_valid(cells, cell);
                if field.nullable {
                    bytes.push(u8::from(!valid));
                }
                // The last field needs no end marker.
                let is_last = place + 1 == self.fields.len();
                push(field, if valid { Some(cells.cell(cell)) } else { None }, is_last, &mut bytes);
            }
            ends.push(bytes.len());
        }
        Keys::Bytes { ends, bytes }
    }

    /// Returns the values of a key, per field. `None` for null.
    pub(crate) fn unpack(&self, key: u128) -> Vec<Option<Vec<u8>>> {
        let mut rest = key;
        let values = self.fields.iter().rev().map(|field| {
            let size = field.size.unwrap_or(0);
            let value = (rest & (u128::MAX.checked_shr(128 - 8 * size as u32).unwrap_or(0))) as u64;
            rest = rest.checked_shr(8 * size as u32).unwrap_or(0);
            let is_null = field.nullable && rest & 1 != 0;
            if field.nullable {
                rest >>= 8;
            }
            (!is_null).then(|| unpacked(field.kind, value, size))
        });
        let mut values: Vec<_> = values.collect();
        values.reverse();
        values
    }

    /// Returns the values of a key in bytes, per field. `None` for null.
    pub(crate) fn split(&self, key: &[u8]) -> Vec<Option<Vec<u8>>> {
        let mut rest = key;
        let mut values = Vec::with_capacity(self.fields.len());
        for (place, field) in self.fields.iter().enumerate() {
            let is_null = field.nullable && rest.split_off_first().is_some_and(|null| *null != 0);
            let value = take(field, is_null, place + 1 == self.fields.len(), &mut rest);
            values.push((!is_null).then_some(value));
        }
        values
    }
}

/// Encodes a value into the low bits of a key.
fn packed(kind: ValueKind, cell: &[u8]) -> u64 {
    match kind.number() {
        Some(physical) => ordered_key(physical, &canonical(physical, cell)),
        None => cell.iter().fold(0, |key, byte| key << 8 | u64::from(*byte)),
    }
}

fn unpacked(kind: ValueKind, value: u64, size: usize) -> Vec<u8> {
    match kind.number() {
        Some(physical) => from_ordered_key(physical, value).to_vec(),
        None => value.to_be_bytes()[8 - size.min(8)..].to_vec(),
    }
}

/// Returns the number, extended to 8 bytes. Replaces `-0.0` by `0.0`, and every NaN by the same
/// NaN.
fn canonical(physical: PhysicalType, cell: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(cell).for_each(|(to, from)| *to = *from);
    if physical.is_float() {
        let sign = physical.size() - 1;
        if is_nan(physical, cell) {
            let nan = if physical.size() == 4 { u64::from(f32::NAN.to_bits()) } else { f64::NAN.to_bits() };
            return nan.to_le_bytes();
        }
        if bytes[sign] == 0x80 && bytes[..sign].iter().all(|byte| *byte == 0) {
            bytes[sign] = 0;
        }
    }
    bytes
}

/// Appends a value. A null is encoded as no bytes or as zeros.
fn push(field: &KeyField, cell: Option<&[u8]>, is_last: bool, key: &mut Vec<u8>) {
    match (field.kind.number(), field.size) {
        (Some(physical), _) => {
            let value = cell.map_or(0, |cell| ordered_key(physical, &canonical(physical, cell)));
            key.extend_from_slice(&value.to_be_bytes()[8 - physical.size()..]);
        }
        (_, Some(size)) => {
            let cell = cell.unwrap_or_default();
            key.extend_from_slice(&cell[..cell.len().min(size)]);
            key.resize(key.len() + size.saturating_sub(cell.len()), 0);
        }
        (_, None) if is_last => key.extend_from_slice(cell.unwrap_or_default()),
        (_, None) => {
            for byte in cell.unwrap_or_default() {
                key.push(*byte);
                if *byte == 0 {
                    key.push(ZERO);
                }
            }
            key.extend_from_slice(&[0, END]);
        }
    }
}

/// Removes a value from the front of a key.
fn take(field: &KeyField, is_null: bool, is_last: bool, rest: &mut &[u8]) -> Vec<u8> {
    match (field.kind.number(), field.size) {
        (Some(physical), _) => {
            let bytes = rest.split_off(..physical.size()).unwrap_or_default();
            let key = bytes.iter().fold(0, |key, byte| key << 8 | u64::from(*byte));
            if is_null { Vec::new() } else { from_ordered_key(physical, key).to_vec() }
        }
        (_, Some(size)) => rest.split_off(..size).unwrap_or_default().to_vec(),
        (_, None) if is_last => std::mem::take(rest).to_vec(),
        (_, None) => {
            let mut value = Vec::new();
            while let Some(byte) = rest.split_off_first() {
                if *byte == 0 && rest.split_off_first() == Some(&END) {
                    break;
                }
                value.push(*byte);
            }
            value
        }
    }
}
