//! Tiles as they lie in the files of a fragment, and as cells in memory.

mod blocks;
mod field;
mod part;
mod stream;

pub(crate) use blocks::{BLOCK, BlockBounds, BlockRoom};
pub(crate) use field::{Combined, FieldTiles};
pub(crate) use part::{PartTiles, tile_len};
pub(crate) use stream::{ByteRun, ByteRuns, Share, TileRequest, TileStream, Wanted};
