//! Log output on standard error, one line per record.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{LevelFilter, Log, Metadata, Record};

struct Lines;

/// Installs the logger.
pub(crate) fn begin(level: LevelFilter) {
    // No other code of this program sets a logger.
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
            // Standard error is closed.
            let _ = writeln!(std::io::stderr().lock(), "{time} {level:5} {target}: {}", record.args());
        }
    }

    fn flush(&self) {}
}
