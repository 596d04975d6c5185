//! Attributes as Zarr arrays.

use std::path::Path;

use serde_json::{Value, json};
use tdb_array::tdb_schema::Attribute;
use tdb_array::tdb_types::CellValNum;
use tdb_array::{Array, ArrayError, Batch, CellsError};

use super::Export;
use super::region::Region;
use crate::cells::Cells;
use crate::chunks::Chunks;
use crate::codecs::{self, Compression};
use crate::element::{Element, Form};
use crate::error::{Error, Result};
use crate::fill;
use crate::keys::Keys;
use crate::mark::MarkedField;
use crate::names;
use crate::node::ArrayNode;
use crate::object::Attributes;
use crate::options;

/// A Zarr array with the values or the validity of an attribute.
#[derive(Debug)]
pub(super) struct Plane {
    attribute: String,
    /// Folder name below the root of the export. `None` for the root.
    pub(super) node: Option<String>,
    is_validity: bool,
    element: Element,
    /// Length of the additional axis, if any.
    axis: Option<u64>,
    /// Fill value of a cell, in bytes.
    pub(super) fill: Vec<u8>,
    codecs: Vec<Value>,
}

/// Returns the attributes to export.
pub(super) fn selected<'a>(export: &Export, array: &'a Array) -> Result<Vec<&'a Attribute>> {
    let all = array.schema().attributes();
    let Some(names) = &export.select else { return Ok(all.iter().collect()) };
    let find = |name: &String| {
        let known = || all.iter().map(|attribute| attribute.name().to_owned()).collect();
        let found = all.iter().find(|attribute| attribute.name() == name);
        found.ok_or_else(|| ArrayError::Cells(CellsError::UnknownField { name: name.clone(), known: known() }).into())
    };
    names.iter().map(find).collect()
}

/// Returns the Zarr arrays for attributes, and their description for the mark.
///
/// # Errors
/// No data type is suitable for an attribute.
pub(super) fn planes(attributes: &[&Attribute], compression: Compression) -> Result<(Vec<Plane>, Vec<MarkedField>)> {
    let is_single = matches!(attributes, [only] if !only.is_nullable());
    let mut wanted: Vec<String> = attributes.iter().map(|attribute| attribute.name().to_owned()).collect();
    let nullable = attributes.iter().filter(|attribute| attribute.is_nullable());
    wanted.extend(nullable.map(|attribute| format!("{}.validity", attribute.name())));
    let nodes = names::of_nodes(&wanted.iter().map(String::as_str).collect::<Vec<_>>(), "attribute");
    let mut validities = nodes[attributes.len()..].iter();
    let (mut planes, mut fields) = (Vec::new(), Vec::new());
    for (attribute, node) in attributes.iter().zip(&nodes) {
        let node = (!is_single).then(|| node.clone());
        let validity = if attribute.is_nullable() { validities.next().cloned() } else { None };
        planes.push(Plane::values(attribute, node.clone(), compression)?);
        if let Some(validity) = &validity {
            planes.push(Plane::validity(attribute, validity.clone(), compression));
        }
        fields.push(MarkedField { attribute: attribute.name().to_owned(), array: node, validity });
    }
    Ok((planes, fields))
}

impl Plane {
    fn values(attribute: &Attribute, node: Option<String>, compression: Compression) -> Result<Self> {
        let refused = |why: String| Error::refused(format!("attribute {:?}", attribute.name()), why);
        let (element, axis) = Element::of_attribute(attribute).map_err(refused)?;
        let codecs = codecs::written(element.form, attribute.filters(), compression);
        let (attribute, fill) = (attribute.name().to_owned(), attribute.fill_value().into_owned());
        Ok(Self { attribute, node, is_validity: false, element, axis, fill, codecs })
    }

    fn validity(attribute: &Attribute, node: String, compression: Compression) -> Self {
        let element = Element::truth();
        let codecs = codecs::written(element.form, attribute.filters(), compression);
        let fill = vec![u8::from(attribute.fill_valid())];
        let attribute = attribute.name().to_owned();
        Self { attribute, node: Some(node), is_validity: true, element, axis: None, fill, codecs }
    }

    /// Returns the name of the attribute.
    pub(super) fn attribute(&self) -> &str {
        &self.attribute
    }

