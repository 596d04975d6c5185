//! Parsing and printing of filters and their options.

use tdb_filters::{Filter, FilterPipeline, WebPFormat, WebPOptions};
use tdb_types::{Datatype, hex};
use toml::{Table, Value};

use crate::document;
use crate::{Result, SchemaTextError};

pub(crate) fn parse(filters: &document::Filters, what: &str) -> Result<FilterPipeline> {
    let (list, max_chunk_size) = match filters {
        document::Filters::List(list) => (list, FilterPipeline::DEFAULT_MAX_CHUNK_SIZE),
        document::Filters::Chunked(chunked) => (&chunked.filters, chunked.max_chunk_size),
    };
    let filters = list.iter().map(|filter| {
        let (name, table) = match filter {
            document::Filter::Name(name) => (name.clone(), Table::new()),
            document::Filter::Table(table) => {
                let mut table = table.clone();
                let Some(Value::String(name)) = table.remove("filter") else {
                    let why = "missing the key `filter` in a filter table; write { filter = \"zstd\", level = 5 }";
                    return Err(SchemaTextError::invalid(what, why).at(key(what)));
                };
                (name, table)
            }
        };
        Options { what, name: &name, table }.filter()
    });
    Ok(FilterPipeline { max_chunk_size, filters: filters.collect::<Result<_>>()? })
}

pub(crate) fn print(pipeline: &FilterPipeline) -> Value {
    let filters = Value::Array(pipeline.filters.iter().map(print_filter).collect());
    if pipeline.max_chunk_size == FilterPipeline::DEFAULT_MAX_CHUNK_SIZE {
        return filters;
    }
    let max_chunk_size = Value::Integer(pipeline.max_chunk_size.into());
    Value::Table(Table::from_iter([("max_chunk_size".to_owned(), max_chunk_size), ("filters".to_owned(), filters)]))
}

/// The options of a filter. Parsing removes each option from the table.
struct Options<'a> {
    what: &'a str,
    name: &'a str,
    table: Table,
}

impl Options<'_> {
    fn filter(mut self) -> Result<Filter> {
        let what = self.what;
        let unknown = |name| SchemaTextError::invalid(what, format!("unknown filter {name:?}")).at(key(what));
        let mut filter = match self.name {
            "unknown" => Filter::Unknown { code: self.integer("code", 255)?, options: self.bytes("options")? },
            name => Filter::from_name(name).ok_or_else(|| unknown(name))?,
        };
        match &mut filter {
            Filter::Gzip { level }
            | Filter::Zstd { level }
            | Filter::Lz4 { level }
            | Filter::Rle { level }
            | Filter::Bzip2 { level }
            | Filter::Dictionary { level } => *level = self.integer("level", *level)?,
            Filter::DoubleDelta { level, reinterpret } | Filter::Delta { level, reinterpret } => {
                *level = self.integer("level", *level)?;
                *reinterpret = self.datatype("reinterpret")?;
            }
            Filter::BitWidthReduction { max_window } | Filter::PositiveDelta { max_window } => {
                *max_window = self.integer("max_window", *max_window)?;
            }
            Filter::FloatScale { scale, offset, byte_width } => {
                *scale = self.float("scale", *scale)?;
                *offset = self.float("offset", *offset)?;
                *byte_width = self.integer("byte_width", *byte_width)?;
            }
            Filter::WebP(options) => *options = self.webp()?,
            _ => {}
        }
        match self.table.keys().next() {
            Some(key) => Err(self.error(&format!("does not have the option {key:?}"))),
            None => Ok(filter),
        }
    }

    fn webp(&mut self) -> Result<WebPOptions> {
        let format = match self.table.remove("format") {
            None => WebPFormat::None,
            Some(value) => value
                .as_str()
                .and_then(WebPFormat::from_name)
                .ok_or_else(|| self.error("requires a format of rgb, bgr, rgba or bgra"))?,
        };
        #[allow(clippy::cast_possible_truncation)] // stored in 32 bits
        Ok(WebPOptions {
            quality: self.float("quality", 100.0)? as f32,
            format,
            lossless: match self.table.remove("lossless") {
                None => false,
                Some(value) => value.as_bool().ok_or_else(|| self.error("requires true or false for lossless"))?,
            },
            y_extent: self.integer("rows", 0)?,
            x_extent: self.integer("bytes_per_row", 0)?,
        })
    }

    fn integer<T: TryFrom<i64>>(&mut self, key: &str, default: T) -> Result<T> {
        match self.table.remove(key) {
            None => Ok(default),
            Some(value) => {
                let number = value.as_integer().and_then(|number| T::try_from(number).ok());
                number.ok_or_else(|| self.error(&format!("requires a valid integer for {key}, found {value}")))
            }
        }
    }

    fn float(&mut self, key: &str, default: f64) -> Result<f64> {
        match self.table.remove(key) {
            None => Ok(default),
            Some(Value::Float(value)) => Ok(value),
            #[allow(clippy::cast_precision_loss)] // rounds like any other decimal
            Some(Value::Integer(value)) => Ok(value as f64),
            Some(value) => Err(self.error(&format!("requires a number for {key}, found {value}"))),
        }
    }

    fn datatype(&mut self, key: &str) -> Result<Option<Datatype>> {
        let Some(value) = self.table.remove(key) else { return Ok(None) };
        let datatype = value.as_str().and_then(Datatype::from_name);
        datatype.map(Some).ok_or_else(|| self.error(&format!("requires a datatype for {key}, found {value}")))
    }

    fn bytes(&mut self, key: &str) -> Result<Vec<u8>> {
        let Some(value) = self.table.remove(key) else { return Ok(Vec::new()) };
        value
            .as_str()
            .and_then(hex::decode)
            .ok_or_else(|| self.error(&format!("requires pairs of hex digits for {key}")))
    }

    #[cold]
    fn error(&self, why: &str) -> SchemaTextError {
        SchemaTextError::invalid(self.what, format!("filter {} {why}", self.name)).at(key(self.what))
    }
}

