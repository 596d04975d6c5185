//! The tiles of a fragment's fields, opened on first use.

use std::sync::Arc;

use tdb_filters::{ChunkHeader, FilterPipeline, TileKind, TileRole};
use tdb_fragment::{FragmentField, NameScheme, Part};
use tdb_schema::{ArraySchema, Attribute, FieldRef};
use tdb_types::{CellValNum, Datatype, Feature};

use super::Fragment;
use crate::once::try_insert;
use crate::tiles::{BlockBounds, Combined, FieldTiles, PartTiles};
use crate::{ArrayError, Result};

/// The properties of a field for decoding tiles.
struct FieldShape<'a> {
    name: String,
    datatype: Datatype,
    cell_val_num: CellValNum,
    nullable: bool,
    filters: std::borrow::Cow<'a, FilterPipeline>,
}

/// The minimum size of a filtered tile in bytes. Every tile begins with a chunk count, possibly 0.
const LEAST_TILE: u64 = ChunkHeader::COUNT_LEN as u64;

impl Fragment {
    /// Returns the tiles of a field of the array's schema. Returns `None` if the fragment lacks the
    /// field, or has it with an incompatible type.
    ///
    /// Matches fields by name, because positions differ between the schemas of an array.
    ///
    /// # Errors
    /// The same as [`tiles_of`](Self::tiles_of).
    pub fn field_tiles(&self, array: &ArraySchema, field: FieldRef) -> Result<Option<Arc<FieldTiles>>> {
        self.own_field(array, field).map(|own| self.tiles_of(own)).transpose()
    }

    /// Returns `true` if the fragment has cells of a field of the array's schema.
    pub fn has_field(&self, array: &ArraySchema, field: FieldRef) -> bool {
        self.own_field(array, field).is_some()
    }

    /// Returns the fragment's own field for a field of the array's schema. Returns `None` if the
    /// fragment does not have the attribute, or has it with an incompatible type.
    pub fn own_field(&self, array: &ArraySchema, field: FieldRef) -> Option<FragmentField> {
        let index = match field {
            FieldRef::Dimension(index) => return Some(FragmentField::Dimension(index)),
            FieldRef::Attribute(index) => index,
        };
        let attribute = &array.attributes()[index];
        let own = self.schema().attributes();
        let is_it = |own: &Attribute| own.name() == attribute.name();
        // The schemas usually have the same order, and a search for each of many attributes is slow.
        let index = if own.get(index).is_some_and(is_it) { index } else { own.iter().position(is_it)? };
        is_same_type(&own[index], attribute).then_some(FragmentField::Attribute(index))
    }

    /// Returns `true` if the tiles of the field are already open.
    pub(super) fn has_tiles_of(&self, field: FragmentField) -> bool {
        self.inner.fields.lock().is_ok_and(|ready| ready.contains_key(&field))
    }

    /// Returns the tiles of one of the fragment's own fields, opened on first use.
    ///
    /// # Errors
    /// A data file is missing or too short, or metadata of the field cannot be read.
    pub fn tiles_of(&self, field: FragmentField) -> Result<Arc<FieldTiles>> {
        try_insert(&self.inner.fields, &field, || self.load_tiles(field).map(Arc::new))
    }

    pub(super) fn load_tiles(&self, field: FragmentField) -> Result<FieldTiles> {
        let shape = self.shape(field);
        let value_size = shape.datatype.size() as u64;
        let (version, element_types) = (self.version(), self.inner.metadata.element_types()?);
        let kind = |datatype, cell_size, role| {
            TileKind::new(datatype, cell_size, role, version).with_element_types(element_types)
        };
        let schema = self.schema();
        let (combined, stored) = self.combined(field, &shape);
        let role = combined.map_or(TileRole::Fixed, |combined| TileRole::Coordinates {
            dimensions: u32::try_from(combined.dimensions).unwrap_or(u32::MAX),
        });
        let (fixed, var) = match shape.cell_val_num.fixed() {
            Some(number) => {
                let cell_size = value_size * u64::from(number) * combined.map_or(1, |all| all.dimensions as u64);
                (self.part(stored, Part::Fixed, &shape.filters, kind(shape.datatype, cell_size, role))?, None)
            }
            None => {
                let offsets = kind(Datatype::UInt64, 8, TileRole::Offsets);
                let offsets = self.part(stored, Part::Fixed, schema.offsets_filters(), offsets)?;
                let values = kind(shape.datatype, value_size, TileRole::VarData);
                let values = self.part(stored, Part::Var, &shape.filters, values)?;
                let sizes = self.inner.metadata.tile_var_sizes(stored)?;
                (offsets, Some((values, sizes.0.into())))
            }
        };
        let validity = match shape.nullable {
            true => {
                let kind = kind(Datatype::UInt8, 1, TileRole::Validity);
                Some(self.part(stored, Part::Validity, schema.validity_filters(), kind)?)
            }
            false => None,
        };
        let tile_limit = self.inner.access.limits.tile_bytes;
        let blocks = BlockBounds::new(self.inner.access.blocks.clone());
        Ok(FieldTiles { name: shape.name.into(), fixed, var, validity, combined, tile_limit, blocks })
    }

