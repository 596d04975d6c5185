//! A schema with all that it refers to.

use tdb_filters::FilterPipeline;
use tdb_types::{ByteWriter, CellValNum, DataOrder, Datatype, FormatVersion, Scalar};

use crate::error::Result;
use crate::validate::{dictionaries, name_of_label};
use crate::{
    ArraySchema, Attribute, Dimension, DimensionLabel, Enumeration, EnumerationRef, SchemaBuilder, SchemaError,
};

/// The name of the dimension of a label's array.
const LABEL_DIMENSION: &str = "index";
/// The name of the attribute of a label's array.
const LABEL_ATTRIBUTE: &str = "label";

/// Everything that an array is made from: its schema, the enumerations that the schema names, and the schemas of the
/// arrays of its own dimension labels.
///
/// ```
/// use tdb_schema::{ArrayDefinition, Attribute, Dimension, Enumeration, EnumerationRef, SchemaBuilder};
/// use tdb_types::{Datatype, Scalar};
///
/// let schema = SchemaBuilder::sparse()
///     .dimension(Dimension::new("row", Datatype::UInt32, Scalar::U32(0), Scalar::U32(999)))
///     .enumeration(EnumerationRef::unplaced("colour"))
///     .attribute(Attribute::new("paint", Datatype::UInt8).with_enumeration("colour"))
///     .build()?;
/// let colours = Enumeration::strings("colour", "", Datatype::StringUtf8, ["red", "green"])?;
/// let definition = ArrayDefinition::new(schema)?.with_enumeration(colours)?;
/// assert!(definition.check().is_ok());
/// # Ok::<(), tdb_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDefinition {
    schema: ArraySchema,
    enumerations: Vec<Enumeration>,
    /// Of each label that belongs to the array, in the order of the labels.
    labels: Vec<Option<ArraySchema>>,
}

impl ArrayDefinition {
    /// The definition of an array of this schema. Enumerations are still to be added; labels get arrays without filters,
    /// with the tile extent of their dimension.
    ///
    /// # Errors
    /// A label of a dimension that no array of labels can have: one of strings, say.
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

    /// The same with the values of an enumeration that the schema names.
    ///
    /// # Errors
    /// The schema doesn't name it, or it was added before.
    pub fn with_enumeration(mut self, enumeration: Enumeration) -> Result<Self> {
        let invalid = |why: &str| Err(SchemaError::invalid(format!("enumeration {:?}", enumeration.name()), why));
        if !self.schema.enumerations().iter().any(|reference| reference.name == enumeration.name()) {
            return invalid("the schema doesn't name it");
        }
        if self.enumeration(enumeration.name()).is_some() {
            return invalid("it was given twice");
        }
        self.enumerations.push(enumeration);
        Ok(self)
    }

    /// The same with a tile extent (that of the dimension if none) and filters for the array of a label.
    ///
    /// # Errors
    /// There is no such label, or it doesn't belong to the array, or its array can't be so.
    pub fn with_label(mut self, name: &str, extent: Option<Scalar>, filters: FilterPipeline) -> Result<Self> {
        let labels = self.schema.labels().iter().zip(&mut self.labels);
        match labels.into_iter().find(|(label, array)| label.name == name && array.is_some()) {
            Some((label, array)) => *array = Some(label_schema(&self.schema, label, extent, filters)?),
            None => {
                let why = "the array has no such label of its own";
                return Err(SchemaError::invalid(format!("dimension label {name:?}"), why));
            }
        }
        Ok(self)
    }

