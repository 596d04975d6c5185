//! Enumerations: lists of values. Attributes store indices into these lists.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use tdb_types::{ByteReader, ByteWriter, CellValNum, Datatype, DecodeError, is_safe_file_name};

use crate::SchemaError;
use crate::error::Result;

/// The newest version of the serialized enumeration, independent of the format version.
const VERSION: u32 = 0;
/// A placeholder for a file name that is not assigned yet.
const UNPLACED: &str = "__unplaced";

/// A reference from a schema to an enumeration file in `__schema/__enumerations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerationRef {
    /// The name of the enumeration.
    pub name: String,
    /// The name of the file, without folders.
    pub file_name: String,
}

impl EnumerationRef {
    /// Returns `true` if no file name is assigned yet.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.file_name == UNPLACED
    }

    /// Creates a reference without a file name. Creating or evolving the array assigns the file
    /// name.
    #[must_use]
    pub fn unplaced(name: impl Into<String>) -> Self {
        Self { name: name.into(), file_name: UNPLACED.to_owned() }
    }

    pub(crate) fn parse(reader: &mut ByteReader<'_>) -> tdb_types::Result<Self> {
        Ok(Self { name: reader.string_u32("name")?, file_name: reader.string_u32("file name")? })
    }

    pub(crate) fn write(&self, writer: &mut ByteWriter) {
        writer.string_u32(&self.name);
        writer.string_u32(&self.file_name);
    }
}

/// A list of distinct values. Attributes with an enumeration store indices into this list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    name: String,
    file_name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    ordered: bool,
    data: Vec<u8>,
    offsets: Vec<u64>,
}

impl Enumeration {
    /// Creates an enumeration of fixed-size values, stored contiguously in `data` (little-endian).
    ///
    /// If the file name is empty, creating or evolving the array assigns a name.
    ///
    /// # Errors
    /// Fails if a value repeats, or if the length of `data` is not a multiple of the datatype size.
    /// Also fails if the name is empty, or if the file name is not a single path component.
    pub fn fixed(
        name: impl Into<String>,
        file_name: impl Into<String>,
        datatype: Datatype,
        data: impl Into<Vec<u8>>,
    ) -> Result<Self> {
        Self::of(name.into(), file_name.into(), (datatype, CellValNum::ONE), data.into(), Vec::new())
    }

