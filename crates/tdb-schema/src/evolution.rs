//! Schema evolution.

use tdb_rtree::{DimRange, NdRange};
use tdb_types::{Feature, FormatVersion};

use crate::definition::check_room;
use crate::error::Result;
use crate::{
    ArrayDefinition, ArraySchema, Attribute, Enumeration, EnumerationRef, FieldRef, SchemaBuilder, SchemaError,
    validate,
};

/// Changes to the schema of an array. [`build`](Self::build) validates the result like a new
/// schema.
///
/// Existing fragments keep their schema. In cells of these fragments, added attributes read as the
/// fill value, and dropped attributes are no longer read.
///
/// ```
/// use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder, SchemaEvolution};
/// use tdb_types::Datatype;
///
/// let rows = Dimension::new("row", 1i32..=100);
/// let schema = SchemaBuilder::dense().dimension(rows).attribute(Attribute::new("a", Datatype::Int8)).build()?;
/// let definition = ArrayDefinition::new(schema)?;
/// let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Float32)).drop_attribute("a");
/// let evolved = evolution.build(&definition)?;
/// assert_eq!(evolved.schema().attributes()[0].name(), "b");
/// # Ok::<(), tdb_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SchemaEvolution {
    version: Option<FormatVersion>,
    add_enumerations: Vec<Enumeration>,
    extend_enumerations: Vec<(String, Vec<Vec<u8>>)>,
    add_attributes: Vec<Attribute>,
    drop_attributes: Vec<String>,
    drop_enumerations: Vec<String>,
    current_domain: Option<NdRange>,
}

impl SchemaEvolution {
    /// Creates an evolution without changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format version of the new schema. It must be at least 10 and not below the current
    /// version.
    ///
    /// By default the version stays the same if the version supports the change. A second schema
    /// needs version 10, a current domain version 22. Otherwise the version becomes
    /// [`FormatVersion::DEFAULT`].
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Appends an attribute.
    pub fn add_attribute(mut self, attribute: Attribute) -> Self {
        self.add_attributes.push(attribute);
        self
    }

    /// Drops an attribute.
    ///
    /// Additions happen before drops. The same evolution therefore cannot reuse the name.
    pub fn drop_attribute(mut self, name: impl Into<String>) -> Self {
        self.drop_attributes.push(name.into());
        self
    }

    /// Adds an enumeration.
    pub fn add_enumeration(mut self, enumeration: Enumeration) -> Self {
        self.add_enumerations.push(enumeration);
        self
    }

