//! What is asked for on the command line.

use std::path::PathBuf;

use clap::Args;

use super::elsewhere::Elsewhere;
use super::workload::Group;

/// What to measure.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Only cases whose name contains this
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// How often each is done; the median counts. What takes seconds is done twice
    #[arg(long, default_value_t = 5)]
    pub(crate) repeats: usize,
    /// The arrays' size: 1 for those of the documented figures
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Where the arrays lie; they are made if they aren't there
    #[arg(long)]
    pub(crate) arrays: Option<PathBuf>,
    /// Only these groups
    #[arg(long, value_delimiter = ',')]
    pub(crate) groups: Vec<Group>,
    /// Measures round trips instead, on a storage each of whose requests takes 30 ms
    #[arg(long)]
    pub(crate) latency: bool,
    /// Draws how time and memory grow instead, into this folder
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = "docs/curves")]
    pub(crate) curves: Option<PathBuf>,
    /// Counts the instructions of key paths instead, and compares them with those that are kept
    #[arg(long)]
    pub(crate) count: bool,
    /// With `--count`: keeps the counts
    #[arg(long, requires = "count")]
    pub(crate) update: bool,
    /// Lists the cases and measures nothing
    #[arg(long)]
    pub(crate) list: bool,
}
