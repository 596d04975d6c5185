//! Dictionaries, and positions in enumerations.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow_array::{AnyDictionaryArray, Array, new_empty_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use tdb_array::tdb_schema::Enumeration;
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};

use super::cells::{Cells, validity};
use super::numbers::values_of;
use super::target::Target;
use crate::dates::NO_TIME;
use crate::layout::integer;
use crate::{Problem, Result};

impl Target<'_> {
    /// Replaces the keys of a dictionary by their values.
    pub(super) fn values_of_dictionary<'a>(&self, dictionary: &'a dyn AnyDictionaryArray) -> Result<Cells<'a>> {
        let target = Target { nullable: true, ..self.clone() };
        let cells = target.cells(dictionary.values())?;
        let each = cells.each(self.size());
        let keys = keys(dictionary);
        let size = self.cell_size();
        let (mut values, mut ends) = (Vec::new(), vec![0]);
        for key in &keys {
            match key.and_then(|key| each.get(key)) {
                Some(value) => values.extend_from_slice(value),
                None => values.resize(values.len() + size, 0),
            }
            ends.push((values.len() / self.datatype.size()) as u64);
        }
        let nulls = nulls_of(&keys);
        let offsets = self.number.is_var().then_some(Cow::Owned(ends));
        let validity = validity(nulls.as_ref()).map(|bits| Cow::Owned(bits.into_owned()));
        Ok(Cells { values: Cow::Owned(values), offsets, validity })
    }

    /// Maps the values of a dictionary to positions in the enumeration. Borrows keys equal to the
    /// positions.
    pub(super) fn positions_of_dictionary<'a>(
        &self,
        dictionary: &'a dyn AnyDictionaryArray,
        enumeration: &Enumeration,
    ) -> Result<Cells<'a>> {
        let values = dictionary.values();
        let target = self.values_of(enumeration);
        let cells = target.cells(values)?;
        let each = cells.each(target.size());
        let same = |(position, value): (usize, &&[u8])| enumeration.value(position) == Some(*value);
        let identical = values.null_count() == 0 && each.iter().enumerate().all(same);
        let keys_are_positions = *dictionary.keys().data_type() == integer(self.datatype);
        if identical
            && keys_are_positions
            && let Some(borrowed) = values_of(dictionary.keys())
            && let Some(validity) = self.validity_of_positions(borrowed, dictionary.nulls(), enumeration)
        {
            return Ok(Cells { values: Cow::Borrowed(borrowed), offsets: None, validity });
        }
        let known = enumeration.positions();
        let positions: Vec<Option<usize>> = each.iter().map(|value| known.get(value).copied()).collect();
        self.write_positions(
            &keys(dictionary),
            |key| positions.get(key).copied().flatten().ok_or_else(|| each[key]),
            enumeration,
        )
    }

    /// Returns the validity of borrowed keys. The outer `None` means "copy the keys": the field is
    /// not nullable and a null key is a valid position.
    fn validity_of_positions<'n>(
        &self,
        keys: &[u8],
        nulls: Option<&'n NullBuffer>,
        enumeration: &Enumeration,
    ) -> Option<Option<Cow<'n, [u8]>>> {
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Some(None) };
        if self.nullable {
            return Some(validity(Some(nulls)));
        }
        let is_position = |key: &[u8]| {
            let key = Scalar::from_le_bytes(self.datatype.physical(), key).and_then(Scalar::to_integer);
            key.and_then(|key| usize::try_from(key).ok()).is_some_and(|key| key < enumeration.len())
        };
        let mut null_keys =
            keys.chunks_exact(self.datatype.size()).enumerate().filter(|(cell, _)| nulls.is_null(*cell));
        (!null_keys.any(|(_, key)| is_position(key))).then_some(None)
    }

    /// Maps plain values to positions in the enumeration. If the column's type differs from the
    /// values' type, the column holds positions.
    pub(super) fn positions_of_values<'a>(&self, array: &'a dyn Array, enumeration: &Enumeration) -> Result<Cells<'a>> {
        let target = self.values_of(enumeration);
        if target.cells(&new_empty_array(array.data_type())).is_err() {
            return Target { enumeration: None, ..self.clone() }.plain(array);
        }
        let cells = target.cells(array)?;
        let each = cells.each(target.size());
        let known: HashMap<&[u8], usize> = enumeration.positions();
        let keys: Vec<Option<usize>> = (0..array.len()).map(|cell| array.is_valid(cell).then_some(cell)).collect();
        self.write_positions(&keys, |cell| known.get(each[cell]).copied().ok_or_else(|| each[cell]), enumeration)
    }

    /// Writes positions as cells. Null becomes the position of "no time" if the enumeration
    /// contains "no time", otherwise the default fill value of the datatype (255 for `bool`). The
    /// cells have no validity if the field is not nullable and this fill value is no position.
    pub(super) fn write_positions<'v>(
        &self,
        keys: &[Option<usize>],
        position: impl Fn(usize) -> Result<usize, &'v [u8]>,
        enumeration: &Enumeration,
    ) -> Result<Cells<'static>> {
        let size = self.datatype.size();
        let has_no_time = self.values_of(enumeration).has_no_time() && enumeration.cell_val_num() == CellValNum::ONE;
        let no_time = has_no_time.then(|| enumeration.index_of(&NO_TIME.to_le_bytes())).flatten();
        // The default fill value: the minimum of signed types, the maximum of unsigned types.
        let none = match (no_time, self.datatype) {
            (Some(no_time), _) => no_time.to_le_bytes()[..size].to_vec(),
            (None, Datatype::Bool) => vec![u8::MAX],
            (None, datatype) => datatype.default_fill(),
        };
        let of_none = Scalar::from_le_bytes(self.datatype.physical(), &none).and_then(Scalar::to_integer);
        let of_none = of_none.and_then(|none| usize::try_from(none).ok());
        let is_position = no_time.is_none() && of_none.is_some_and(|none| none < enumeration.len());
        let may_be_null = self.nullable || is_position;
        let mut values = Vec::with_capacity(keys.len() * size);
        for (cell, key) in keys.iter().enumerate() {
            let Some(key) = key else {
                values.extend_from_slice(&none);
                continue;
            };
            let position = position(*key).map_err(|value| {
                let value = shown(enumeration.datatype(), value);
                self.error(cell, Problem::NotInEnumeration { enumeration: enumeration.name().to_owned(), value })
            })?;
            values.extend_from_slice(&position.to_le_bytes()[..size]);
        }
        let nulls = nulls_of(keys).filter(|_| may_be_null);
        let validity = validity(nulls.as_ref()).map(|bits| Cow::Owned(bits.into_owned()));
        Ok(Cells { values: Cow::Owned(values), offsets: None, validity })
    }
}

/// Returns the key of each cell, or `None` if the key or its value in the dictionary is null.
fn keys(dictionary: &dyn AnyDictionaryArray) -> Vec<Option<usize>> {
    let values = dictionary.values();
    if values.is_empty() {
        return vec![None; dictionary.len()];
    }
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    keys.map(|(cell, key)| (dictionary.keys().is_valid(cell) && values.is_valid(key)).then_some(key)).collect()
}

fn nulls_of(keys: &[Option<usize>]) -> Option<NullBuffer> {
    let any = keys.iter().any(Option::is_none);
    any.then(|| NullBuffer::new(BooleanBuffer::collect_bool(keys.len(), |cell| keys[cell].is_some())))
}

/// Formats a value for an error message.
fn shown(datatype: Datatype, value: &[u8]) -> String {
    match Scalar::from_le_bytes(datatype.physical(), value) {
        Some(scalar) if datatype.size() > 1 => scalar.to_string(),
        _ => format!("{:?}", String::from_utf8_lossy(value)),
    }
}
