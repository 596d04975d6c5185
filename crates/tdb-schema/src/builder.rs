//! Builder for new schemas.

use tdb_filters::{Filter, FilterPipeline};
use tdb_rtree::NdRange;
use tdb_types::names::LABELS_FOLDER;
use tdb_types::{ArrayType, Feature, FormatVersion, Layout, Scalar};

use crate::attribute::ANONYMOUS;
use crate::dimension::max_key;
use crate::error::Result;
use crate::scalar_bits::unsigned_bits;
use crate::{ArraySchema, Attribute, Dimension, DimensionLabel, Domain, EnumerationRef, SchemaError, validate};

/// The default number of cells per data tile of sparse arrays.
const DEFAULT_CAPACITY: u64 = 10_000;

/// A builder that collects the parts of a schema and validates them together.
///
/// The defaults match the reference library: row-major order, 10 000 cells per data tile, no
/// duplicates, Zstandard for coordinates and offsets, run-length encoding for validity.
///
/// ```
/// use tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_types::Datatype;
///
/// let rows = Dimension::new("row", 1i32..=100);
/// let schema = SchemaBuilder::dense()
///     .dimension(rows.with_tile(10))
///     .attribute(Attribute::new("temperature", Datatype::Float32))
///     .build()?;
/// assert_eq!(schema.cells_per_tile()?, 10);
/// # Ok::<(), tdb_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SchemaBuilder {
    /// The parts so far, not validated yet, without the validity filters.
    schema: ArraySchema,
    /// The filters of validity tiles, or `None` for the default of the version.
    validity_filters: Option<FilterPipeline>,
}

impl SchemaBuilder {
    /// Creates a builder for a dense array.
    pub fn dense() -> Self {
        Self::new(ArrayType::Dense)
    }

    /// Creates a builder for a sparse array.
    pub fn sparse() -> Self {
        Self::new(ArrayType::Sparse)
    }

    fn new(array_type: ArrayType) -> Self {
        let schema = ArraySchema {
            version: FormatVersion::DEFAULT,
            array_type,
            allows_duplicates: false,
            tile_order: Layout::RowMajor,
            cell_order: Layout::RowMajor,
            capacity: DEFAULT_CAPACITY,
            coords_filters: FilterPipeline::default_coords(),
            offsets_filters: FilterPipeline::default_offsets(),
            validity_filters: FilterPipeline::default(),
            domain: Domain::new(Vec::new()),
            attributes: Vec::new(),
            labels: Vec::new(),
            enumerations: Vec::new(),
            current_domain: None,
        };
        Self { schema, validity_filters: None }
    }

