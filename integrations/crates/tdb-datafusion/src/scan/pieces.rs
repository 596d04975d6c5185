//! Serialization of scans, for reading in another process.
//!
//! ```text
//! u8 version | URI | u8 flags | u64 start, end of time | u64 budget | u64 fetch + 1, 0 for none | order | u32 count | count × its column
//!            | u32 count | count × column | u32 partitions | partitions × (u32 count | count × part)
//! URI, order, column, part: u32 length | bytes
//! ```

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use tdb_array::tdb_types::{ByteReader, ByteWriter, DecodeError};
use tdb_array::{Array, Order, QueryPart, TimeRange};

use super::Scan;
use crate::opened::Opened;
use crate::{Opener, TableOptions, error};

const VERSION: u8 = 1;
const BINARY_STRINGS: u8 = 1;

/// The description of a [`Scan`]: the URI, the snapshot, and the query parts of each partition.
/// Contains neither open files nor keys. Two processes with the same version of this crate can
/// exchange the description as [bytes](Self::to_bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct ScanPieces {
    uri: String,
    columns: Vec<String>,
    binary_strings: bool,
    budget: u64,
    fetch: Option<u64>,
    order: Option<(Order, Vec<String>)>,
    time: TimeRange,
    partitions: Vec<Vec<QueryPart>>,
}

impl Scan {
    /// Returns the description of this scan. Omits dynamic filters, because the plan also applies
    /// them elsewhere. Reads metadata, and blocks.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub fn pieces(&self) -> Result<ScanPieces> {
        Ok(ScanPieces {
            uri: self.opened.uri.clone(),
            columns: self.columns.clone(),
            binary_strings: self.opened.options.binary_strings,
            budget: self.opened.options.budget as u64,
            fetch: self.fetch.map(|fetch| fetch as u64),
            order: self.order.clone(),
            time: self.opened.array.time(),
            partitions: self.parts()?.to_vec(),
        })
    }
}

impl ScanPieces {
    /// Returns the URI of the array.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the time range of the snapshot.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.time
    }

    /// Returns each partition as a separate scan, for distribution to several readers.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        self.partitions.iter().map(|parts| Self {
            uri: self.uri.clone(),
            columns: self.columns.clone(),
            order: self.order.clone(),
            partitions: vec![parts.clone()],
            ..*self
        })
    }

    /// Opens the array with the opener, and creates the scan. Blocks.
    ///
    /// # Errors
    /// The array cannot be opened, lacks a column, or does not provide the order of the scan.
    pub fn scan(&self, opener: &Opener) -> Result<Scan> {
        self.on(opener.array(&self.uri, Some(self.time))?)
    }

    /// Creates the scan on an open array. Saves opening the array for each plan.
    ///
    /// # Errors
    /// The array lacks a column or does not provide the order of the scan, or a column has no Arrow
    /// type.
    pub fn on(&self, array: Array) -> Result<Scan> {
        let mut options = TableOptions::new().between(self.time);
        options = options.budget(usize::try_from(self.budget).unwrap_or(usize::MAX));
        if self.binary_strings {
            options = options.strings_as_binary();
        }
        let opened = Opened::new(&self.uri, array, options)?;
        let place = |name: &String| {
            let place = opened.schema.index_of(name);
            place.map_err(|_| error::plan(format!("{:?} no longer has a column {name:?}", self.uri)))
        };
        let places = self.columns.iter().map(place).collect::<Result<Vec<_>>>()?;
        let scan = Scan {
            fetch: self.fetch.map(|fetch| usize::try_from(fetch).unwrap_or(usize::MAX)),
            order: self.order.clone(),
            partitions: self.partitions.len(),
            parts: Arc::new(std::sync::OnceLock::from(Ok(Arc::new(self.partitions.clone())))),
            ..Scan::new(&opened, Some(&places), 1)?
        };
        // Plans omit sorts based on this order, so a wrong claim would give wrong rows.
        if let Some((_, names)) = &self.order
            && scan.order_by(names.clone()) != self.order
        {
            return Err(error::plan(format!("{:?} has no order by {}", self.uri, names.join(", "))));
        }
        Ok(scan)
    }

    /// Serializes the scan for [`from_bytes`](Self::from_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        writer.u8(VERSION);
        writer.string_u32(&self.uri);
        writer.u8(if self.binary_strings { BINARY_STRINGS } else { 0 });
        writer.u64(self.time.start);
        writer.u64(self.time.end);
        writer.u64(self.budget);
        writer.u64(self.fetch.map_or(0, |fetch| fetch.saturating_add(1)));
        let (order, sorted) = match &self.order {
            None => (String::new(), &[][..]),
            Some((order, names)) => (order.to_string(), &names[..]),
        };
        writer.string_u32(&order);
        for names in [sorted, &self.columns] {
            writer.u32(names.len() as u32);
            names.iter().for_each(|name| writer.string_u32(name));
        }
        writer.u32(self.partitions.len() as u32);
        for parts in &self.partitions {
            writer.u32(parts.len() as u32);
            for part in parts {
                let bytes = part.to_bytes();
                writer.u32(bytes.len() as u32);
                writer.bytes(&bytes);
            }
        }
        writer.into_bytes()
    }

    /// Parses the result of [`to_bytes`](Self::to_bytes). Allocations are proportional to the
    /// input.
    ///
    /// # Errors
    /// The bytes are damaged, or from another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = ByteReader::new(bytes);
        let pieces = parse(&mut reader).and_then(|pieces| reader.finish("scan").map(|()| pieces));
        pieces.map_err(|error| DataFusionError::External(Box::new(error)).context("cannot decode a scan"))
    }
}

