//! Arrays as tables, held against the same cells in memory.

mod changes;
mod errors;
mod pieces;
mod plans;
mod random;
mod slt;
mod support;
