//! Arguments of `cargo xtask speed`.

use std::path::PathBuf;

use clap::Args;

use super::elsewhere::Elsewhere;
use super::workload::Group;

/// Arguments of `cargo xtask speed`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Run only cases whose names contain this text
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// Runs per case; the result is the median; a case of several seconds runs only twice
    #[arg(long, default_value_t = 5)]
    pub(crate) repeats: usize,
    /// Size of the arrays, relative to the default size
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Folder of the arrays, which are created if missing
    #[arg(long)]
    pub(crate) arrays: Option<PathBuf>,
    /// Run only these groups
    #[arg(long, value_delimiter = ',')]
    pub(crate) groups: Vec<Group>,
    /// Measure round trips on a storage with 30 ms per request instead
    #[arg(long)]
    pub(crate) latency: bool,
    /// Draw curves of time and memory into this folder instead
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = "docs/curves")]
    pub(crate) curves: Option<PathBuf>,
    /// Count the instructions of key paths instead, and compare with the recorded counts
    #[arg(long)]
    pub(crate) count: bool,
    /// With `--count`: record the counts
    #[arg(long, requires = "count")]
    pub(crate) update: bool,
    /// List the cases without measuring
    #[arg(long)]
    pub(crate) list: bool,
}