    /// Returns the share of a dimension in the file of all coordinates, and the field that owns the
    /// file. Only formats before 5 have such files.
    fn combined(&self, field: FragmentField, shape: &FieldShape<'_>) -> (Option<Combined>, FragmentField) {
        match field {
            FragmentField::Dimension(dimension) if self.version().has(Feature::CombinedCoordinates) => {
                let combined = Combined {
                    dimension,
                    dimensions: self.schema().domain().dimensions().len(),
                    size: shape.datatype.size(),
                };
                (Some(combined), FragmentField::Coordinates)
            }
            _ => (None, field),
        }
    }

    fn part(&self, field: FragmentField, part: Part, filters: &FilterPipeline, kind: TileKind) -> Result<PartTiles> {
        let name = NameScheme::of(self.version())
            .data_file(self.schema(), field, part)
            .map_err(|source| self.error(source))?;
        let path = format!("{}/{name}", self.folder());
        let described = self.inner.storage.describe(&path);
        let said = self.footer().file_size(field, part).unwrap_or(0);
        let file = self.inner.storage.open_sized(&path, said)?;
        // Check before reading sections with an entry per tile: many tiles require a large file.
        if file.size() / LEAST_TILE < self.tile_count() {
            let what = format!(
                "file of {} bytes is too small for the {} tiles of the fragment",
                file.size(),
                self.tile_count()
            );
            return Err(ArrayError::Corrupt { file: described, what });
        }
        let offsets = self.tile_offsets(field, part)?;
        if file.size() < offsets.last().copied().unwrap_or(0) {
            let what = format!(
                "found {} bytes, expected at least {} according to the metadata",
                file.size(),
                offsets[offsets.len() - 1]
            );
            return Err(ArrayError::Corrupt { file: described, what });
        }
        let pipeline = self.inner.access.bind(filters, kind).map_err(|source| ArrayError::Tile {
            file: described.clone(),
            field: self.shape(field).name,
            tile: 0,
            source: Box::new(source),
        })?;
        Ok(PartTiles { file, path: described, name: path, offsets, pipeline })
    }

    /// Returns the start of each tile, followed by the end of the last tile.
    fn tile_offsets(&self, field: FragmentField, part: Part) -> Result<Arc<[u64]>> {
        let offsets = self.inner.metadata.tile_offsets(field, part)?;
        let mut bounds = Vec::with_capacity(offsets.len() + 1);
        bounds.extend_from_slice(offsets.starts());
        bounds.push(self.footer().file_size(field, part).unwrap_or(0));
        Ok(bounds.into())
    }

    fn shape(&self, field: FragmentField) -> FieldShape<'_> {
        let schema: &ArraySchema = self.schema();
        let named = |field: FieldRef| schema.filters_in(self.version(), field);
        match field {
            FragmentField::Attribute(index) => {
                let attribute = &schema.attributes()[index];
                FieldShape {
                    name: attribute.name().to_owned(),
                    datatype: attribute.datatype(),
                    cell_val_num: attribute.cell_val_num(),
                    nullable: attribute.is_nullable(),
                    filters: named(FieldRef::Attribute(index)),
                }
            }
            FragmentField::Dimension(index) => {
                let dimension = &schema.domain().dimensions()[index];
                FieldShape {
                    name: dimension.name().to_owned(),
                    datatype: dimension.datatype(),
                    cell_val_num: dimension.cell_val_num(),
                    nullable: false,
                    filters: named(FieldRef::Dimension(index)),
                }
            }
            // Timestamps and condition indices use the coordinates filters.
            other => FieldShape {
                name: other.to_string(),
                datatype: Datatype::UInt64,
                cell_val_num: CellValNum::ONE,
                nullable: false,
                filters: std::borrow::Cow::Borrowed(schema.coords_filters()),
            },
        }
    }
}

/// Returns `true` if an attribute is compatible with the attribute of the same name in another
/// schema. An attribute that was dropped and re-added with another type has no cells in older
/// fragments.
fn is_same_type(own: &Attribute, attribute: &Attribute) -> bool {
    own.datatype() == attribute.datatype() && own.cell_val_num() == attribute.cell_val_num()
}
