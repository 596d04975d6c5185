//! Generic tiles as the filters see them.

use tdb_filters::{ElementTypes, TileKind, TileRole};

use crate::GenericTileHeader;

/// What the filters need to know of the payload.
pub(crate) fn tile_kind(header: &GenericTileHeader) -> TileKind {
    TileKind::new(header.datatype, header.cell_size, TileRole::Generic, header.version)
        .with_element_types(ElementTypes::of_fragment(header.version, Some(header.version)))
}
