//! The structure of the text, before interpretation.

use serde::Deserialize;
use toml::{Table, Value};

use crate::value::Given;

/// The whole text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) format_version: Option<u32>,
    pub(crate) array_type: String,
    pub(crate) tile_order: Option<String>,
    pub(crate) cell_order: Option<String>,
    pub(crate) capacity: Option<Given>,
    #[serde(default)]
    pub(crate) allows_duplicates: bool,
    pub(crate) coords_filters: Option<Filters>,
    pub(crate) offsets_filters: Option<Filters>,
    pub(crate) validity_filters: Option<Filters>,
    #[serde(rename = "dimension", default)]
    pub(crate) dimensions: Vec<Dimension>,
    #[serde(rename = "attribute", default)]
    pub(crate) attributes: Vec<Attribute>,
    #[serde(rename = "enumeration", default)]
    pub(crate) enumerations: Vec<Enumeration>,
    #[serde(rename = "label", default)]
    pub(crate) labels: Vec<Label>,
}

/// Attributes and enumerations to add to an array.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Additions {
    #[serde(rename = "attribute", default)]
    pub(crate) attributes: Vec<Attribute>,
    #[serde(rename = "enumeration", default)]
    pub(crate) enumerations: Vec<Enumeration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) datatype: String,
    pub(crate) domain: Option<[Given; 2]>,
    pub(crate) tile_extent: Option<Given>,
    pub(crate) current_domain: Option<[Given; 2]>,
    pub(crate) filters: Option<Filters>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) datatype: String,
    pub(crate) values_per_cell: Option<Value>,
    #[serde(default)]
    pub(crate) nullable: bool,
    pub(crate) fill: Option<Given>,
    #[serde(default)]
    pub(crate) fill_valid: bool,
    pub(crate) order: Option<String>,
    pub(crate) enumeration: Option<String>,
    pub(crate) filters: Option<Filters>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Enumeration {
    pub(crate) name: String,
    pub(crate) datatype: String,
    pub(crate) values_per_value: Option<Value>,
    #[serde(default)]
    pub(crate) ordered: bool,
    pub(crate) values: Vec<Given>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) dimension: String,
    pub(crate) datatype: String,
    pub(crate) order: String,
    pub(crate) attribute: Option<String>,
    pub(crate) tile_extent: Option<Given>,
    pub(crate) filters: Option<Filters>,
    pub(crate) uri: Option<String>,
    #[serde(default)]
    pub(crate) external: bool,
    pub(crate) relative: Option<bool>,
}

/// Filters: a list, or a list with a maximum chunk size.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Filters {
    List(Vec<Filter>),
    Chunked(Chunked),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunked {
    pub(crate) max_chunk_size: u32,
    pub(crate) filters: Vec<Filter>,
}

/// A filter: its name, or a table with its name and options.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Filter {
    Name(String),
    Table(Table),
}
