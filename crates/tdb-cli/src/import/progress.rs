//! How far an import is.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::Terminal;

/// Imports that are over sooner say nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over the bytes of the file, twice: once to check them, once to write. On a terminal only.
pub(crate) struct Progress {
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { begun: Instant::now(), wanted: terminal.stderr, bar: None }
    }

    /// So many bytes of `size` were seen in a pass.
    pub(crate) fn at(&mut self, pass: &'static str, (size, seen): (u64, u64)) {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(size), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_message(pass);
        bar.set_position(seen);
    }

    /// Takes the line away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
