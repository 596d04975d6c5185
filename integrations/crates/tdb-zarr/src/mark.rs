//! What attributes of Zarr say of the array or group that they were written from.

use serde_json::{Map, Value, json};

use crate::names;
use crate::object::Attributes;

/// The attribute that says it.
pub(crate) const KEY: &str = "tdb";

/// What there is to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    /// Of an array: its definition as text.
    pub(crate) schema: Option<String>,
    /// The coordinates of the first cell.
    pub(crate) origin: Vec<i128>,
    /// Which Zarr array holds which attribute.
    pub(crate) fields: Vec<MarkedField>,
    /// Members of a group whose nodes are called otherwise: by the names of the nodes.
    pub(crate) members: Map<String, Value>,
    /// Datatypes of metadata that are none of the usual ones.
    pub(crate) types: Map<String, Value>,
    /// Metadata that JSON can't say.
    pub(crate) exact: Vec<Value>,
}

/// An attribute, and the nodes with its cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkedField {
    pub(crate) attribute: String,
    /// Below the folder of the mark; none for that itself.
    pub(crate) array: Option<String>,
    /// Of a nullable attribute, which cells are not null.
    pub(crate) validity: Option<String>,
}

impl Mark {
    /// Adds the mark to the attributes, if there is something to say.
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

    /// What attributes say. Anybody may have changed it: what can't be is passed over.
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
