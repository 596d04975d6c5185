//! Reports of an import on standard error.

use tdb_exchange::{Observer, Pass};

use crate::progress::Progress;
use tdb_print::{Terminal, message};

/// A receiver of reports. Prints each rejected row on a line, and a progress bar for each pass.
pub(super) struct Reports {
    terminal: Terminal,
    bar: Option<Progress>,
}

impl Reports {
    pub(super) fn new(terminal: Terminal) -> Self {
        Self { terminal, bar: None }
    }
}

impl Observer for Reports {
    fn progress(&mut self, pass: Pass, done: u64, total: u64) {
        let (template, name) = match pass {
            Pass::Check => ("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left", "checking"),
            Pass::Write => ("{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left", "writing"),
            Pass::Sort => ("sorting {wide_bar} {pos} of {len} rows, {eta} left", ""),
        };
        let progress = self.bar.get_or_insert_with(|| Progress::new(self.terminal.stderr));
        if let Some(bar) = progress.line(template, Some(total)) {
            bar.set_message(name);
            bar.set_position(done);
        }
    }

    fn pass_ended(&mut self) {
        if let Some(mut bar) = self.bar.take() {
            bar.finish();
        }
    }

    fn rejected(&mut self, place: &str, reason: &str) {
        eprintln!("{place}: {}", message(reason));
    }

    fn more_rejected(&mut self, rows: u64) {
        eprintln!("and {rows} more rows");
    }
}
