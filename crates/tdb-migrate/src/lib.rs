#![doc = include_str!("../README.md")]

mod boxes;
mod change;
mod check;
mod copied;
mod group;
mod group_files;
mod labels;
mod members;
mod migrate;
mod obstacle;
mod place;

pub use group::{GroupMigration, GroupMigrationReport};
pub use migrate::{Migrate, Migration, MigrationReport};
pub use place::{InPlace, is_interrupted as is_migration_interrupted, recover as recover_migration};
pub use tdb_job::Obstacle;
pub use tdb_job::{MaintainError, Result};

// Public signatures use types of these crates. The re-exports spare users a dependency.
pub use tdb_array;
