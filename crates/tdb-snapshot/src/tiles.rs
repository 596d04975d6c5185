//! Tiles in the files of a fragment, and the cells in memory.

mod blocks;
mod field;
mod part;
mod stream;

pub use blocks::{BLOCK, BlockBounds, BlockRoom};
pub use field::{Combined, FieldTiles};
pub use part::{PartTiles, tile_len};
pub use stream::{ByteRun, ByteRuns, Share, TileRequest, TileStream, Wanted};
