//! All workloads.

mod files;
mod filters;
mod maintenance;
mod opens;
mod reads;
mod writes;

use super::cases;
use super::workload::{Group, Workload};

/// Returns all workloads of the groups. `scale` multiplies the numbers of cells.
pub fn all(scale: f64, groups: &[Group]) -> Vec<Box<dyn Workload>> {
    let mut all: Vec<Box<dyn Workload>> = Vec::new();
    all.extend(opens::all());
    all.extend(cases::all(scale).into_iter().map(reads::read));
    all.extend(writes::all(scale));
    all.extend(maintenance::all(scale));
    all.extend(filters::all(scale));
    all.extend(files::all(scale));
    all.retain(|workload| groups.is_empty() || groups.contains(&workload.group()));
    // The sort is stable, so the order within a group stays.
    all.sort_by_key(|workload| workload.group());
    all
}
