//! Changing a schema.

use tdb_rtree::{DimRange, NdRange};
use tdb_types::{Feature, FormatVersion};

use crate::definition::check_room;
use crate::error::Result;
use crate::{
    ArrayDefinition, ArraySchema, Attribute, Enumeration, EnumerationRef, FieldRef, SchemaBuilder, SchemaError,
    validate,
};

/// Changes to the schema of an array: what [`build`](Self::build) gives is checked as a new schema is.
///
/// Cells that were written before keep the schema that they were written with: attributes that were added read as their
/// fill value there, and those that were dropped are gone.
///
/// ```
/// use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder, SchemaEvolution};
/// use tdb_types::{Datatype, Scalar};
///
/// let rows = Dimension::new("row", Datatype::Int32, Scalar::I32(1), Scalar::I32(100));
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
    /// No change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes the new schema in this format version, from 10 on. By default it keeps its version, unless that has no place for the
    /// change: a second schema from 10 on, a current domain from 22 on. Then it becomes [`FormatVersion::DEFAULT`].
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.version = Some(version);
        self
    }

    /// Adds an attribute after those that the array has.
    pub fn add_attribute(mut self, attribute: Attribute) -> Self {
        self.add_attributes.push(attribute);
        self
    }

    /// Drops an attribute. This comes after additions, so that its name can't be given anew at the same time.
    pub fn drop_attribute(mut self, name: impl Into<String>) -> Self {
        self.drop_attributes.push(name.into());
        self
    }

    /// Adds an enumeration.
    pub fn add_enumeration(mut self, enumeration: Enumeration) -> Self {
        self.add_enumerations.push(enumeration);
        self
    }

    /// Adds values, each by its bytes, after those that an enumeration has.
    pub fn extend_enumeration<V: Into<Vec<u8>>>(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.extend_enumerations.push((name.into(), values.into_iter().map(Into::into).collect()));
        self
    }

    /// Drops an enumeration that no attribute has any more.
    pub fn drop_enumeration(mut self, name: impl Into<String>) -> Self {
        self.drop_enumerations.push(name.into());
        self
    }

    /// Sets the part of the domain that may hold cells. It must lie in the domain, and hold the part that was set before, if one was.
    /// Cells that lie outside of it stay in their fragments, and are not read.
    pub fn expand_current_domain(mut self, ranges: NdRange) -> Self {
        self.current_domain = Some(ranges);
        self
    }

    /// The definition of the array afterwards. Enumerations that are new, or have more values, have no place yet.
    ///
    /// # Errors
    /// [`SchemaError::Invalid`] for what isn't there to be dropped or extended, is there already, can't be done without,
    /// or isn't allowed in a new schema either; a current domain that doesn't hold the one before.
    pub fn build(&self, definition: &ArrayDefinition) -> Result<ArrayDefinition> {
        let mut schema = definition.schema().clone();
        let mut enumerations = definition.enumerations().to_vec();
        for added in &self.add_enumerations {
            if schema.enumerations.iter().any(|reference| reference.name == added.name()) {
                return Err(enumeration_error(added.name(), "the array has it already"));
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
        // Checked here already, since what is dropped can hide that a name was given twice.
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

    /// Whether an enumeration gets values, or an attribute that counts in them.
    fn changes(&self, enumeration: &Enumeration) -> bool {
        let name = enumeration.name();
        self.add_enumerations.iter().any(|added| added.name() == name)
            || self.extend_enumerations.iter().any(|(extended, _)| extended == name)
            || self.add_attributes.iter().any(|attribute| attribute.enumeration() == Some(name))
    }

    /// The version of the new schema.
    fn target(&self, schema: &ArraySchema) -> Result<FormatVersion> {
        let needed = if self.current_domain.is_some() { Feature::CurrentDomain } else { Feature::SchemaFolder };
        let kept = if schema.version.has(needed) { schema.version } else { FormatVersion::DEFAULT };
        let version = self.version.unwrap_or(kept);
        if !version.has(Feature::SchemaFolder) || version < schema.version {
            let why = format!("a schema of format version {} can't become one of version {version}", schema.version);
            return Err(SchemaError::invalid("array schema", why));
        }
        Ok(version)
    }
}

/// The schema in a version, held to all rules of new schemas, but that fields which are there may have filters that no cell
/// goes through.
fn checked(schema: &ArraySchema, version: FormatVersion) -> Result<ArraySchema> {
    SchemaBuilder::from(schema.clone()).version(version).build_evolved()
}

fn check_wider(old: &NdRange, new: &NdRange) -> Result<()> {
    let holds = |(old, new): (&DimRange, &DimRange)| new.contains(old);
    if old.0.len() != new.0.len() || !old.0.iter().zip(&new.0).all(holds) {
        let why = "can only become wider, and the new one doesn't hold all of the old one";
        return Err(SchemaError::invalid("current domain", why));
    }
    Ok(())
}

#[cold]
fn enumeration_error(name: &str, why: &str) -> SchemaError {
    SchemaError::invalid(format!("enumeration {name:?}"), why)
}
