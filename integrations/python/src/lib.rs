//! The native module of the Python package `tdb`.

mod aggregate;
mod array;
mod batch;
mod column;
mod enumeration;
mod error;
mod input;
mod memory;
mod metadata;
mod place;
mod query;
mod run;
mod store;
mod value;

#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::array::NativeArray;
    #[pymodule_export]
    use super::batch::NativeBatch;
    #[pymodule_export]
    use super::column::NativeColumn;
    #[pymodule_export]
    use super::memory::Memory;
    #[pymodule_export]
    use super::query::{NativeBatches, NativeQuery};
}
