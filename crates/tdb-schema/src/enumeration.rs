//! Enumerations: the lists of values that attributes hold positions in.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use tdb_types::{ByteReader, ByteWriter, CellValNum, Datatype, is_safe_file_name};

use crate::SchemaError;
use crate::error::Result;

/// The version of this structure, which counts apart from the format's.
const VERSION: u32 = 0;
/// What stands for the name of a file that isn't known yet.
const UNPLACED: &str = "__unplaced";

/// Which file of `__schema/__enumerations` holds an enumeration of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumerationRef {
    /// The enumeration's name.
    pub name: String,
    /// The file's name, without folders.
    pub file_name: String,
}

impl EnumerationRef {
    /// Whether the name of the file isn't known yet.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.file_name == UNPLACED
    }

    /// An enumeration whose file has no name yet: it gets one when the array is made.
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

/// A list of distinct values; attributes with an enumeration hold positions in it.
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
    /// An enumeration of values of fixed size, which follow each other in `data` (little-endian). An empty file name
    /// stands for one that isn't known yet.
    ///
    /// # Errors
    /// Values that repeat or don't fill `data`, a name that is empty, a file name that isn't one component of a path.
    pub fn fixed(
        name: impl Into<String>,
        file_name: impl Into<String>,
        datatype: Datatype,
        data: impl Into<Vec<u8>>,
    ) -> Result<Self> {
        Self {
            name: name.into(),
            file_name: placed(file_name.into()),
            datatype,
            cell_val_num: CellValNum::ONE,
            ordered: false,
            data: data.into(),
            offsets: Vec::new(),
        }
        .validated()
    }

    /// An enumeration of strings, or of other values of variable length. An empty file name stands for one that isn't
    /// known yet.
    ///
    /// # Errors
    /// Values that repeat, a name that is empty, a file name that isn't one component of a path.
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
        Self {
            name: name.into(),
            file_name: placed(file_name.into()),
            datatype,
            cell_val_num: CellValNum::Var,
            ordered: false,
            data,
            offsets,
        }
        .validated()
    }

    /// The same enumeration with so many values of its datatype in each of its values of fixed size.
    ///
    /// # Errors
    /// Values that repeat or don't fill the data.
    pub fn with_values_per_value(mut self, number: NonZeroU32) -> Result<Self> {
        self.cell_val_num = CellValNum::Fixed(number);
        self.offsets.clear();
        self.validated()
    }

    /// The same enumeration, to be put into the file of this name.
    ///
    /// # Errors
    /// A name that isn't one component of a path.
    pub fn with_file_name(mut self, file_name: &str) -> Result<Self> {
        self.file_name = file_name.to_owned();
        self.validated()
    }

    /// The same enumeration, to be put into a file whose name isn't known yet.
    #[must_use]
    pub fn unplaced(mut self) -> Self {
        UNPLACED.clone_into(&mut self.file_name);
        self
    }

    /// The same enumeration with more values of its kind after those that it has.
    ///
    /// # Errors
    /// A value that is there already, or isn't of the right size; values, old or new, that end within an element of the datatype.
    pub fn extended<V: AsRef<[u8]>>(mut self, values: impl IntoIterator<Item = V>) -> Result<Self> {
        let size = self.value_size();
        for value in values {
            let value = value.as_ref();
            match size {
                None => self.offsets.push(self.data.len() as u64),
                Some(size) if value.len() == size => {}
                Some(size) => {
                    let why = format!("a value of {} bytes among values of {size} bytes", value.len());
                    return Err(SchemaError::invalid(format!("enumeration {:?}", self.name), why));
                }
            }
            self.data.extend_from_slice(value);
        }
        if let Some(position) = self.uneven_value() {
            let (len, datatype) = (self.value(position).map_or(0, <[u8]>::len), self.datatype);
            let why = format!("value {position} has {len} bytes, which are no whole number of values of {datatype}");
            return Err(SchemaError::invalid(
                format!("enumeration {:?}", self.name),
                format!("{why}; add an enumeration of another datatype instead of extending this one"),
            ));
        }
        self.validated()
    }

    /// The payload of the enumeration's generic tile, for those who filter it themselves, perhaps with a key.
    #[must_use]
    pub fn to_payload(&self) -> Vec<u8> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload);
        payload.into_bytes()
    }

    /// The same enumeration, its values being in an order that means something.
    #[must_use]
    pub fn ordered(mut self) -> Self {
        self.ordered = true;
        self
    }

    /// The name, by which attributes know it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its file, without folders.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How many values of the datatype one value of the enumeration has.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Whether the order of the values means something.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The bytes of all values, one after the other.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Where each value of variable length begins in [`data`](Self::data); empty for values of fixed size.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.value_size() {
            Some(size) => self.data.len().checked_div(size).unwrap_or(0),
            None => self.offsets.len(),
        }
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of the value at a position; nothing beyond the last.
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

    /// The values in order.
    pub fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map_while(|position| self.value(position))
    }

    /// The position of the first value whose bytes end within an element of the datatype. Some writers declare integers and store
    /// text: such values have no meaning but their bytes.
    #[must_use]
    pub fn uneven_value(&self) -> Option<usize> {
        self.values().position(|value| !value.len().is_multiple_of(self.datatype.size()))
    }

    /// The position of a value, by its exact bytes. It looks at one value after the other; where many are asked for,
    /// use a [`positions`](Self::positions) map.
    #[must_use]
    pub fn index_of(&self, value: &[u8]) -> Option<usize> {
        self.values().position(|candidate| candidate == value)
    }

    /// The position of every value, by its exact bytes.
    #[must_use]
    pub fn positions(&self) -> HashMap<&[u8], usize> {
        self.values().enumerate().map(|(position, value)| (value, position)).collect()
    }

    /// Bytes of one value of fixed size.
    fn value_size(&self) -> Option<usize> {
        let values = usize::try_from(self.cell_val_num.fixed()?).ok()?;
        values.checked_mul(self.datatype.size())
    }

    /// Reads the payload of an enumeration's generic tile.
    ///
    /// # Errors
    /// Bytes that aren't an enumeration, or one that contradicts itself.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        crate::group(reader, "enumeration", Self::parse_fields)?.validated()
    }

    fn parse_fields(reader: &mut ByteReader<'_>) -> Result<Self> {
        let version = reader.u32("enumeration version")?;
        if version > VERSION {
            return Err(SchemaError::unsupported("enumeration", format!("version {version} is above {VERSION}")));
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
            return Err(SchemaError::invalid("enumeration", "has no name"));
        }
        if !is_safe_file_name(&self.file_name) {
            return Err(invalid(format!("{:?} can't be the name of a file", self.file_name)));
        }
        match self.value_size() {
            Some(size) if !self.data.len().is_multiple_of(size) => {
                return Err(invalid(format!("{} bytes aren't values of {size} bytes each", self.data.len())));
            }
            Some(_) => {}
            None => self.validate_offsets().map_err(invalid)?,
        }
        // There are not many different values of a byte or two, however many bytes there are.
        let different = self.value_size().map_or(usize::MAX, |size| match size {
            1 => 1 << 8,
            2 => 1 << 16,
            _ => usize::MAX,
        });
        let mut seen = HashSet::with_capacity(self.len().min(different));
        match self.values().position(|value| !seen.insert(value)) {
            Some(position) => Err(invalid(format!("value {position} has been there before"))),
            None => Ok(()),
        }
    }

    fn validate_offsets(&self) -> Result<(), String> {
        match self.offsets.first() {
            None if !self.data.is_empty() => return Err(format!("{} bytes without offsets", self.data.len())),
            Some(&first) if first != 0 => return Err(format!("the first value begins at {first}, not 0")),
            _ => {}
        }
        if !self.offsets.is_sorted() {
            return Err("offsets fall".to_owned());
        }
        match self.offsets.last() {
            Some(&last) if last > self.data.len() as u64 => {
                Err(format!("a value begins at {last}, after the last of {} bytes", self.data.len()))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a file, or what stands for one.
fn placed(file_name: String) -> String {
    if file_name.is_empty() { UNPLACED.to_owned() } else { file_name }
}

fn parse_offsets(reader: &mut ByteReader<'_>) -> tdb_types::Result<Vec<u64>> {
    let offset = reader.offset();
    let size = reader.u64("offsets size")?;
    if !size.is_multiple_of(8) {
        return Err(reader.invalid("offsets size", offset, size, "a multiple of 8"));
    }
    reader.u64_list("offsets", size / 8)
}

#[cfg(test)]
mod tests;
