//! The array schema.

use std::borrow::Cow;
use std::collections::HashMap;

use tdb_filters::FilterPipeline;
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{ArrayType, Feature, FormatVersion, Layout};

use crate::error::Result;
use crate::{Attribute, Dimension, DimensionLabel, Domain, EnumerationRef, FieldRef, FieldType};

/// The schema of an array: its dimensions, attributes, cell and tile orders, and filters.
///
/// A schema is always valid: readers may rely on its bounds, sizes and names (see the [crate's
/// page](crate)). Parse a file ([`parse_file`](Self::parse_file)) or use a
/// [`SchemaBuilder`](crate::SchemaBuilder) to obtain a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySchema {
    pub(crate) version: FormatVersion,
    pub(crate) array_type: ArrayType,
    pub(crate) allows_duplicates: bool,
    pub(crate) tile_order: Layout,
    pub(crate) cell_order: Layout,
    pub(crate) capacity: u64,
    pub(crate) coords_filters: FilterPipeline,
    pub(crate) offsets_filters: FilterPipeline,
    pub(crate) validity_filters: FilterPipeline,
    pub(crate) domain: Domain,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) labels: Vec<DimensionLabel>,
    pub(crate) enumerations: Vec<EnumerationRef>,
    pub(crate) current_domain: Option<NdRange>,
}

impl ArraySchema {
    /// Returns the format version of the schema.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// Returns the type of the array: dense or sparse.
    #[must_use]
    pub fn array_type(&self) -> ArrayType {
        self.array_type
    }

