//! The array schema.

use std::borrow::Cow;
use std::collections::HashMap;

use tdb_filters::FilterPipeline;
use tdb_rtree::{DimRange, NdRange};
use tdb_types::{ArrayType, Feature, FormatVersion, Layout, PhysicalType, Scalar};

use crate::error::Result;
use crate::{Attribute, Dimension, DimensionLabel, Domain, EnumerationRef, FieldRef, FieldType};

/// What an array is: its dimensions and attributes, the order of its cells and tiles, the filters of its tiles.
///
/// A value of this type has been validated: readers may rely on its bounds, sizes and names (see the crate's page).
/// Obtain one from bytes ([`parse_file`](Self::parse_file)) or from a [`SchemaBuilder`](crate::SchemaBuilder).
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
    /// The format version that the schema was written in.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.version
    }

    /// Whether cells exist everywhere or only where written.
    #[must_use]
    pub fn array_type(&self) -> ArrayType {
        self.array_type
    }

    /// Whether cells exist everywhere in the domain.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.array_type == ArrayType::Dense
    }

    /// Whether cells with equal coordinates may coexist (sparse arrays).
    #[must_use]
    pub fn allows_duplicates(&self) -> bool {
        self.allows_duplicates
    }

    /// The order of space tiles: row-major or column-major.
    #[must_use]
    pub fn tile_order(&self) -> Layout {
        self.tile_order
    }

    /// The order of cells within a tile: row-major, column-major or Hilbert.
    #[must_use]
    pub fn cell_order(&self) -> Layout {
        self.cell_order
    }

    /// Cells per data tile of sparse fragments.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The filters of coordinates, for dimensions that have none of their own.
    #[must_use]
    pub fn coords_filters(&self) -> &FilterPipeline {
        &self.coords_filters
    }

    /// The filters of the offsets of cells of variable length.
    #[must_use]
    pub fn offsets_filters(&self) -> &FilterPipeline {
        &self.offsets_filters
    }

    /// The filters of validity tiles.
    #[must_use]
    pub fn validity_filters(&self) -> &FilterPipeline {
        &self.validity_filters
    }

    /// The dimensions together.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The dimensions, in order.
    #[must_use]
    pub fn dimensions(&self) -> &[Dimension] {
        self.domain.dimensions()
    }

    /// The attributes, in order.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// How many dimensions there are; at least one.
    #[must_use]
    pub fn dim_count(&self) -> usize {
        self.dimensions().len()
    }

    /// How many attributes there are; at least one if the array is dense.
    #[must_use]
    pub fn attr_count(&self) -> usize {
        self.attributes.len()
    }

    /// The dimension labels, in order.
    #[must_use]
    pub fn labels(&self) -> &[DimensionLabel] {
        &self.labels
    }

    /// The enumerations and their files, in the order of the file, which means nothing.
    #[must_use]
    pub fn enumerations(&self) -> &[EnumerationRef] {
        &self.enumerations
    }

    /// The part of the domain that may hold cells for now, one range per dimension; nothing if it's all of the domain.
    #[must_use]
    pub fn current_domain(&self) -> Option<&NdRange> {
        self.current_domain.as_ref()
    }

    /// The attribute or dimension with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldRef> {
        let attribute = self.attributes.iter().position(|attribute| attribute.name() == name);
        let dimension = || self.dimensions().iter().position(|dimension| dimension.name() == name);
        attribute.map(FieldRef::Attribute).or_else(|| dimension().map(FieldRef::Dimension))
    }

    /// All fields by their names, for those who look up many.
    #[must_use]
    pub fn fields_by_name(&self) -> HashMap<&str, FieldRef> {
        self.fields().filter_map(|field| Some((self.field_name(field)?, field))).collect()
    }

    /// All fields: the dimensions, then the attributes.
    pub fn fields(&self) -> impl Iterator<Item = FieldRef> + use<> {
        let dimensions = (0..self.dim_count()).map(FieldRef::Dimension);
        dimensions.chain((0..self.attr_count()).map(FieldRef::Attribute))
    }

    /// The name of a field; nothing if the schema has no such field.
    #[must_use]
    pub fn field_name(&self, field: FieldRef) -> Option<&str> {
        match field {
            FieldRef::Attribute(index) => self.attributes.get(index).map(Attribute::name),
            FieldRef::Dimension(index) => self.dimensions().get(index).map(Dimension::name),
        }
    }

    /// How the values of a field look; nothing if the schema has no such field.
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

    /// Where coordinates may lie on the dimension of that index: in the current domain, else the domain, else anywhere. Zeros
    /// of either sign at its ends are both inside.
    ///
    /// # Panics
    /// If there is no such dimension.
    #[must_use]
    pub fn limits(&self, index: usize) -> DimRange {
        let dimension = &self.domain.dimensions()[index];
        let current = self.current_domain().and_then(|domain| domain.0.get(index));
        let limits = current.cloned().or_else(|| dimension.domain_keys().map(|(lo, hi)| DimRange::Fixed { lo, hi }));
        match limits {
            Some(DimRange::Fixed { lo, hi }) => {
                let physical = dimension.datatype().physical();
                // Zeros of either sign are equal, but have keys one apart.
                let zeros = match physical {
                    PhysicalType::F32 => [Scalar::F32(-0.0), Scalar::F32(0.0)].map(Scalar::key),
                    PhysicalType::F64 => [Scalar::F64(-0.0), Scalar::F64(0.0)].map(Scalar::key),
                    _ => return DimRange::Fixed { lo, hi },
                };
                let [negative, positive] = zeros;
                DimRange::Fixed {
                    lo: if lo == positive { negative } else { lo },
                    hi: if hi == negative { positive } else { hi },
                }
            }
            Some(limits) => limits,
            // Very old arrays may leave out a numeric domain.
            None => DimRange::everything(dimension.kind()),
        }
    }

    /// The filters that the data tiles of a field go through: a dimension without filters of its own, or of a version
    /// where dimensions can't have any, uses the schema's coordinate filters.
    ///
    /// For a field that the schema doesn't have, no filters.
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

    /// The same for a fragment of that version, which may be a later one than the schema's: releases from 2.17 on write
    /// dimensions without filters into an array whose schema knows only filters of all coordinates; those before took these.
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

    /// Cells in one space tile of a dense array.
    ///
    /// # Errors
    /// A dimension of floats or strings (sparse arrays have them), or a product above `u64::MAX`.
    pub fn cells_per_tile(&self) -> Result<u64> {
        self.domain.cells_per_tile()
    }
}
