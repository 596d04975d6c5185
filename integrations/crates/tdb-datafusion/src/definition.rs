//! Array definitions from columns and options.

use std::collections::HashMap;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::error::Result;
use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_array::tdb_schema::{ArrayDefinition, Dimension, SchemaBuilder};
use tdb_array::tdb_types::datetime::{self, Written};
use tdb_array::tdb_types::{Datatype, PhysicalType, Scalar};
use tdb_arrow::NewArray;

use crate::error;

/// Options of a statement about the array to create, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Creation {
    options: HashMap<String, String>,
}

const KNOWN: [&str; 5] = ["dimensions", "array", "duplicates", "capacity", "filters"];

impl Creation {
    /// Takes the options about the array out of the options of a statement.
    pub(crate) fn of(options: &mut HashMap<String, String>) -> Self {
        let mut taken = HashMap::new();
        options.retain(|key, value| {
            let name = key.strip_prefix("format.").unwrap_or(key);
            let is_of_dimension = name.starts_with("domain.") || name.starts_with("tile.");
            let is_known = KNOWN.contains(&name) || is_of_dimension;
            if is_known {
                taken.insert(name.to_owned(), value.clone());
            }
            !is_known
        });
        Self { options: taken }
    }

    /// Returns `true` if there are no options.
    pub(crate) fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// Builds the array definition for these columns. Dictionaries become enumerations with the
    /// values in `rows`.
    ///
    /// # Errors
    /// Missing or unsuitable dimensions, invalid option values, and columns of unsupported types.
    pub(crate) fn definition(&self, columns: &Schema, rows: Option<&RecordBatch>) -> Result<ArrayDefinition> {
        let failed = |error| error::of_arrow("new array", error);
        let mut array = self.array(columns)?;
        if let Some(rows) = rows {
            array.add_dictionaries(rows).map_err(failed)?;
        }
        array.definition(&self.plain(columns)).map_err(failed)
    }

    /// Returns the names of the dimensions.
    fn dimensions(&self) -> impl Iterator<Item = &str> {
        self.options.get("dimensions").into_iter().flat_map(|names| names.split(',')).map(str::trim)
    }

    /// Replaces dictionaries by their value types in dimension columns.
    pub(crate) fn plain(&self, columns: &Schema) -> Schema {
        let fields = columns.fields().iter().map(|field| match field.data_type() {
            DataType::Dictionary(_, values) if self.dimensions().any(|name| name == field.name()) => {
                field.as_ref().clone().with_data_type((**values).clone())
            }
            _ => field.as_ref().clone(),
        });
        Schema::new(fields.collect::<Vec<_>>())
    }

    /// Creates the builder with the dimensions and options.
    fn array(&self, columns: &Schema) -> Result<NewArray> {
        let is_dense = match self.options.get("array").map(String::as_str) {
            None | Some("sparse") => false,
            Some("dense") => true,
            Some(other) => {
                return Err(error::plan(format!("option 'array' is '{other}': expected 'sparse' or 'dense'")));
            }
        };
        let Some(dimensions) = self.options.get("dimensions") else {
            return Err(error::plan(
                "a new array needs OPTIONS ('dimensions' 'COLUMN,…') with the columns of the coordinates",
            ));
        };
        let mut builder = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
        if let Some(duplicates) = self.number("duplicates", |text| text.parse::<bool>().ok())? {
            builder = builder.allows_duplicates(duplicates);
        }
        if let Some(capacity) = self.number("capacity", |text| text.parse().ok())? {
            builder = builder.capacity(capacity);
        }
        let mut array = NewArray::new(builder).filters(self.filters()?);
        let names: Vec<&str> = self.dimensions().collect();
        for key in self.options.keys() {
            if let Some(name) = key.strip_prefix("domain.").or_else(|| key.strip_prefix("tile."))
                && !names.contains(&name)
            {
                return Err(error::plan(format!("option '{key}': {name:?} is not one of the dimensions {dimensions}")));
            }
        }
        for name in names {
            let field = columns.field_with_name(name);
            let field = field.map_err(|_| error::plan(format!("no column {name:?} for the dimension")))?;
            array = array.dimension(self.dimension(field, is_dense)?);
        }
        Ok(array)
    }

