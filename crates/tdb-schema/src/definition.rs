//! Complete definitions of arrays.

use tdb_filters::FilterPipeline;
use tdb_types::{ByteWriter, CellValNum, DataOrder, Datatype, FormatVersion, Scalar};

use crate::error::Result;
use crate::validate::{dictionaries, name_of_label};
use crate::{
    ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, SchemaBuilder, SchemaError,
};

/// The name of the dimension in a label array.
const LABEL_DIMENSION: &str = "index";
/// The name of the attribute in a label array.
const LABEL_ATTRIBUTE: &str = "label";

/// The complete definition of an array to create.
///
/// A definition consists of the schema, the enumerations that the schema names, and the schemas of
/// the label arrays of internal dimension labels.
///
/// ```
/// use tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
/// use tdb_types::Datatype;
///
/// let schema = SchemaBuilder::sparse()
///     .dimension(Dimension::new("row", 0u32..=999))
///     .enumeration(EnumerationRef::unplaced("color"))
///     .attribute(Attribute::new("paint", Datatype::UInt8).with_enumeration("color"))
///     .build()?;
/// let colors = Enumeration::strings("color", "", Datatype::StringUtf8, ["red", "green"])?;
/// let definition = ArrayDefinition::new(schema)?.with_enumeration(colors)?;
/// assert!(definition.check().is_ok());
/// # Ok::<(), tdb_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDefinition {
    schema: ArraySchema,
    enumerations: Vec<Enumeration>,
    /// The schema of each label array, in label order. External labels have `None`.
    labels: Vec<Option<ArraySchema>>,
}

impl TryFrom<ArraySchema> for ArrayDefinition {
    type Error = SchemaError;

    fn try_from(schema: ArraySchema) -> Result<Self> {
        Self::new(schema)
    }
}

impl From<&Self> for ArrayDefinition {
    fn from(definition: &Self) -> Self {
        definition.clone()
    }
}

impl ArrayDefinition {
    /// Creates a definition without the values of enumerations.
    ///
    /// Label arrays get the tile extent of the labeled dimension and no filters.
    ///
    /// # Errors
    /// Fails if a label belongs to a string dimension, or if the schema of a label array is
    /// invalid.
    pub fn new(schema: ArraySchema) -> Result<Self> {
        let labels = schema.labels().iter().map(|label| {
            if label.external {
                return Ok(None);
            }
            label_schema(&schema, label, None, FilterPipeline::default()).map(Some)
        });
        let labels = labels.collect::<Result<_>>()?;
        Ok(Self { schema, enumerations: Vec::new(), labels })
    }

    /// Adds the values of an enumeration that the schema names.
    ///
    /// # Errors
    /// Fails if the schema does not name the enumeration, or if its values were added before.
    pub fn with_enumeration(mut self, enumeration: Enumeration) -> Result<Self> {
        let invalid = |why: &str| Err(SchemaError::invalid(format!("enumeration {:?}", enumeration.name()), why));
        if !self.schema.enumerations().iter().any(|reference| reference.name == enumeration.name()) {
            return invalid("not declared in the schema");
        }
        if self.enumeration(enumeration.name()).is_some() {
            return invalid("given twice");
        }
        self.enumerations.push(enumeration);
        Ok(self)
    }

    /// Sets the tile extent and the filters of the array of an internal label.
    ///
    /// An extent of `None` selects the extent of the dimension.
    ///
    /// # Errors
    /// Fails if the label does not exist or is external, or if the resulting schema is invalid.
    pub fn with_label(mut self, name: &str, extent: Option<Scalar>, filters: FilterPipeline) -> Result<Self> {
        let labels = self.schema.labels().iter().zip(&mut self.labels);
        match labels.into_iter().find(|(label, array)| label.name == name && array.is_some()) {
            Some((label, array)) => *array = Some(label_schema(&self.schema, label, extent, filters)?),
            None => {
                let why = "the array has no such internal label";
                return Err(SchemaError::invalid(format!("dimension label {name:?}"), why));
            }
        }
        Ok(self)
    }

    /// Converts the definition to another format version.
    ///
    /// Use an older version to create an array that older releases can read, and a newer version to
    /// upgrade an old array. Validity filters that are the default of the old version become the
    /// default of the new version.
    ///
    /// ```
    /// use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    /// use tdb_types::{Datatype, FormatVersion};
    ///
    /// let x = Dimension::new("x", 0i32..=9);
    /// let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::Int64)).build()?;
    /// let old = ArrayDefinition::new(schema)?.with_version(FormatVersion::new(5)?)?;
    /// assert_eq!(old.schema().version().number(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the version does not support a feature of the definition, such as nullable
    /// attributes, labels or a filter. Also fails if a schema breaks a rule for new schemas.
    pub fn with_version(mut self, version: FormatVersion) -> Result<Self> {
        let convert = |schema: ArraySchema| SchemaBuilder::from(schema).version(version).build();
        self.schema = convert(self.schema)?;
        self.labels = self.labels.into_iter().map(|label| label.map(convert).transpose()).collect::<Result<_>>()?;
        Ok(self)
    }

    /// Replaces the schema and the enumerations. The new schema must have the same labels.
    pub(crate) fn evolved(&self, schema: ArraySchema, enumerations: Vec<Enumeration>) -> Result<Self> {
        let evolved = Self { schema, enumerations, labels: self.labels.clone() };
        evolved.check_complete()?;
        Ok(evolved)
    }

    /// Returns the schema.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// Returns the enumerations.
    #[must_use]
    pub fn enumerations(&self) -> &[Enumeration] {
        &self.enumerations
    }