    /// Sets the format version to write. Defaults to [`FormatVersion::DEFAULT`].
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.schema.version = version;
        self
    }

    /// Sets whether several cells may have equal coordinates (sparse arrays).
    pub fn allows_duplicates(mut self, allows: bool) -> Self {
        self.schema.allows_duplicates = allows;
        self
    }

    /// Sets the order of space tiles: row-major or column-major.
    pub fn tile_order(mut self, order: Layout) -> Self {
        self.schema.tile_order = order;
        self
    }

    /// Sets the order of cells within a tile: row-major, column-major, or Hilbert (sparse arrays).
    pub fn cell_order(mut self, order: Layout) -> Self {
        self.schema.cell_order = order;
        self
    }

    /// Sets the number of cells per data tile (sparse arrays).
    pub fn capacity(mut self, cells: u64) -> Self {
        self.schema.capacity = cells;
        self
    }

    /// Sets the coordinate filters, which apply to dimensions without filters.
    pub fn coords_filters(mut self, filters: FilterPipeline) -> Self {
        self.schema.coords_filters = filters;
        self
    }

    /// Sets the filters of the offsets of variable-length cells.
    pub fn offsets_filters(mut self, filters: FilterPipeline) -> Self {
        self.schema.offsets_filters = filters;
        self
    }

    /// Sets the filters of validity tiles.
    pub fn validity_filters(mut self, filters: FilterPipeline) -> Self {
        self.validity_filters = Some(filters);
        self
    }

    /// Appends a dimension.
    pub fn dimension(mut self, dimension: Dimension) -> Self {
        self.schema.domain.dimensions.push(dimension);
        self
    }

    /// Appends an attribute. For formats 1 to 4, [`build`](Self::build) names an anonymous
    /// attribute `__attr`.
    pub fn attribute(mut self, attribute: Attribute) -> Self {
        self.schema.attributes.push(attribute);
        self
    }

    /// Appends a dimension label.
    ///
    /// An internal label without a URI gets the URI that the reference library would assign.
    pub fn label(mut self, mut label: DimensionLabel) -> Self {
        if label.uri.is_empty() && label.relative {
            label.uri = format!("{LABELS_FOLDER}/l{}", self.schema.labels.len());
        }
        self.schema.labels.push(label);
        self
    }

    /// Adds a reference to an enumeration.
    pub fn enumeration(mut self, enumeration: EnumerationRef) -> Self {
        self.schema.enumerations.push(enumeration);
        self
    }

    /// Sets the current domain, the part of the domain where cells may be written.
    pub fn current_domain(mut self, ranges: NdRange) -> Self {
        self.schema.current_domain = Some(ranges);
        self
    }

    /// Names anonymous attributes `__attr`, as releases 1.x did. These releases cannot use an
    /// attribute without a name.
    fn name_attributes(&mut self) {
        if self.schema.version.has(Feature::NamedAttributes) {
            for attribute in self.schema.attributes.iter_mut().filter(|attribute| attribute.name().is_empty()) {
                ANONYMOUS.clone_into(&mut attribute.name);
            }
        }
    }

    /// Sets the image size of WebP filters without a size to the tile extents of the first two
    /// dimensions.
    fn set_image_sizes(&mut self) {
        // Keeps the low 16 bits, like the reference library, and validates only these bits.
        let extents = |dimension: &Dimension| match dimension.tile_extent()? {
            extent if extent.physical().is_float() => None,
            Scalar::I8(extent) => Some(i16::from(extent).cast_unsigned()),
            extent => Some((unsigned_bits(extent) & u64::from(u16::MAX)) as u16),
        };
        let mut extents = self.schema.dimensions().iter().map(extents);
        let (Some(Some(y)), Some(Some(x))) = (extents.next(), extents.next()) else { return };
        for attribute in &mut self.schema.attributes {
            let mut filters = attribute.filters().clone();
            for filter in &mut filters.filters {
                if let Filter::WebP(options) = filter
                    && (options.y_extent, options.x_extent) == (0, 0)
                {
                    (options.y_extent, options.x_extent) = (y, x);
                }
            }
            if filters != *attribute.filters() {
                *attribute = attribute.clone().with_filters(filters);
            }
        }
    }

    /// Validates the parts and returns the schema.
    ///
    /// WebP filters without a size get the tile extents of the first two dimensions. Dimensions
    /// without a tile extent get an extent that spans their domain, like in the reference library.
    /// In Hilbert order they get no extent, because Hilbert order does not use tiles.
    ///
    /// # Errors
    /// Fails if the format, its version or the reference library does not allow the schema.
    pub fn build(self) -> Result<ArraySchema> {
        let schema = self.build_evolved()?;
        validate::dictionaries(&schema)?;
        Ok(schema)
    }

    /// Builds the schema of an existing array. Does not reject existing fields with dictionary
    /// filters that reject every write.
    pub(crate) fn build_evolved(mut self) -> Result<ArraySchema> {
        if self.schema.cell_order != Layout::Hilbert {
            let dimensions = std::mem::take(&mut self.schema.domain.dimensions);
            self.schema.domain.dimensions = dimensions.into_iter().map(spanned).collect::<Result<_>>()?;
        }
        self.set_image_sizes();
        self.name_attributes();
        let Self { mut schema, validity_filters } = self;
        schema.validity_filters = validity_filters.unwrap_or_else(|| default_validity(schema.version));
        validate::creatable(&schema)?;
        Ok(schema)
    }
}

impl From<ArraySchema> for SchemaBuilder {
    /// Creates a builder with all parts of `schema`.
    ///
    /// If the validity filters are the default of the schema's version, they become the default of
    /// the version that is built.
    fn from(schema: ArraySchema) -> Self {
        let is_default = schema.validity_filters == default_validity(schema.version);
        Self { validity_filters: (!is_default).then(|| schema.validity_filters.clone()), schema }
    }
}

/// Returns the default filters of validity tiles.
fn default_validity(version: FormatVersion) -> FilterPipeline {
    match version.has(Feature::Validity) {
        true => FilterPipeline::default_validity(),
        false => FilterPipeline::default(),
    }
}

/// Sets the tile extent to the span of the domain, unless the dimension has a tile extent or no
/// domain.
fn spanned(dimension: Dimension) -> Result<Dimension> {
    let Some((low, high)) = dimension.domain().filter(|_| dimension.tile_extent().is_none()) else {
        return Ok(dimension);
    };
    let extent = match (low, high) {
        (Scalar::F32(low), Scalar::F32(high)) => Some(Scalar::F32(high - low)),
        (Scalar::F64(low), Scalar::F64(high)) => Some(Scalar::F64(high - low)),
        (low, high) => span(low, high),
    };
    match extent {
        Some(extent) => Ok(dimension.with_tile(extent)),
        // Validation reports reversed bounds with a dedicated message.
        None if low > high => Ok(dimension),
        None => {
            let why = "missing tile extent; the domain has too many coordinates for a single tile";
            Err(SchemaError::invalid(format!("dimension {:?}", dimension.name()), why))
        }
    }
}

/// Returns the number of integers from `low` to `high`, as unsigned bits of the same type. Returns
/// `None` if `low` exceeds `high` or the number does not fit.
fn span(low: Scalar, high: Scalar) -> Option<Scalar> {
    let physical = low.physical();
    let count = high.key().checked_sub(low.key())?.checked_add(1).filter(|count| *count <= max_key(physical))?;
    let bytes = count.to_le_bytes();
    Scalar::from_le_bytes(physical, bytes.get(..physical.size())?)
}