    /// The same in another format version: to make a copy of an old array as the newest release would, or one that an older
    /// release can read. Filters for validity that are the default of the version become those of the other.
    ///
    /// ```
    /// use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
    /// use tdb_types::{Datatype, FormatVersion, Scalar};
    ///
    /// let x = Dimension::new("x", Datatype::Int32, Scalar::I32(0), Scalar::I32(9));
    /// let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::Int64)).build()?;
    /// let old = ArrayDefinition::new(schema)?.with_version(FormatVersion::new(5)?)?;
    /// assert_eq!(old.schema().version().number(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SchemaError::Invalid`] if that version lacks what the definition needs: nullable attributes, labels, a filter.
    pub fn with_version(mut self, version: FormatVersion) -> Result<Self> {
        let convert = |schema: ArraySchema| SchemaBuilder::from(schema).version(version).build();
        self.schema = convert(self.schema)?;
        self.labels = self.labels.into_iter().map(|label| label.map(convert).transpose()).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The same with another schema, of which the labels are the same, and other enumerations.
    pub(crate) fn evolved(&self, schema: ArraySchema, enumerations: Vec<Enumeration>) -> Result<Self> {
        let evolved = Self { schema, enumerations, labels: self.labels.clone() };
        evolved.check_complete()?;
        Ok(evolved)
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &ArraySchema {
        &self.schema
    }

    /// The enumerations.
    #[must_use]
    pub fn enumerations(&self) -> &[Enumeration] {
        &self.enumerations
    }

    /// The enumeration of this name, if it was added.
    #[must_use]
    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enumerations.iter().find(|enumeration| enumeration.name() == name)
    }

    /// The labels that belong to the array, with the schemas of their arrays.
    pub fn labels(&self) -> impl Iterator<Item = (&DimensionLabel, &ArraySchema)> {
        self.schema.labels().iter().zip(&self.labels).filter_map(|(label, array)| Some((label, array.as_ref()?)))
    }

    /// Checks that nothing is missing, and that cells can go through the dictionaries of all fields, so that an array can be
    /// made.
    ///
    /// # Errors
    /// An enumeration that the schema names has no values, or more than an attribute has indices for; a dictionary filter
    /// where it doesn't work.
    pub fn check(&self) -> Result<()> {
        self.check_complete()?;
        dictionaries(&self.schema)?;
        self.enumerations.iter().try_for_each(|enumeration| check_room(&self.schema, enumeration))
    }

    /// Checks that the values of all enumerations are there.
    ///
    /// # Errors
    /// An enumeration that the schema names has no values.
    pub fn check_complete(&self) -> Result<()> {
        match self.schema.enumerations().iter().find(|reference| self.enumeration(&reference.name).is_none()) {
            Some(reference) => {
                let why = "the schema names it, but its values are missing";
                Err(SchemaError::invalid(format!("enumeration {:?}", reference.name), why))
            }
            None => Ok(()),
        }
    }

    /// The same with new names for the files of all enumerations.
    ///
    /// # Errors
    /// What `name` gives, or a name that can't be that of a file.
    pub fn place_enumerations<E: From<SchemaError>>(
        mut self,
        name: impl FnMut() -> Result<String, E>,
    ) -> Result<Self, E> {
        for reference in &mut self.schema.enumerations {
            *reference = EnumerationRef::unplaced(reference.name.as_str());
        }
        self.place_new_enumerations(name)
    }

    /// The same with names for the files of those enumerations that have none yet.
    ///
    /// # Errors
    /// What `name` gives, or a name that can't be that of a file.
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

/// Cells hold the positions of an enumeration's values: whether those of all attributes can hold the last one.
pub(crate) fn check_room(schema: &ArraySchema, enumeration: &Enumeration) -> Result<()> {
    let count = enumeration.len() as u64;
    let is_short = |attribute: &&Attribute| {
        let held = attribute.datatype().physical().max_integer().unwrap_or(u64::MAX);
        attribute.enumeration() == Some(enumeration.name()) && count.saturating_sub(1) > held
    };
    match schema.attributes().iter().find(is_short) {
        Some(attribute) => {
            let (name, datatype) = (attribute.name(), attribute.datatype());
            let why = format!("attribute {name:?} of {datatype} can't hold the positions of its {count} values");
            Err(SchemaError::invalid(format!("enumeration {:?}", enumeration.name()), why))
        }
        None => Ok(()),
    }
}

/// The schema of the array of a label.
fn label_schema(
    schema: &ArraySchema,
    label: &DimensionLabel,
    extent: Option<Scalar>,
    filters: FilterPipeline,
) -> Result<ArraySchema> {
    let invalid = |why: &str| SchemaError::invalid(name_of_label(label), why);
    let dimension = usize::try_from(label.dimension).ok().and_then(|index| schema.dimensions().get(index));
    let dimension = dimension.ok_or_else(|| invalid("there is no such dimension"))?;
    let (low, high) = dimension.domain().ok_or_else(|| invalid("dimensions of strings can't have labels"))?;
    let mut index = Dimension::new(LABEL_DIMENSION, dimension.datatype(), low, high);
    if let Some(extent) = extent.or(dimension.tile_extent()) {
        index = index.with_tile_extent(extent);
    }
    let values = Attribute::new(label.attribute.clone(), label.datatype).with_cell_val_num(label.cell_val_num);
    let builder = SchemaBuilder::dense().version(schema.version()).dimension(index);
    builder.attribute(values.with_order(label.order).with_filters(filters)).build()
}

impl DimensionLabel {
    /// A label of the dimension at position `dimension`, with an array of its own below the array's folder, to be made
    /// with it. [`SchemaBuilder::label`](crate::SchemaBuilder::label) gives that its place.
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
    /// The payload of the schema's generic tile, for those who filter it themselves, perhaps with a key.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn to_payload(&self) -> Result<Vec<u8>> {
        let mut payload = ByteWriter::new();
        self.write(&mut payload)?;
        Ok(payload.into_bytes())
    }
}
