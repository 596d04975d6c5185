//! Building of fragment metadata: statistics of cells, and the builder that collects them.

mod builder;
mod kind;
mod numbers;
mod strings;
mod tile;
mod totals;

pub use builder::{FragmentBuilder, StoredTile};
pub use kind::StatisticsKind;
pub use tile::{TileSummarizer, TileSummary};
pub use totals::FieldSummarizer;
