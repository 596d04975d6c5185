//! Metadata of Zarr arrays and groups, in version 3 form.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::element::Element;
use crate::error::{Error, Result};
use crate::fill;
use crate::keys::Keys;
use crate::object::{self, Attributes};
use crate::version_2;

/// Maximum number of dimensions. More are not used in practice, and each adds a level of chunk
/// folders.
const MAX_DIMENSIONS: usize = 255;
/// Metadata file of arrays and groups.
pub(crate) const METADATA: &str = "zarr.json";
/// Metadata files of version 2.
const OF_VERSION_2: [&str; 2] = [".zarray", ".zgroup"];

/// The contents of a Zarr folder.
#[derive(Debug)]
pub(crate) enum Node {
    Array(Box<ArrayNode>),
    Group(Attributes),
}

/// Metadata of an array.
#[derive(Debug)]
pub(crate) struct ArrayNode {
    /// Path of the folder.
    pub(crate) path: PathBuf,
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<u64>,
    pub(crate) element: Element,
    /// Fill value of an element, in bytes.
    pub(crate) fill: Vec<u8>,
    pub(crate) codecs: Vec<Value>,
    pub(crate) keys: Keys,
    /// Names of the dimensions, where given.
    pub(crate) names: Vec<Option<String>>,
    pub(crate) attributes: Attributes,
}

impl Node {
    /// Reads the metadata in a folder. Returns `None` if the folder is neither an array nor a
    /// group.
    ///
    /// # Errors
    /// The metadata is unreadable, or describes unsupported data.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let file = path.join(METADATA);
        if let Some(metadata) = object::read(&file)? {
            return Self::of_version_3(path, &file, metadata).map(Some);
        }
        let attributes = || object::read(&path.join(".zattrs")).map(Option::unwrap_or_default);
        let file = path.join(OF_VERSION_2[0]);
        if let Some(metadata) = object::read(&file)? {
            let metadata =
                version_2::converted(&metadata, attributes()?).map_err(|why| Error::unsupported(&file, why))?;
            return Self::of_version_3(path, &file, metadata).map(Some);
        }
        match object::read(&path.join(OF_VERSION_2[1]))? {
            Some(_) => Ok(Some(Self::Group(attributes()?))),
            None => Ok(None),
        }
    }

    /// Returns `true` if a folder contains a metadata file.
    pub(crate) fn is_there(path: &Path) -> bool {
        std::iter::once(METADATA).chain(OF_VERSION_2).any(|name| path.join(name).exists())
    }

    fn of_version_3(path: &Path, file: &Path, mut metadata: Attributes) -> Result<Self> {
        if metadata.get("zarr_format") != Some(&json!(3)) {
            return Err(Error::metadata(file, "expected zarr_format 3"));
        }
        let attributes = match metadata.remove("attributes") {
            None | Some(Value::Null) => Attributes::new(),
            Some(Value::Object(attributes)) => attributes,
            Some(other) => {
                return Err(Error::metadata(file, format!("expected attributes as an object, found {other}")));
            }
        };
        match metadata.get("node_type").and_then(Value::as_str) {
            Some("group") => Ok(Self::Group(attributes)),
            Some("array") => {
                ArrayNode::new(path, file, &metadata, attributes).map(|array| Self::Array(Box::new(array)))
            }
            _ => Err(Error::metadata(file, "node_type is neither array nor group")),
        }
    }
}

impl ArrayNode {
    fn new(path: &Path, file: &Path, metadata: &Attributes, attributes: Attributes) -> Result<Self> {
        let wrong = |why: String| Error::metadata(file, why);
        let member = |name: &str| metadata.get(name).ok_or_else(|| wrong(format!("missing {name}")));
        let shape = numbers(member("shape")?).ok_or_else(|| wrong("the shape is not a list of lengths".to_owned()))?;
        if shape.len() > MAX_DIMENSIONS {
            let why = format!("{} dimensions exceed the limit of {MAX_DIMENSIONS}", shape.len());
            return Err(Error::unsupported(file, why));
        }
        let grid = member("chunk_grid")?;
        if grid.get("name").and_then(Value::as_str) != Some("regular") {
            return Err(Error::unsupported(file, format!("unsupported chunk grid, expected a regular grid: {grid}")));
        }
        let chunks = grid.get("configuration").and_then(|all| numbers(all.get("chunk_shape")?));
        let chunks = chunks.filter(|chunks| chunks.len() == shape.len() && chunks.iter().all(|len| *len > 0));
        let chunks = chunks
            .ok_or_else(|| wrong(format!("chunk grid {grid} does not fit a shape of {} dimensions", shape.len())))?;
        let element = Element::of_zarr(member("data_type")?).map_err(|why| Error::unsupported(file, why))?;
        let fill = fill::from_json(element.form, member("fill_value")?).map_err(wrong)?;
        let codecs = member("codecs")?.as_array().ok_or_else(|| wrong("codecs are not a list".to_owned()))?.clone();
        let keys = Keys::of_metadata(member("chunk_key_encoding")?).map_err(|why| Error::unsupported(file, why))?;
        if metadata.get("storage_transformers").is_some_and(|all| *all != json!([])) {
            return Err(Error::unsupported(file, "storage transformers are not supported"));
        }
        let names = names(metadata.get("dimension_names"), shape.len()).map_err(wrong)?;
        let path = path.to_owned();
        Ok(Self { path, shape, chunks, element, fill, codecs, keys, names, attributes })
    }
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

fn names(value: Option<&Value>, count: usize) -> Result<Vec<Option<String>>, String> {
    let names = match value {
        None | Some(Value::Null) => return Ok(vec![None; count]),
        Some(names) => names.as_array().filter(|names| names.len() == count),
    };
    let name = |name: &Value| match name {
        Value::Null => Some(None),
        name => name.as_str().map(|name| Some(name.to_owned())),
    };
    let names = names.and_then(|names| names.iter().map(name).collect());
    names.ok_or_else(|| format!("dimension_names are not a list of names of {count} dimensions"))
}
