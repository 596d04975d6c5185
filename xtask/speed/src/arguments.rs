//! What is asked for on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::cases::Asking;
use super::maintenance::Job;
use super::stores::StoresArguments;

/// What to measure.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Only cases whose name contains this
    #[arg(long)]
    pub(crate) only: Option<String>,
    /// How often each read is done; the median counts
    #[arg(long, default_value_t = 5)]
    pub(crate) repeats: usize,
    /// The arrays' size: 1 for those of the documented figures
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Where the arrays lie; they are made if they aren't there
    #[arg(long)]
    pub(crate) arrays: Option<PathBuf>,
    /// Measures writes instead, into arrays in memory
    #[arg(long)]
    pub(crate) writes: bool,
    /// Measures consolidations and vacuums instead, of arrays in memory
    #[arg(long)]
    pub(crate) maintain: bool,
    /// Measures round trips instead, on a storage each of whose requests takes 30 ms
    #[arg(long)]
    pub(crate) latency: bool,
    /// Lists the cases and measures nothing
    #[arg(long)]
    pub(crate) list: bool,
}

/// What is measured elsewhere than on the disk.
#[derive(Subcommand)]
pub(crate) enum Elsewhere {
    /// Opens, reads and writes on an object store, with more and more delay
    #[command(disable_help_flag = true)]
    Stores(StoresArguments),
}

/// What the hidden process for our side is asked for.
#[derive(Args)]
pub struct WorkerArguments {
    /// The query comes as JSON on standard input: a thousand ranges are too long for an argument
    pub(crate) uri: String,
    pub(crate) threads: usize,
    pub(crate) repeats: usize,
    /// Aggregates as JSON, which are computed instead of giving cells
    #[arg(long)]
    pub(crate) aggregates: Option<String>,
    /// One batch with the whole result, instead of batches of the default size
    #[arg(long)]
    pub(crate) whole: bool,
    /// The ranges make a query each, or are points
    #[arg(long, default_value = "once")]
    pub(crate) asking: Asking,
    /// Consolidates or vacuums instead
    #[arg(long)]
    pub(crate) maintains: Option<Job>,
    /// Reads once more to make the digest
    #[arg(long)]
    pub(crate) digest: bool,
}