fn parse(reader: &mut ByteReader<'_>) -> Result<ScanPieces, DecodeError> {
    let offset = reader.offset();
    let version = reader.u8("version")?;
    if version != VERSION {
        return Err(DecodeError::invalid("version", offset, version, "1"));
    }
    let uri = reader.string_u32("URI")?;
    let offset = reader.offset();
    let flags = reader.u8("flags")?;
    if flags & !BINARY_STRINGS != 0 {
        return Err(DecodeError::invalid("flags", offset, flags, "0 or 1"));
    }
    let time = TimeRange { start: reader.u64("start")?, end: reader.u64("end")? };
    let budget = reader.u64("budget")?;
    let fetch = reader.u64("fetch")?.checked_sub(1);
    let offset = reader.offset();
    let order = reader.string_u32("order")?;
    let sorted = parse_names(reader)?;
    let order = match (order.is_empty(), order.parse()) {
        (true, _) => None,
        (false, Ok(order)) => Some((order, sorted)),
        (false, Err(_)) => return Err(DecodeError::invalid("order", offset, order, "the name of an order")),
    };
    let columns = parse_names(reader)?;
    let count = reader.u32("partitions")?;
    let count = reader.count("partitions", count.into(), 4)?;
    let mut partitions = Vec::new();
    for _ in 0..count {
        let count = reader.u32("parts")?;
        let count = reader.count("parts", count.into(), 4)?;
        let mut parts = Vec::new();
        for _ in 0..count {
            let len = reader.u32("length")?;
            parts.push(QueryPart::from_bytes(reader.bytes("part", len.into())?)?);
        }
        partitions.push(parts);
    }
    let binary_strings = flags & BINARY_STRINGS != 0;
    Ok(ScanPieces { uri, columns, binary_strings, budget, fetch, order, time, partitions })
}

fn parse_names(reader: &mut ByteReader<'_>) -> Result<Vec<String>, DecodeError> {
    let count = reader.u32("names")?;
    let count = reader.count("names", count.into(), 4)?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(reader.string_u32("name")?);
    }
    Ok(names)
}