/// Returns the key that contains the filters: `what` for filters that fields share, `filters` for
/// the filters of a single field.
fn key(what: &str) -> &'static str {
    let own = ["coords_filters", "offsets_filters", "validity_filters"];
    own.into_iter().find(|key| *key == what).unwrap_or("filters")
}

/// Prints a filter as its name, or as a table if it has options to print. Levels and windows are
/// printed only if they differ from the default.
fn print_filter(filter: &Filter) -> Value {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| table.insert(key.to_owned(), value);
    put("filter", Value::String(filter.name().to_owned()));
    match filter {
        Filter::Gzip { level }
        | Filter::Zstd { level }
        | Filter::Lz4 { level }
        | Filter::Rle { level }
        | Filter::Bzip2 { level }
        | Filter::Dictionary { level }
        | Filter::DoubleDelta { level, .. }
        | Filter::Delta { level, .. }
            if *level != Filter::DEFAULT_LEVEL =>
        {
            put("level", Value::Integer((*level).into()));
        }
        Filter::BitWidthReduction { max_window } if *max_window != Filter::DEFAULT_BIT_WIDTH_WINDOW => {
            put("max_window", Value::Integer((*max_window).into()));
        }
        Filter::PositiveDelta { max_window } if *max_window != Filter::DEFAULT_POSITIVE_DELTA_WINDOW => {
            put("max_window", Value::Integer((*max_window).into()));
        }
        Filter::FloatScale { scale, offset, byte_width } => {
            put("scale", Value::Float(*scale));
            put("offset", Value::Float(*offset));
            put("byte_width", Value::Integer(i64::try_from(*byte_width).unwrap_or(i64::MAX)));
        }
        Filter::WebP(options) => {
            put("format", Value::String(options.format.name().to_owned()));
            put("quality", Value::Float(options.quality.into()));
            put("lossless", Value::Boolean(options.lossless));
            put("rows", Value::Integer(options.y_extent.into()));
            put("bytes_per_row", Value::Integer(options.x_extent.into()));
        }
        Filter::Unknown { code, options } => {
            put("code", Value::Integer((*code).into()));
            put("options", Value::String(hex::encode(options)));
        }
        _ => {}
    }
    if let Filter::DoubleDelta { reinterpret: Some(datatype), .. } | Filter::Delta { reinterpret: Some(datatype), .. } =
        filter
    {
        put("reinterpret", Value::String(datatype.name().to_owned()));
    }
    if table.len() == 1 { Value::String(filter.name().to_owned()) } else { Value::Table(table) }
}