    /// Creates an enumeration of strings or other variable-length values.
    ///
    /// If the file name is empty, creating or evolving the array assigns a name.
    ///
    /// # Errors
    /// Fails if a value repeats, if the name is empty, or if the file name is not a single path
    /// component.
    pub fn strings<V: AsRef<[u8]>>(
        name: impl Into<String>,
        file_name: impl Into<String>,
        datatype: Datatype,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self> {
        let (mut data, mut offsets) = (Vec::new(), Vec::new());
        for value in values {
            offsets.push(data.len() as u64);
            data.extend_from_slice(value.as_ref());
        }
        Self::of(name.into(), file_name.into(), (datatype, CellValNum::Var), data, offsets)
    }

    fn of(
        name: String,
        file_name: String,
        (datatype, cell_val_num): (Datatype, CellValNum),
        data: Vec<u8>,
        offsets: Vec<u64>,
    ) -> Result<Self> {
        let file_name = if file_name.is_empty() { UNPLACED.to_owned() } else { file_name };
        Self { name, file_name, datatype, cell_val_num, ordered: false, data, offsets }.validated()
    }

    /// Sets the number of datatype elements in each fixed-size value. An enumeration of
    /// variable-length values becomes an enumeration of fixed-size values.
    ///
    /// # Errors
    /// Fails if a value repeats, or if the length of the data is not a multiple of the value size.
    pub fn with_values_per_value(mut self, number: NonZeroU32) -> Result<Self> {
        self.cell_val_num = CellValNum::Fixed(number);
        self.offsets.clear();
        self.validated()
    }

    /// Sets the file name.
    ///
    /// # Errors
    /// Fails if the file name is not a single path component.
    pub fn with_file_name(mut self, file_name: &str) -> Result<Self> {
        self.file_name = file_name.to_owned();
        self.validated()
    }

    /// Removes the file name. Creating or evolving the array assigns a new name.
    #[must_use]
    pub fn unplaced(mut self) -> Self {
        UNPLACED.clone_into(&mut self.file_name);
        self
    }

    /// Appends values, each given as bytes.
    ///
    /// # Errors
    /// Fails if a value repeats or has the wrong size. Also fails if the length of an old or new
    /// value is not a multiple of the datatype size.
    pub fn extended<V: AsRef<[u8]>>(mut self, values: impl IntoIterator<Item = V>) -> Result<Self> {
        let size = self.value_size();
        for value in values {
            let value = value.as_ref();
            match size {
                None => self.offsets.push(self.data.len() as u64),
                Some(size) if value.len() == size => {}
                Some(size) => {
                    let why = format!("found a value of {} bytes, expected {size} bytes", value.len());
                    return Err(SchemaError::invalid(format!("enumeration {:?}", self.name), why));
                }
            }
            self.data.extend_from_slice(value);
        }
        if let Some(position) = self.uneven_value() {
            let (len, datatype) = (self.value(position).map_or(0, <[u8]>::len), self.datatype);
            let why = format!("value {position} of {len} bytes is not a whole number of values of {datatype}");
            return Err(SchemaError::invalid(
                format!("enumeration {:?}", self.name),
                format!("{why}; add an enumeration of another datatype instead of extending this one"),
            ));
        }
        self.validated()
    }

    /// Returns the payload of the enumeration's generic tile, neither filtered nor encrypted.
    #[must_use]
    pub fn to_payload(&self) -> Vec<u8> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload);
        payload.into_bytes()
    }

    /// Marks the values as ordered. Conditions can then compare them with `<` and `>`.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// Returns the name by which attributes refer to the enumeration.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the file, without folders.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns the number of datatype elements per value.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Returns `true` if the values are [ordered](Self::ordered).
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// Returns the concatenated bytes of all values.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the start of each variable-length value in [`data`](Self::data). Empty for
    /// fixed-size values.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.value_size() {
            Some(size) => self.data.len().checked_div(size).unwrap_or(0),
            None => self.offsets.len(),
        }
    }

    /// Returns `true` if the enumeration has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the value at `position`, or `None` if `position` is out of bounds.
    #[must_use]
    pub fn value(&self, position: usize) -> Option<&[u8]> {
        let (start, end) = match self.value_size() {
            Some(size) => (position.checked_mul(size)?, position.checked_add(1)?.checked_mul(size)?),
            None => {
                let start = usize::try_from(*self.offsets.get(position)?).ok()?;
                let end = self.offsets.get(position.checked_add(1)?).map(|end| usize::try_from(*end));
                (start, end.unwrap_or(Ok(self.data.len())).ok()?)
            }
        };
        self.data.get(start..end)
    }

    /// Iterates over the values in order.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map_while(|position| self.value(position))
    }

    /// Returns the index of the first value whose length is not a multiple of the datatype size, or
    /// `None` if all lengths are multiples.
    ///
    /// Some writers declare an integer datatype but store text. Treat such values as bytes.
    #[must_use]
    pub fn uneven_value(&self) -> Option<usize> {
        self.values().position(|value| !value.len().is_multiple_of(self.datatype.size()))
    }

    /// Returns the index of a value, compared byte by byte, or `None` if the enumeration does not
    /// have the value.
    ///
    /// The search is linear. For many lookups, use a [`positions`](Self::positions) map.
    #[must_use]
    pub fn index_of(&self, value: &[u8]) -> Option<usize> {
        self.values().position(|candidate| candidate == value)
    }

    /// Returns a map from the bytes of each value to its index.
    #[must_use]
    pub fn positions(&self) -> HashMap<&[u8], usize> {
        self.values().enumerate().map(|(position, value)| (value, position)).collect()
    }

    /// Returns the size of a value in bytes, or `None` for variable-length values.
    fn value_size(&self) -> Option<usize> {
        let values = usize::try_from(self.cell_val_num.fixed()?).ok()?;
        values.checked_mul(self.datatype.size())
    }

    /// Parses the payload of the enumeration's generic tile.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid enumeration or have an unsupported version.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        crate::group(reader, "enumeration", Self::parse_fields)?.validated()
    }

    fn parse_fields(reader: &mut ByteReader<'_>) -> Result<Self> {
        let version = reader.u32("enumeration version")?;
        if version > VERSION {
            return Err(SchemaError::unsupported(
                "enumeration",
                format!("found version {version}, expected at most {VERSION}"),
            ));
        }
        let name = reader.string_u32("name")?;
        let file_name = reader.string_u32("file name")?;
        let datatype = Datatype::read(reader, "datatype")?;
        let cell_val_num = CellValNum::read(reader, "values per value")?;
        let ordered = reader.bool("ordered")?;
        let size = reader.u64("data size")?;
        let data = reader.bytes("data", size)?.to_vec();
        let offsets = if cell_val_num.is_var() { parse_offsets(reader)? } else { Vec::new() };
        Ok(Self { name, file_name, datatype, cell_val_num, ordered, data, offsets })
    }

    /// Writes the payload of the enumeration's generic tile.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u32(VERSION);
        writer.string_u32(&self.name);
        writer.string_u32(&self.file_name);
        self.datatype.write(writer);
        self.cell_val_num.write(writer);
        writer.bool(self.ordered);
        writer.u64(self.data.len() as u64);
        writer.bytes(&self.data);
        if self.cell_val_num.is_var() {
            writer.u64(self.offsets.len() as u64 * 8);
            writer.u64_list(&self.offsets);
        }
    }

    fn validated(self) -> Result<Self> {
        self.validate()?;
        Ok(self)
    }

    fn validate(&self) -> Result<()> {
        let invalid = |why: String| SchemaError::invalid(format!("enumeration {:?}", self.name), why);
        if self.name.is_empty() {
            return Err(SchemaError::invalid("enumeration", "missing name"));
        }
        if !is_safe_file_name(&self.file_name) {
            return Err(invalid(format!("{:?} is not a valid file name", self.file_name)));
        }
        match self.value_size() {
            Some(size) if !self.data.len().is_multiple_of(size) => {
                return Err(invalid(format!(
                    "{} bytes are not a multiple of the value size of {size} bytes",
                    self.data.len()
                )));
            }
            Some(_) => {}
            None => self.validate_offsets().map_err(invalid)?,
        }
        // Limits the capacity, because one byte has only 2^8 distinct values and two bytes have
        // 2^16.
        let different = self.value_size().map_or(usize::MAX, |size| match size {
            1 => 1 << 8,
            2 => 1 << 16,
            _ => usize::MAX,
        });
        let mut seen = HashSet::with_capacity(self.len().min(different));
        match self.values().position(|value| !seen.insert(value)) {
            Some(position) => Err(invalid(format!("value {position} is a duplicate"))),
            None => Ok(()),
        }
    }

    fn validate_offsets(&self) -> Result<(), String> {
        match self.offsets.first() {
            None if !self.data.is_empty() => return Err(format!("{} bytes without offsets", self.data.len())),
            Some(&first) if first != 0 => return Err(format!("the first value begins at {first}, expected 0")),
            _ => {}
        }
        if !self.offsets.is_sorted() {
            return Err("offsets are not ascending".to_owned());
        }
        match self.offsets.last() {
            Some(&last) if last > self.data.len() as u64 => {
                Err(format!("a value begins at {last}, beyond the end of the {} bytes", self.data.len()))
            }
            _ => Ok(()),
        }
    }
}

fn parse_offsets(reader: &mut ByteReader<'_>) -> tdb_types::Result<Vec<u64>> {
    let offset = reader.offset();
    let size = reader.u64("offsets size")?;
    if !size.is_multiple_of(8) {
        return Err(DecodeError::invalid("offsets size", offset, size, "a multiple of 8"));
    }
    reader.u64_list("offsets", size / 8)
}

#[cfg(test)]
mod tests;