    /// Returns the approximate size of a cell in bytes.
    pub(super) fn cell_size(&self) -> u64 {
        options::cell_size(self.is_var(), &self.fill)
    }

    pub(super) fn is_var(&self) -> bool {
        self.element.per_cell == CellValNum::Var
    }

    /// Returns the fill value of an element.
    fn element_fill(&self) -> Result<&[u8]> {
        let size = self.element.form.size().unwrap_or(self.fill.len());
        let (first, rest) = self.fill.split_at(size.min(self.fill.len()));
        // Zarr has one fill value for all elements.
        match size == 0 || rest.chunks(size).all(|value| value == first) {
            true => Ok(first),
            false => {
                Err(Error::refused(format!("attribute {:?}", self.attribute), "the values of its fill value differ"))
            }
        }
    }

    /// Returns the metadata to write.
    pub(super) fn metadata(
        &self,
        array: &Array,
        region: &Region,
        chunks: &[u64],
        attributes: &Attributes,
    ) -> Result<Value> {
        let refused = |why| Error::refused(format!("attribute {:?}", self.attribute), why);
        let fill_value = fill::to_json(self.element.form, self.element_fill()?).map_err(refused)?;
        let dimensions = array.schema().dimensions();
        let mut names: Vec<Value> = dimensions.iter().map(|dimension| json!(dimension.name())).collect();
        names.extend(self.axis.map(|_| Value::Null));
        Ok(json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.with_axis(&region.shape),
            "data_type": self.element.name,
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": self.with_axis(chunks) } },
            "chunk_key_encoding": Keys::WRITTEN.to_metadata(),
            "fill_value": fill_value,
            "codecs": self.codecs,
            "dimension_names": names,
            "attributes": attributes,
        }))
    }

    /// Opens the chunks below a folder.
    pub(super) fn open(&self, folder: &Path, region: &Region, chunks: &[u64]) -> Result<Chunks> {
        Chunks::open(&ArrayNode {
            path: self.node.as_ref().map_or_else(|| folder.to_owned(), |node| folder.join(node)),
            shape: self.with_axis(&region.shape),
            chunks: self.with_axis(chunks),
            element: self.element.clone(),
            fill: self.element_fill()?.to_vec(),
            codecs: self.codecs.clone(),
            keys: Keys::WRITTEN,
            names: Vec::new(),
            attributes: Attributes::new(),
        })
    }

    fn with_axis(&self, lengths: &[u64]) -> Vec<u64> {
        lengths.iter().copied().chain(self.axis).collect()
    }

    /// Returns the Zarr chunk at a position. Chunks span the additional axis.
    pub(super) fn chunk(&self, place: &[u64]) -> Vec<u64> {
        place.iter().copied().chain(self.axis.map(|_| 0)).collect()
    }

    /// Appends the cells of a batch.
    pub(super) fn take(&self, batch: &Batch, cells: &mut Cells) -> Result<()> {
        let column = batch.column(&self.attribute)?;
        if self.is_validity {
            cells.values.extend((0..column.len()).map(|cell| u8::from(column.is_valid(cell))));
            return Ok(());
        }
        match column.offsets() {
            None => cells.values.extend_from_slice(column.bytes()),
            Some(_) => (0..column.len()).for_each(|cell| cells.push(column.cell_bytes(cell))),
        }
        Ok(())
    }

    /// Checks that Zarr can hold these cells.
    pub(super) fn check(&self, cells: &Cells, near: impl FnOnce() -> Vec<i128>) -> Result<()> {
        let why = match self.element.form {
            Form::Bool if cells.values.iter().any(|truth| *truth > 1) => "invalid boolean: expected 0 or 1",
            Form::Text => {
                let text = std::str::from_utf8(&cells.values).ok();
                let ends = cells.offsets.iter().flatten();
                let is_text = text.is_some_and(|text| {
                    ends.into_iter().all(|at| usize::try_from(*at).is_ok_and(|at| text.is_char_boundary(at)))
                });
                if is_text {
                    return Ok(());
                }
                "a string is not valid UTF-8"
            }
            _ => return Ok(()),
        };
        Err(Error::Cell { field: self.attribute.clone(), near: near(), why: why.to_owned() })
    }
}
