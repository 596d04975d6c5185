//! The native module of the Python package `tdb`.

// Python passes owned values, and receives tuples.
#![allow(clippy::needless_pass_by_value, clippy::type_complexity)]

mod aggregate;
mod array;
mod batch;
mod change;
mod column;
mod compat;
mod enumeration;
mod error;
mod group;
mod import;
mod input;
mod jobs;
mod memory;
mod metadata;
mod place;
mod query;
mod run;
mod store;
mod text;
mod value;
mod watch;
mod write;

#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::array::NativeArray;
    #[pymodule_export]
    use super::batch::NativeBatch;
    #[pymodule_export]
    use super::change::{
        complete_schema, create_array, create_group, delete_cells, delete_fragments, evolve, object_type,
        write_metadata,
    };
    #[pymodule_export]
    use super::column::NativeColumn;
    #[pymodule_export]
    use super::compat::{consolidated_footers, fragment_details, vacuum_lists};
    #[pymodule_export]
    use super::group::NativeGroup;
    #[pymodule_export]
    use super::import::{attributes_of_arrow, import_rows, open_parquet, schema_of_rows};
    #[pymodule_export]
    use super::jobs::{
        advise, change_files, consolidate_fragments, copy, diff, doctor, migrate, rebuild, relocate, remove, report,
        verify,
    };
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::query::{NativeBatches, NativeQuery};
    #[pymodule_export]
    use super::text::parse_toml;
    #[pymodule_export]
    use super::write::{NativeWriter, write_arrow, write_columns};
}
