//! Serialization of the properties of a scan that plans need without opening the array. The query
//! parts are the rows of the scan's input.
//!
//! ```text
//! "tdb scan" | u8 version, 1 | u64 query | URI | u32 length | the columns' schema, as DataFusion writes it
//!            | u32 count | count × order: u32 count | count × (u32 column | u8: 1 descending, 2 nulls first)
//! URI: u32 length | bytes in UTF-8
//! ```

use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::{DataFusionError, Result};
use datafusion_proto::protobuf;
use prost::Message;
use tdb_datafusion::tdb_array::tdb_types::{ByteReader, ByteWriter, DecodeError, DecodeErrorKind};

const MAGIC: &[u8] = b"tdb scan";
/// Version of the format above, including its semantics.
pub(crate) const VERSION: u8 = 1;
/// Offset of the version.
#[cfg(test)]
pub(crate) const VERSION_AT: usize = MAGIC.len();
const DESCENDING: u8 = 1;
const NULLS_FIRST: u8 = 2;

/// Index of a column, with its sort options.
pub(crate) type SortColumn = (u32, SortOptions);

/// A scan without its query parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Header {
    /// Number shared by the scans of a query, and different in other queries.
    pub(crate) query: u64,
    /// URI of the array.
    pub(crate) uri: String,
    pub(crate) schema: SchemaRef,
    /// Sort orders of the rows within each partition.
    pub(crate) orders: Vec<Vec<SortColumn>>,
}

/// `true` if the bytes are a scan, of any version. Messages of Ballista never start like this,
/// because the first byte would be the end of a group.
pub(crate) fn is_scan(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Header {
    /// Serializes the header for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// DataFusion cannot serialize a type in the schema.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let schema = protobuf::Schema::try_from(self.schema.as_ref())?.encode_to_vec();
        let mut writer = ByteWriter::new();
        writer.bytes(MAGIC);
        writer.u8(VERSION);
        writer.u64(self.query);
        writer.string_u32(&self.uri);
        writer.u32(schema.len() as u32);
        writer.bytes(&schema);
        writer.u32(self.orders.len() as u32);
        for order in &self.orders {
            writer.u32(order.len() as u32);
            for (column, options) in order {
                writer.u32(*column);
                let descending = if options.descending { DESCENDING } else { 0 };
                writer.u8(descending | if options.nulls_first { NULLS_FIRST } else { 0 });
            }
        }
        Ok(writer.into_bytes())
    }

    /// Parses the result of [`to_bytes`](Self::to_bytes). Allocations are proportional to the
    /// input.
    ///
    /// # Errors
    /// Another version, or damaged bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = ByteReader::new(bytes);
        let read = parse(&mut reader).and_then(|parts| reader.finish("scan").map(|()| parts));
        let (query, uri, schema, orders) = read.map_err(|error| wrong(DataFusionError::External(Box::new(error))))?;
        let schema =
            protobuf::Schema::decode(schema).map_err(|error| wrong(DataFusionError::External(Box::new(error))))?;
        let schema = Schema::try_from(&schema).map_err(|error| wrong(error.into()))?;
        let columns = schema.fields().len();
        if let Some((column, _)) = orders.iter().flatten().find(|(column, _)| *column as usize >= columns) {
            let message = format!("invalid order: column {column} of {columns}");
            return Err(wrong(DataFusionError::Execution(message)));
        }
        Ok(Self { query, uri, schema: Arc::new(schema), orders })
    }
}

fn wrong(error: DataFusionError) -> DataFusionError {
    error.context("cannot decode a received scan")
}

type Parts<'a> = (u64, String, &'a [u8], Vec<Vec<SortColumn>>);

fn parse<'a>(reader: &mut ByteReader<'a>) -> Result<Parts<'a>, DecodeError> {
    let offset = reader.offset();
    let magic = reader.bytes("magic", MAGIC.len() as u64)?;
    if magic != MAGIC {
        return Err(DecodeError::invalid("magic", offset, magic.escape_ascii(), "\"tdb scan\""));
    }
    let offset = reader.offset();
    let found = u32::from(reader.u8("version")?);
    if found != u32::from(VERSION) {
        let (min, max) = (u32::from(VERSION), u32::from(VERSION));
        return Err(DecodeError::new(DecodeErrorKind::UnsupportedVersion { found, min, max }, "version", offset));
    }
    let query = reader.u64("query")?;
    let uri = reader.string_u32("URI")?;
    let len = reader.u32("length")?;
    let schema = reader.bytes("schema", len.into())?;
    let count = reader.u32("orders")?;
    let mut orders = Vec::new();
    for _ in 0..reader.count("orders", count.into(), 4)? {
        orders.push(parse_order(reader)?);
    }
    Ok((query, uri, schema, orders))
}

fn parse_order(reader: &mut ByteReader<'_>) -> Result<Vec<SortColumn>, DecodeError> {
    let count = reader.u32("columns")?;
    let mut order = Vec::new();
    for _ in 0..reader.count("columns", count.into(), 5)? {
        let column = reader.u32("column")?;
        let offset = reader.offset();
        let flags = reader.u8("flags")?;
        if flags & !(DESCENDING | NULLS_FIRST) != 0 {
            return Err(DecodeError::invalid("flags", offset, flags, "0 to 3"));
        }
        let options = SortOptions { descending: flags & DESCENDING != 0, nulls_first: flags & NULLS_FIRST != 0 };
        order.push((column, options));
    }
    Ok(order)
}

#[cfg(test)]
mod tests;
