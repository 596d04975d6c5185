//! Progress bars on standard error.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tdb_array::Monitor;

/// The line of a bar that counts bytes.
pub(crate) const BYTES: &str = "{wide_bar} {bytes} of {total_bytes}, {eta} left";

/// The line of a bar that counts cells.
pub(crate) const CELLS: &str = "{wide_bar} {human_pos} of {human_len} cells, {eta} left";

/// Minimum duration before a bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress bar on a terminal, shown after [`PATIENCE`].
pub(crate) struct Progress {
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Creates a bar, which is never shown unless `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { begun: Instant::now(), wanted, bar: None }
    }

    /// Returns the bar in the style of `template`, with `total` as its end if known. Returns `None`
    /// while the bar is hidden.
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

    /// Removes the bar.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Redraw interval of a bar with a separate thread.
const STEP: Duration = Duration::from_millis(100);

/// A progress bar for the queries of a monitor, removed on drop. A separate thread draws it, since
/// a batch may take long.
pub(crate) struct QueryProgress {
    drawing: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl QueryProgress {
    /// Starts a bar, which is never shown unless `wanted`.
    pub(crate) fn of(monitor: &Monitor, wanted: bool) -> Self {
        if !wanted {
            return Self { drawing: None };
        }
        let (is_over, monitor) = (Arc::new(AtomicBool::new(false)), monitor.clone());
        let until = is_over.clone();
        let draw = move || {
            let mut progress = Progress::new(true);
            while !until.load(Relaxed) {
                let done = monitor.progress();
                if let Some(bar) = progress.line(BYTES, Some(done.planned_bytes)) {
                    bar.set_length(done.planned_bytes);
                    bar.set_position(done.bytes);
                }
                thread::park_timeout(STEP);
            }
            progress.finish();
        };
        // Without a thread, no bar is shown.
        let drawing = thread::Builder::new().name("tdb-progress".to_owned()).spawn(draw).ok();
        Self { drawing: drawing.map(|thread| (is_over, thread)) }
    }
}

impl Drop for QueryProgress {
    fn drop(&mut self) {
        if let Some((is_over, thread)) = self.drawing.take() {
            is_over.store(true, Relaxed);
            thread.thread().unpark();
            // The thread does not panic and returns nothing.
            let _ = thread.join();
        }
    }
}

/// A progress bar for copies, drawn by the copying thread.
#[derive(Clone)]
pub(crate) struct CopyProgress {
    progress: Arc<Mutex<Progress>>,
}

impl CopyProgress {
    /// Creates a bar, which is never shown unless `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        Self { progress: Arc::new(Mutex::new(Progress::new(wanted))) }
    }

    /// Returns an observer of copied [`BYTES`] or [`CELLS`]. The observer cancels the copy if the
    /// monitor is canceled.
    pub(crate) fn observer(
        &self,
        template: &'static str,
        monitor: &Monitor,
    ) -> impl Fn(u64, u64) -> bool + Send + Sync + use<> {
        let (progress, monitor) = (self.progress.clone(), monitor.clone());
        move |done, total| {
            if let Ok(mut progress) = progress.lock()
                && let Some(bar) = progress.line(template, Some(total))
            {
                bar.set_length(total);
                bar.set_position(done);
            }
            !monitor.is_cancelled()
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Ok(mut progress) = self.progress.lock() {
            progress.finish();
        }
    }
}
