//! `tdb consolidate --what fragments`: consolidation of fragments.

use tdb_array::{Array, TimeRange};
use tdb_maintain::ConsolidateFragments;
use tdb_types::saturating_len;

use crate::failure::Result;
use crate::session;
use crate::setter::with;
use crate::size;
use tdb_print::Terminal;
use tdb_print::print_text;

/// Options of the consolidation of fragments.
#[derive(Debug, Default, PartialEq, clap::Args)]
pub(crate) struct FragmentArgs {
    /// Consolidate exactly these fragments, by name
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fragments: Vec<String>,

    /// Maximum number of steps
    #[arg(long, value_name = "COUNT")]
    steps: Option<u32>,

    /// Minimum number of fragments per step [default: all]
    #[arg(long, value_name = "COUNT")]
    min_fragments: Option<usize>,

    /// Maximum number of fragments per step
    #[arg(long, value_name = "COUNT")]
    max_fragments: Option<usize>,

    /// Minimum size of the smaller of two neighbors, relative to the larger one, from 0 to 1
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    size_ratio: Option<f32>,

    /// Maximum number of cells of a new dense fragment, relative to the tiles of the consolidated
    /// fragments [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    amplification: Option<f64>,

    /// Begin another fragment before one exceeds this size
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_fragment_size: Option<u64>,

    /// Omit deleted cells, which readers of earlier times would still see
    #[arg(long)]
    purge_deleted: bool,

    /// Omit values of dropped attributes, which readers of earlier times would still see
    #[arg(long)]
    flatten_history: bool,

    /// Approximate memory limit for cells
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
}

fn ratio(text: &str) -> Result<f32, String> {
    let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| format!("expected a number from 0 to 1, found {text:?}"))
}

fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor| *factor >= 0.0);
    factor.ok_or_else(|| format!("expected a number of at least 0, found {text:?}"))
}

impl FragmentArgs {
    /// Returns `true` if any option is given.
    pub(super) fn is_any(&self) -> bool {
        *self != Self::default()
    }

    /// Converts the options to those of the library.
    fn options(&self, time: Option<TimeRange>) -> ConsolidateFragments {
        let mut options = ConsolidateFragments::new();
        if !self.fragments.is_empty() {
            options = options.fragments(self.fragments.iter().cloned());
        }
        options = with(options, time, ConsolidateFragments::between);
        options = with(options, self.steps, ConsolidateFragments::steps);
        options = with(options, self.min_fragments, ConsolidateFragments::step_min_fragments);
        options = with(options, self.max_fragments, ConsolidateFragments::step_max_fragments);
        options = with(options, self.size_ratio, ConsolidateFragments::step_size_ratio);
        options = with(options, self.amplification, ConsolidateFragments::amplification);
        options = with(options, self.max_fragment_size, ConsolidateFragments::max_fragment_size);
        options = with(options, self.memory.map(saturating_len), ConsolidateFragments::budget);
        options.purge(self.purge_deleted).flatten_history(self.flatten_history)
    }
}

/// Consolidates fragments of an array. With `is_plan`, only prints the plan.
pub(crate) fn run(
    array: &Array,
    args: &FragmentArgs,
    time: Option<TimeRange>,
    (is_plan, take_over): (bool, bool),
    terminal: Terminal,
) -> Result<()> {
    let plan = args.options(time).plan(array)?.take_over(take_over);
    if is_plan {
        return Ok(print_text(&plan.to_string())?);
    }
    let report = plan.run()?;
    if !report.left_journals.is_empty() {
        session::found();
    }
    print_text(&report.to_string())?;
    if !report.uncommitted.is_empty() {
        session::warn("run `tdb doctor --fix` to quarantine uncommitted fragments", terminal);
    }
    Ok(())
}
