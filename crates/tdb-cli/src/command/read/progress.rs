//! What standard error hears of a read: how far it is, and what it took.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::Terminal;

/// Reads that are over sooner say nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how many cells were read, on a terminal and only if it takes a while.
pub(super) struct Progress {
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(terminal: Terminal) -> Self {
        // Where cells run over the same terminal, they are progress enough.
        Self { begun: Instant::now(), wanted: terminal.stderr && !terminal.stdout, bar: None }
    }

    /// So many cells have been printed.
    pub(super) fn cells(&mut self, count: u64) {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return;
        }
        let begun = self.begun;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {human_pos} cells, {per_sec}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.with_elapsed(begun.elapsed())
        });
        bar.set_position(count);
    }

    /// Takes the line away.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
