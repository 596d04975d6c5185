//! Positions in enumerations, as dictionaries.

use std::sync::Arc;

use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef, DictionaryArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use tdb_array::tdb_schema::Enumeration;
use tdb_array::tdb_types::PhysicalType;

use super::buffers;
use super::cells::Cells;
use crate::{ArrowOptions, Problem, Result};

/// Converts positions to a dictionary array. The positions become the keys. Positions outside of
/// the enumeration become null or an error, according to the options.
pub(super) fn array(
    cells: Cells<'_>,
    enumeration: &Enumeration,
    values: &ArrayRef,
    options: &ArrowOptions,
) -> Result<ArrayRef> {
    let keys = Keys { cells, enumeration, values, options };
    if options.wide_keys {
        return match keys.cells.datatype.physical() {
            PhysicalType::I8 => keys.widened::<Int8Type, Int32Type>(),
            PhysicalType::U8 => keys.widened::<UInt8Type, Int32Type>(),
            PhysicalType::I16 => keys.widened::<Int16Type, Int32Type>(),
            PhysicalType::U16 => keys.widened::<UInt16Type, Int32Type>(),
            PhysicalType::I32 => keys.array::<Int32Type>(),
            PhysicalType::U32 => keys.widened::<UInt32Type, Int64Type>(),
            PhysicalType::U64 => keys.widened::<UInt64Type, Int64Type>(),
            PhysicalType::I64 | PhysicalType::F32 | PhysicalType::F64 => keys.array::<Int64Type>(),
        };
    }
    match keys.cells.datatype.physical() {
        PhysicalType::I8 => keys.array::<Int8Type>(),
        PhysicalType::U8 => keys.array::<UInt8Type>(),
        PhysicalType::I16 => keys.array::<Int16Type>(),
        PhysicalType::U16 => keys.array::<UInt16Type>(),
        PhysicalType::I32 => keys.array::<Int32Type>(),
        PhysicalType::U32 => keys.array::<UInt32Type>(),
        PhysicalType::U64 => keys.array::<UInt64Type>(),
        // `ArrowField` never treats floats as positions.
        PhysicalType::I64 | PhysicalType::F32 | PhysicalType::F64 => keys.array::<Int64Type>(),
    }
}

struct Keys<'a> {
    cells: Cells<'a>,
    enumeration: &'a Enumeration,
    values: &'a ArrayRef,
    options: &'a ArrowOptions,
}

impl Keys<'_> {
    /// Uses the positions as keys, without a copy.
    fn array<K: ArrowDictionaryKeyType>(mut self) -> Result<ArrayRef>
    where
        K::Native: Into<i128>,
    {
        let (keys, nulls) = self.taken::<K>();
        // Arrow checks each key. Checks here run only after Arrow has failed.
        let same = PrimitiveArray::<K>::try_new(keys.clone(), nulls.clone())?;
        if let Ok(array) = DictionaryArray::try_new(same, Arc::clone(self.values)) {
            return Ok(Arc::new(array));
        }
        let nulls = self.checked::<K>(&keys, nulls)?;
        let keys = PrimitiveArray::<K>::try_new(keys, nulls)?;
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(self.values))?))
    }

    /// Copies the positions to a wider key type.
    fn widened<K: ArrowDictionaryKeyType, W: ArrowDictionaryKeyType>(mut self) -> Result<ArrayRef>
    where
        K::Native: Into<i128>,
        W::Native: TryFrom<i128> + Default,
    {
        let (keys, nulls) = self.taken::<K>();
        let nulls = self.checked::<K>(&keys, nulls)?;
        // A position that overflows the key type is outside of the enumeration, and therefore null.
        let wider = keys.iter().map(|key| W::Native::try_from((*key).into()).unwrap_or_default());
        let keys = PrimitiveArray::<W>::try_new(wider.collect(), nulls)?;
        Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(self.values))?))
    }

    /// Takes the positions and their nulls out of the cells.
    fn taken<K: ArrowDictionaryKeyType>(&mut self) -> (ScalarBuffer<K::Native>, Option<NullBuffer>) {
        (buffers::scalars(std::mem::take(&mut self.cells.values)), self.cells.nulls.take())
    }

    /// Adds positions outside of the enumeration to the nulls, or rejects them, according to the
    /// options.
    fn checked<K: ArrowDictionaryKeyType>(
        &self,
        keys: &ScalarBuffer<K::Native>,
        nulls: Option<NullBuffer>,
    ) -> Result<Option<NullBuffer>>
    where
        K::Native: Into<i128>,
    {
        let count = self.values.len();
        let inside = |key: K::Native| usize::try_from(key.into()).is_ok_and(|key| key < count);
        let is_valid = |cell: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(cell));
        let outside = keys.iter().enumerate().find(|(cell, key)| !inside(**key) && is_valid(*cell));
        Ok(match outside {
            None => nulls,
            Some((cell, key)) if !self.options.outside_is_null => {
                let enumeration = self.enumeration.name().to_owned();
                let problem = Problem::OutsideEnumeration { enumeration, position: (*key).into(), len: count };
                return Err(self.cells.error(cell, problem));
            }
            Some(_) => {
                let inside = NullBuffer::new(BooleanBuffer::collect_bool(keys.len(), |cell| inside(keys[cell])));
                NullBuffer::union(nulls.as_ref(), Some(&inside))
            }
        })
    }
}
