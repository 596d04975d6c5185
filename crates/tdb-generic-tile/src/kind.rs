//! Generic tiles as input of the filters.

use tdb_filters::{ElementTypes, TileKind, TileRole};

use crate::GenericTileHeader;

/// Returns the properties of the payload that filters depend on.
pub(crate) fn tile_kind(header: &GenericTileHeader) -> TileKind {
    TileKind::new(header.datatype, header.cell_size, TileRole::Generic, header.version)
        .with_element_types(ElementTypes::of_fragment(header.version, Some(header.version)))
}
