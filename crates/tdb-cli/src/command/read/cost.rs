//! The cost of a query for `tdb read --explain --run`.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tdb_array::{Array, Monitor, Progress, Query};

use crate::failure::Result;
use crate::interrupt;
use crate::progress::QueryProgress;
use crate::size::Bytes;
use tdb_print::Terminal;

/// The measured cost of a query.
#[derive(Debug)]
pub(super) struct Cost {
    time: Duration,
    cells: u64,
    batches: u64,
    progress: Progress,
    /// Requests to the storage, and the bytes returned.
    opens: u64,
    reads: u64,
    bytes: u64,
    /// Peak memory of the process in bytes, if the operating system reports it.
    memory: Option<u64>,
}

impl Cost {
    /// Runs a query up to `limit` cells, and discards the cells.
    pub(super) fn of(array: &Array, query: Query, limit: Option<u64>, terminal: Terminal) -> Result<Self> {
        let monitor = Monitor::new();
        interrupt::cancels(&monitor);
        let _bar = QueryProgress::of(&monitor, terminal.stderr);
        let before = array.counters();
        let begun = Instant::now();
        let (mut cells, mut batches) = (0, 0);
        for batch in query.monitor(&monitor).batches()? {
            cells += batch?.len() as u64;
            batches += 1;
            if limit.is_some_and(|limit| cells >= limit) {
                break;
            }
        }
        let (time, after) = (begun.elapsed(), array.counters());
        Ok(Self {
            time,
            cells: limit.map_or(cells, |limit| cells.min(limit)),
            batches,
            progress: monitor.progress(),
            opens: after.opens - before.opens,
            reads: after.reads - before.reads,
            bytes: after.bytes - before.bytes,
            memory: peak_memory(),
        })
    }

    /// Returns the number of unfiltered tiles, and the bytes of their data.
    fn unfiltered(&self) -> (u64, u64) {
        let Progress { tiles, unneeded_tiles, bytes, unneeded_bytes, .. } = self.progress;
        (tiles.saturating_sub(unneeded_tiles), bytes.saturating_sub(unneeded_bytes))
    }

    pub(super) fn json(&self) -> Value {
        let (tiles, bytes) = self.unfiltered();
        json!({
            "seconds": self.time.as_secs_f64(),
            "cells": self.cells,
            "batches": self.batches,
            "tiles": tiles,
            "bytes": bytes,
            "files_opened": self.opens,
            "reads": self.reads,
            "bytes_read": self.bytes,
            "peak_memory": self.memory,
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { planned_tiles, planned_bytes, .. } = self.progress;
        let (tiles, bytes) = self.unfiltered();
        writeln!(f, "took      {:.3} s", self.time.as_secs_f64())?;
        let batches = if self.batches == 1 { "batch" } else { "batches" };
        writeln!(f, "result    {} cells in {} {batches}", self.cells, self.batches)?;
        writeln!(f, "read      {tiles} of {planned_tiles} tiles, {bytes} of {planned_bytes} bytes")?;
        writeln!(f, "storage   {} files opened, {} reads, {} bytes read", self.opens, self.reads, self.bytes)?;
        match self.memory {
            Some(memory) => writeln!(f, "memory    {} at most", Bytes(memory)),
            None => Ok(()),
        }
    }
}

/// Returns the peak memory of the process in bytes, or `None` on systems other than Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
