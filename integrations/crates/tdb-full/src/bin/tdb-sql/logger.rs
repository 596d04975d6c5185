//! What the processes say of what they do: a line each, on standard error.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{LevelFilter, Log, Metadata, Record};

struct Lines;

/// Begins to say what is at least as important as the level.
pub(crate) fn begin(level: LevelFilter) {
    // Nobody else sets one in this program.
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(level);
    }
}

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let time = tdb_types::datetime::timestamp(since.as_millis() as u64).unwrap_or_default();
            let (level, target) = (record.level(), record.target());
            // There is nowhere left to complain to.
            let _ = writeln!(std::io::stderr().lock(), "{time} {level:5} {target}: {}", record.args());
        }
    }

    fn flush(&self) {}
}
