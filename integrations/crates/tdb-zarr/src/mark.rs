//! The mark: an attribute in Zarr that describes the original array or group.

use serde_json::{Map, Value, json};

use crate::names;
use crate::object::Attributes;

/// Name of the attribute.
pub(crate) const KEY: &str = "tdb";

/// Contents of the mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// Array definition as text, for arrays.
    pub(crate) schema: Option<String>,
    /// Coordinates of the first cell.
    pub(crate) origin: Vec<i128>,
    /// Zarr arrays of the attributes.
    pub(crate) fields: Vec<MarkedField>,
    /// Original names of renamed group members, by node name.
    pub(crate) members: Map<String, Value>,
    /// Datatypes of metadata, except the default datatypes.
    pub(crate) types: Map<String, Value>,
    /// Metadata without a JSON form.
    pub(crate) exact: Vec<Value>,
}

/// An attribute, with the nodes of its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedField {
    pub(crate) attribute: String,
    /// Node name below the folder of the mark. `None` if the node is that folder itself.
    pub(crate) array: Option<String>,
    /// Node with the validity of a nullable attribute.
    pub(crate) validity: Option<String>,
}

impl Mark {
    /// Adds the mark to the attributes, unless empty.
    pub(crate) fn put(&self, attributes: &mut Attributes) {
        let mut told = Map::new();
        if let Some(schema) = &self.schema {
            let origin: Vec<Value> = self.origin.iter().map(|at| coordinate(*at)).collect();
            told.insert("schema".to_owned(), json!(schema));
            told.insert("origin".to_owned(), json!(origin));
            told.insert("fields".to_owned(), self.fields.iter().map(MarkedField::told).collect());
        }
        for (name, map) in [("members", &self.members), ("types", &self.types)] {
            if !map.is_empty() {
                told.insert(name.to_owned(), json!(map));
            }
        }
        if !self.exact.is_empty() {
            told.insert("metadata".to_owned(), json!(self.exact));
        }
        if !told.is_empty() {
            attributes.insert(KEY.to_owned(), Value::Object(told));
        }
    }

    /// Parses the mark. Ignores invalid parts, because anyone may have edited it.
    pub(crate) fn of(attributes: &Attributes) -> Self {
        let Some(Value::Object(told)) = attributes.get(KEY) else { return Self::default() };
        let list = |name: &str| told.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let map = |name: &str| told.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let integer = |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        Self {
            schema: told.get("schema").and_then(Value::as_str).map(str::to_owned),
            origin: list("origin").iter().filter_map(integer).collect(),
            fields: list("fields").iter().filter_map(MarkedField::of).collect(),
            members: map("members"),
            types: map("types"),
            exact: list("metadata").to_vec(),
        }
    }
}

impl MarkedField {
    fn told(&self) -> Value {
        json!({ "attribute": self.attribute, "array": self.array, "validity": self.validity })
    }

    fn of(told: &Value) -> Option<Self> {
        let node = |name: &str| match told.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(node) => node.as_str().filter(|node| names::is_node(node)).map(|node| Some(node.to_owned())),
        };
        let attribute = told.get("attribute")?.as_str()?.to_owned();
        Some(Self { attribute, array: node("array")?, validity: node("validity")? })
    }
}

fn coordinate(at: i128) -> Value {
    i64::try_from(at).map_or_else(|_| json!(u64::try_from(at).unwrap_or(u64::MAX)), |at| json!(at))
}