    /// Looks up an enumeration by name. Returns `None` if its values were not added.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enumerations.iter().find(|enumeration| enumeration.name() == name)
    }

    /// Iterates over the internal labels, with the schemas of the label arrays.
    pub fn labels(&self) -> impl Iterator<Item = (&DimensionLabel, &ArraySchema)> {
        self.schema.labels().iter().zip(&self.labels).filter_map(|(label, array)| Some((label, array.as_ref()?)))
    }

    /// Checks that an array can be created from the definition and written to.
    ///
    /// # Errors
    /// Fails if the values of an enumeration are missing, or if the datatype of an attribute cannot
    /// hold the indices of its enumeration. Also fails if a field does not support its dictionary
    /// filter.
    pub fn check(&self) -> Result<()> {
        self.check_complete()?;
        dictionaries(&self.schema)?;
        self.enumerations.iter().try_for_each(|enumeration| check_room(&self.schema, enumeration))
    }

    /// Checks that the values of all enumerations are present.
    ///
    /// # Errors
    /// Fails if an enumeration that the schema names has no values.
    pub fn check_complete(&self) -> Result<()> {
        match self.schema.enumerations().iter().find(|reference| self.enumeration(&reference.name).is_none()) {
            Some(reference) => {
                let why = "declared in the schema, but its values are missing";
                Err(SchemaError::invalid(format!("enumeration {:?}", reference.name), why))
            }
            None => Ok(()),
        }
    }

    /// Assigns new file names to all enumerations.
    ///
    /// # Errors
    /// Fails if `name` fails or returns an invalid file name.
    pub fn place_enumerations<E: From<SchemaError>>(
        mut self,
        name: impl FnMut() -> Result<String, E>,
    ) -> Result<Self, E> {
        for reference in &mut self.schema.enumerations {
            *reference = EnumerationRef::unplaced(reference.name.as_str());
        }
        self.place_new_enumerations(name)
    }

    /// Assigns file names to the enumerations that have no file name.
    ///
    /// # Errors
    /// Fails if `name` fails or returns an invalid file name.
    pub fn place_new_enumerations<E: From<SchemaError>>(
        mut self,
        mut name: impl FnMut() -> Result<String, E>,
    ) -> Result<Self, E> {
        for reference in self.schema.enumerations.iter_mut().filter(|reference| reference.is_unplaced()) {
            reference.file_name = name()?;
            if let Some(values) = self.enumerations.iter_mut().find(|values| values.name() == reference.name) {
                *values = values.clone().with_file_name(&reference.file_name)?;
            }
        }
        Ok(self)
    }
}

/// Checks that every attribute with this enumeration can hold the index of the last value.
pub(crate) fn check_room(schema: &ArraySchema, enumeration: &Enumeration) -> Result<()> {
    let count = enumeration.len() as u64;
    let is_short = |attribute: &&Attribute| {
        let held = attribute.datatype().physical().max_integer().unwrap_or(u64::MAX);
        attribute.enumeration() == Some(enumeration.name()) && count.saturating_sub(1) > held
    };
    match schema.attributes().iter().find(is_short) {
        Some(attribute) => {
            let (name, datatype) = (attribute.name(), attribute.datatype());
            let why = format!("attribute {name:?} of {datatype} cannot hold the indices of {count} values");
            Err(SchemaError::invalid(format!("enumeration {:?}", enumeration.name()), why))
        }
        None => Ok(()),
    }
}

/// Builds the schema of a label array.
fn label_schema(
    schema: &ArraySchema,
    label: &DimensionLabel,
    extent: Option<Scalar>,
    filters: FilterPipeline,
) -> Result<ArraySchema> {
    let invalid = |why: &str| SchemaError::invalid(name_of_label(label), why);
    let dimension = usize::try_from(label.dimension).ok().and_then(|index| schema.dimensions().get(index));
    let dimension = dimension.ok_or_else(|| invalid("the array has no such dimension"))?;
    let (low, high) = dimension.domain().ok_or_else(|| invalid("a dimension of strings cannot have labels"))?;
    let mut index = Dimension::new(LABEL_DIMENSION, low..=high).with_datatype(dimension.datatype());
    if let Some(extent) = extent.or(dimension.tile_extent()) {
        index = index.with_tile(extent);
    }
    let values = Attribute::new(label.attribute.clone(), label.datatype).with_cell_val_num(label.cell_val_num);
    let builder = SchemaBuilder::dense().version(schema.version()).dimension(index);
    builder.attribute(values.with_order(label.order).with_filters(filters)).build()
}

impl DimensionLabel {
    /// Creates an internal label of the dimension at index `dimension`. A new array in the folder
    /// of the labeled array stores the values.
    ///
    /// [`SchemaBuilder::label`](crate::SchemaBuilder::label) assigns the URI of the label array.
    #[must_use]
    pub fn new(dimension: u32, name: impl Into<String>, order: DataOrder, datatype: Datatype) -> Self {
        let cell_val_num = if datatype == Datatype::StringAscii { CellValNum::Var } else { CellValNum::ONE };
        Self {
            dimension,
            name: name.into(),
            relative: true,
            uri: String::new(),
            attribute: LABEL_ATTRIBUTE.to_owned(),
            order,
            datatype,
            cell_val_num,
            external: false,
        }
    }
}

impl ArraySchema {
    /// Returns the payload of the schema's generic tile, neither filtered nor encrypted.
    ///
    /// # Errors
    /// See [`write`](Self::write).
    pub fn to_payload(&self) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload)?;
        Ok(payload.into_bytes())
    }
}