    fn number<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let Some(text) = self.options.get(key) else { return Ok(None) };
        parse(text).map(Some).ok_or_else(|| error::plan(format!("option '{key}' is '{text}': not a valid value")))
    }

    fn filters(&self) -> Result<FilterPipeline> {
        let level = Filter::DEFAULT_LEVEL;
        let filters = match self.options.get("filters").map(String::as_str) {
            None | Some("zstd") => vec![Filter::Zstd { level }],
            Some("gzip") => vec![Filter::Gzip { level }],
            Some("lz4") => vec![Filter::Lz4 { level }],
            Some("none") => Vec::new(),
            Some(other) => {
                return Err(error::plan(format!(
                    "option 'filters' is '{other}': expected 'zstd', 'gzip', 'lz4' or 'none'"
                )));
            }
        };
        Ok(FilterPipeline::new(filters))
    }

    fn dimension(&self, field: &Field, is_dense: bool) -> Result<Dimension> {
        let name = field.name();
        let (datatype, _) = tdb_arrow::cells_of(field).map_err(|error| error::of_arrow("new array", error))?;
        let (domain, tile) = (self.options.get(&format!("domain.{name}")), self.options.get(&format!("tile.{name}")));
        if matches!(datatype, Datatype::StringUtf8 | Datatype::StringAscii) {
            if domain.is_some() || tile.is_some() || is_dense {
                return Err(error::plan(format!(
                    "column {name:?} has strings: a string dimension has no domain and no tiles, and dense arrays do not support it"
                )));
            }
            return Ok(Dimension::string(name));
        }
        if !datatype.may_be_dimension() {
            return Err(error::plan(format!("column {name:?} cannot be a dimension: its cells are {datatype}")));
        }
        let (low, high) = match domain {
            Some(text) => {
                let ends = text.split_once("..").map(|(low, high)| (low, high.strip_prefix('=').unwrap_or(high)));
                let ends = ends.and_then(|(low, high)| Some((value(datatype, low)?, value(datatype, high)?)));
                ends.ok_or_else(|| {
                    error::plan(format!("option 'domain.{name}' is '{text}': expected FIRST..LAST of {datatype}"))
                })?
            }
            None if is_dense => {
                return Err(error::plan(format!(
                    "a dense array needs the domain of each dimension: 'domain.{name}' 'FIRST..LAST'"
                )));
            }
            None => everything(datatype.physical()),
        };
        let dimension = Dimension::new(name, low..=high).with_datatype(datatype);
        match tile {
            None if is_dense => Err(error::plan(format!(
                "a dense array needs the tile extent of each dimension: 'tile.{name}' 'NUMBER'"
            ))),
            None if domain.is_none() => Ok(match usual_extent(datatype.physical()) {
                Some(extent) => dimension.with_tile(extent),
                None => dimension,
            }),
            None => Ok(dimension),
            Some(text) => {
                let extent = Scalar::parse(datatype.physical(), text);
                let extent = extent.ok_or_else(|| {
                    error::plan(format!("option 'tile.{name}' is '{text}': expected a number of {datatype}"))
                })?;
                Ok(dimension.with_tile(extent))
            }
        }
    }
}

/// Parses a bound of a domain: a number or a date.
fn value(datatype: Datatype, text: &str) -> Option<Scalar> {
    match datetime::written(datatype, text.trim()).ok()? {
        Written::One(scalar) => Some(scalar),
        Written::Period(first, last) => (first == last).then_some(Scalar::I64(first)),
    }
}

/// Returns the default tile extent, which is smaller than the domain of the type.
fn usual_extent(physical: PhysicalType) -> Option<Scalar> {
    Some(match physical {
        PhysicalType::I8 => Scalar::I8(16),
        PhysicalType::U8 => Scalar::U8(16),
        PhysicalType::I16 => Scalar::I16(1000),
        PhysicalType::U16 => Scalar::U16(1000),
        PhysicalType::I32 => Scalar::I32(10_000),
        PhysicalType::U32 => Scalar::U32(10_000),
        PhysicalType::I64 => Scalar::I64(10_000),
        PhysicalType::U64 => Scalar::U64(10_000),
        PhysicalType::F32 | PhysicalType::F64 => return None,
    })
}

/// Returns the largest domain of a type. The last tile must also end within the type.
fn everything(physical: PhysicalType) -> (Scalar, Scalar) {
    macro_rules! integers {
        ($($physical:ident: $type:ty, $extent:literal;)*) => {
            match physical {
                $(PhysicalType::$physical => {
                    (Scalar::$physical(<$type>::MIN), Scalar::$physical(<$type>::MAX - $extent))
                })*
                PhysicalType::F32 => (Scalar::F32(f32::MIN), Scalar::F32(f32::MAX)),
                PhysicalType::F64 => (Scalar::F64(f64::MIN), Scalar::F64(f64::MAX)),
            }
        };
    }
    integers! {
        I8: i8, 16;
        U8: u8, 16;
        I16: i16, 1000;
        U16: u16, 1000;
        I32: i32, 10_000;
        U32: u32, 10_000;
        I64: i64, 10_000;
        U64: u64, 10_000;
    }
}
