//! The table in Markdown, and its summary.

mod row;
mod summary;
pub mod text;

pub use row::Row;
pub use summary::summary;

use crate::limits::Machine;

pub fn heading(machine: &Machine) -> String {
    let threads = machine.threads;
    format!(
        "{threads} threads; one thread copies memory at {:.1} GB/s, reads the page cache at {:.1} GB/s, touches fresh memory at \
         {:.1} GB/s and writes a new file in memory at {:.1} GB/s.\n\n\
         | workload | cells | reference, 1 thread | tdb, 1 thread | ratio | CPU time: reference, tdb | ratio | \
         reference, {threads} threads | tdb, {threads} threads | ratio | memory: reference, tdb | limit | same cells |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |",
        machine.copy / 1e9,
        machine.page_cache / 1e9,
        machine.fresh / 1e9,
        machine.new_file / 1e9,
    )
}

#[cfg(test)]
mod tests;
