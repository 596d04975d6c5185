//! How far something is that takes a while, on standard error.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is over sooner says nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line on a terminal, shown only if it takes a while.
pub(crate) struct Progress {
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Says nothing at all unless it is `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { begun: Instant::now(), wanted, bar: None }
    }

    /// The line, in the style of `template` and out of `total` if there is an end; none as long as there is none to show.
    pub(crate) fn line(&mut self, template: &str, total: Option<u64>) -> Option<&ProgressBar> {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return None;
        }
        let begun = self.begun;
        Some(self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.with_style(style).with_elapsed(begun.elapsed())
        }))
    }

    /// Takes the line away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