    /// Appends values to an enumeration. Each value is given as bytes.
    pub fn extend_enumeration<V: Into<Vec<u8>>>(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.extend_enumerations.push((name.into(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Drops an enumeration. No attribute may still use it.
    pub fn drop_enumeration(mut self, name: impl Into<String>) -> Self {
        self.drop_enumerations.push(name.into());
        self
    }

    /// Sets the current domain.
    ///
    /// The new current domain must lie within the domain and contain the previous current domain.
    /// Cells outside of the current domain stay in their fragments but are not read.
    pub fn expand_current_domain(mut self, ranges: NdRange) -> Self {
        self.current_domain = Some(ranges);
        self
    }

    /// Returns the definition of the array after the changes.
    ///
    /// New and extended enumerations have no file name yet.
    ///
    /// # Errors
    /// Fails in these cases:
    /// - A dropped attribute, or an extended or dropped enumeration, does not exist.
    /// - An extended enumeration would have a repeated value or a value of the wrong size.
    /// - An attribute cannot hold the indices of a new or extended enumeration.
    /// - The definition lacks the values of an enumeration.
    /// - The requested format version is below 10 or below the current version.
    /// - An added field or enumeration already exists.
    /// - The array needs a dropped field, such as the only attribute of a dense array.
    /// - The new current domain does not contain the previous one.
    /// - The new schema breaks another rule for new schemas.
    pub fn build(&self, definition: &ArrayDefinition) -> Result<ArrayDefinition> {
        let mut schema = definition.schema().clone();
        let mut enumerations = definition.enumerations().to_vec();
        for added in &self.add_enumerations {
            if schema.enumerations.iter().any(|reference| reference.name == added.name()) {
                return Err(enumeration_error(added.name(), "already exists in the array"));
            }
            schema.enumerations.push(EnumerationRef::unplaced(added.name()));
            enumerations.push(added.clone().unplaced());
        }
        for (name, values) in &self.extend_enumerations {
            let extended = enumerations.iter_mut().find(|enumeration| enumeration.name() == name);
            let Some(extended) = extended else {
                return Err(enumeration_error(name, "the array has no such enumeration"));
            };
            *extended = extended.clone().extended(values)?.unplaced();
            let references = schema.enumerations.iter_mut().filter(|reference| reference.name == *name);
            references.for_each(|reference| *reference = EnumerationRef::unplaced(name.as_str()));
        }
        schema.attributes.extend(self.add_attributes.iter().cloned());
        // Validates before the drops, because a drop can hide a duplicate name.
        let both = checked(&schema, self.target(&schema)?)?;
        let added = definition.schema().attr_count()..both.attr_count();
        added.map(FieldRef::Attribute).try_for_each(|added| validate::dictionaries_of(&both, added))?;
        let mut schema = both;
        for name in &self.drop_attributes {
            let Some(index) = schema.attributes.iter().position(|attribute| attribute.name() == name) else {
                return Err(SchemaError::invalid(format!("attribute {name:?}"), "the array has no such attribute"));
            };
            schema.attributes.remove(index);
        }
        for name in &self.drop_enumerations {
            let Some(index) = schema.enumerations.iter().position(|reference| reference.name == *name) else {
                return Err(enumeration_error(name, "the array has no such enumeration"));
            };
            schema.enumerations.remove(index);
            enumerations.retain(|enumeration| enumeration.name() != name);
        }
        if let Some(wider) = &self.current_domain {
            if let Some(narrower) = &schema.current_domain {
                check_wider(narrower, wider)?;
            }
            schema.current_domain = Some(wider.clone());
        }
        enumerations.iter().filter(|one| self.changes(one)).try_for_each(|one| check_room(&schema, one))?;
        let version = schema.version;
        definition.evolved(checked(&schema, version)?, enumerations)
    }

    /// Returns `true` if the evolution adds or extends the enumeration, or adds an attribute that
    /// uses it.
    fn changes(&self, enumeration: &Enumeration) -> bool {
        let name = enumeration.name();
        self.add_enumerations.iter().any(|added| added.name() == name)
            || self.extend_enumerations.iter().any(|(extended, _)| extended == name)
            || self.add_attributes.iter().any(|attribute| attribute.enumeration() == Some(name))
    }

    /// Returns the format version of the new schema.
    fn target(&self, schema: &ArraySchema) -> Result<FormatVersion> {
        let needed = if self.current_domain.is_some() { Feature::CurrentDomain } else { Feature::SchemaFolder };
        let kept = if schema.version.has(needed) { schema.version } else { FormatVersion::DEFAULT };
        let version = self.version.unwrap_or(kept);
        if !version.has(Feature::SchemaFolder) || version < schema.version {
            let why = format!("cannot change the format version of the schema from {} to {version}", schema.version);
            return Err(SchemaError::invalid("array schema", why));
        }
        Ok(version)
    }
}

/// Validates the schema in `version` as a new schema, except that existing fields may have filters
/// that reject every write.
fn checked(schema: &ArraySchema, version: FormatVersion) -> Result<ArraySchema> {
    SchemaBuilder::from(schema.clone()).version(version).build_evolved()
}

fn check_wider(old: &NdRange, new: &NdRange) -> Result<()> {
    let holds = |(old, new): (&DimRange, &DimRange)| new.contains(old);
    if old.0.len() != new.0.len() || !old.0.iter().zip(&new.0).all(holds) {
        let why = "can only be expanded; the new current domain does not contain the old one";
        return Err(SchemaError::invalid("current domain", why));
    }
    Ok(())
}

#[cold]
fn enumeration_error(name: &str, why: &str) -> SchemaError {
    SchemaError::invalid(format!("enumeration {name:?}"), why)
}