    /// Returns `true` if the array is dense: every coordinate of the domain has a cell.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.array_type == ArrayType::Dense
    }

    /// Returns `true` if several cells may have equal coordinates (sparse arrays only).
    #[must_use]
    pub fn allows_duplicates(&self) -> bool {
        self.allows_duplicates
    }

    /// Returns the order of space tiles: row-major or column-major.
    #[must_use]
    pub fn tile_order(&self) -> Layout {
        self.tile_order
    }

    /// Returns the order of cells within a tile: row-major, column-major or Hilbert.
    #[must_use]
    pub fn cell_order(&self) -> Layout {
        self.cell_order
    }

    /// Returns the number of cells per data tile of sparse fragments.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the coordinate filters, which apply to dimensions without filters.
    #[must_use]
    pub fn coords_filters(&self) -> &FilterPipeline {
        &self.coords_filters
    }

    /// Returns the filters of the offsets of variable-length cells.
    #[must_use]
    pub fn offsets_filters(&self) -> &FilterPipeline {
        &self.offsets_filters
    }

    /// Returns the filters of validity tiles.
    #[must_use]
    pub fn validity_filters(&self) -> &FilterPipeline {
        &self.validity_filters
    }

    /// Returns the domain.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the dimensions, in schema order.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        self.domain.dimensions()
    }

    /// Returns the attributes, in schema order.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns the number of dimensions, at least 1.
    #[must_use]
    pub fn dim_count(&self) -> usize {
        self.dimensions().len()
    }

    /// Returns the number of attributes, at least 1 for dense arrays.
    #[must_use]
    pub fn attr_count(&self) -> usize {
        self.attributes.len()
    }

    /// Returns the dimension labels, in schema order.
    #[must_use]
    pub fn labels(&self) -> &[DimensionLabel] {
        &self.labels
    }

    /// Returns references to the enumerations, in file order. The order has no meaning.
    #[must_use]
    pub fn enumerations(&self) -> &[EnumerationRef] {
        &self.enumerations
    }

    /// Returns the current domain, as a range per dimension.
    ///
    /// Returns `None` if cells may be written in the whole domain.
    #[must_use]
    pub fn current_domain(&self) -> Option<&NdRange> {
        self.current_domain.as_ref()
    }

    /// Looks up an attribute or dimension by name. Returns `None` for unknown names and names of
    /// labels.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldRef> {
        let attribute = self.attributes.iter().position(|attribute| attribute.name() == name);
        let dimension = || self.dimensions().iter().position(|dimension| dimension.name() == name);
        attribute.map(FieldRef::Attribute).or_else(|| dimension().map(FieldRef::Dimension))
    }

    /// Maps the name of each field to its reference, for repeated lookups.
    #[must_use]
    pub fn fields_by_name(&self) -> HashMap<&str, FieldRef> {
        self.fields().filter_map(|field| Some((self.field_name(field)?, field))).collect()
    }

    /// Iterates over all fields: the dimensions, then the attributes.
    pub fn fields(&self) -> impl Iterator<Item = FieldRef> + use<> {
        let dimensions = (0..self.dim_count()).map(FieldRef::Dimension);
        dimensions.chain((0..self.attr_count()).map(FieldRef::Attribute))
    }

    /// Returns the name of a field, or `None` if the schema does not have the field.
    #[must_use]
    pub fn field_name(&self, field: FieldRef) -> Option<&str> {
        match field {
            FieldRef::Attribute(index) => self.attributes.get(index).map(Attribute::name),
            FieldRef::Dimension(index) => self.dimensions().get(index).map(Dimension::name),
        }
    }

    /// Returns the type of a field, or `None` if the schema does not have the field.
    #[must_use]
    pub fn field_type(&self, field: FieldRef) -> Option<FieldType> {
        Some(match field {
            FieldRef::Attribute(index) => {
                let attribute = self.attributes.get(index)?;
                FieldType {
                    datatype: attribute.datatype(),
                    cell_val_num: attribute.cell_val_num(),
                    nullable: attribute.is_nullable(),
                }
            }
            FieldRef::Dimension(index) => {
                let dimension = self.dimensions().get(index)?;
                FieldType { datatype: dimension.datatype(), cell_val_num: dimension.cell_val_num(), nullable: false }
            }
        })
    }

    /// Returns the range of coordinates that dimension `index` allows.
    ///
    /// This is the range of the current domain if set. Otherwise it is the domain of the dimension,
    /// or an unbounded range for strings. A bound of floating-point zero includes both `-0.0` and
    /// `0.0`.
    ///
    /// # Panics
    /// Panics if `index` is out of bounds.
    #[must_use]
    pub fn limits(&self, index: usize) -> DimRange {
        let dimension = &self.domain.dimensions()[index];
        let current = self.current_domain().and_then(|domain| domain.0.get(index));
        let limits = current.cloned().or_else(|| dimension.domain_keys().map(|(lo, hi)| DimRange::Fixed { lo, hi }));
        match limits {
            Some(DimRange::Fixed { lo, hi }) => {
                let (lo, hi) = dimension.kind().widen_zeros(lo, hi);
                DimRange::Fixed { lo, hi }
            }
            Some(limits) => limits,
            // String dimensions have no domain.
            None => DimRange::everything(dimension.kind()),
        }
    }

    /// Returns the filters of the data tiles of a field.
    ///
    /// A dimension without filters uses the coordinate filters of the schema. In versions with
    /// combined coordinates, all dimensions use the coordinate filters. The pipeline is empty for a
    /// field that the schema does not have.
    #[must_use]
    pub fn filters_of(&self, field: FieldRef) -> Cow<'_, FilterPipeline> {
        let filters = match field {
            FieldRef::Attribute(index) => self.attributes.get(index).map(Attribute::filters),
            FieldRef::Dimension(index) => self.dimensions().get(index).map(|dimension| {
                let own = dimension.own_filters();
                if own.is_empty() { &self.coords_filters } else { own }
            }),
        };
        filters.map_or_else(Cow::default, Cow::Borrowed)
    }

    /// Returns the filters of the data tiles of a field, in a fragment of version `fragment`.
    ///
    /// A fragment may have a later version than the schema. If the schema has combined coordinates,
    /// releases from 2.17 on write the dimensions without filters. Earlier releases use the
    /// coordinate filters.
    #[must_use]
    pub fn filters_in(&self, fragment: FormatVersion, field: FieldRef) -> Cow<'_, FilterPipeline> {
        let bare = self.version.has(Feature::CombinedCoordinates) && fragment.has(Feature::BareOldDimensions);
        match field {
            FieldRef::Dimension(index) if bare => self
                .dimensions()
                .get(index)
                .map_or_else(Cow::default, |dimension| Cow::Borrowed(dimension.own_filters())),
            field => self.filters_of(field),
        }
    }

    /// Returns the number of cells per space tile of a dense array.
    ///
    /// # Errors
    /// Fails if a dimension has floats or strings (sparse arrays only), or if the product exceeds
    /// `u64::MAX`.
    pub fn cells_per_tile(&self) -> Result<u64> {
        self.domain.cells_per_tile()
    }
}
