//! The table, in Markdown.

use super::cases::Case;
use super::limits::Machine;
use super::measured::Measured;
use tdb_reference::TimedReads;

/// One case's figures.
pub struct Row<'a> {
    pub case: &'a Case,
    pub theirs: Measured,
    pub ours: Measured,
    /// Bytes per second of the bare codec.
    pub codec: Option<f64>,
}

pub fn heading(machine: &Machine) -> String {
    format!(
        "{} threads; one thread copies memory at {:.1} GB/s, reads the page cache at {:.1} GB/s and \
         touches fresh memory at {:.1} GB/s.\n\n\
         | read | cells | reference, 1 thread | ours, 1 thread | ratio | reference, {} threads | ours, {} threads | \
         ratio | open: reference, ours | memory: reference, ours | bare codec | same cells |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |",
        machine.threads,
        machine.copy / 1e9,
        machine.page_cache / 1e9,
        machine.fresh / 1e9,
        machine.threads,
        machine.threads,
    )
}

impl Row<'_> {
    /// Whether both sides read the same cells.
    pub fn is_same(&self) -> bool {
        let digest = &self.theirs.one_thread.digest;
        [&self.theirs.all_threads, &self.ours.one_thread, &self.ours.all_threads]
            .iter()
            .all(|timed| timed.digest == *digest && timed.cells == self.theirs.one_thread.cells)
    }

    pub fn line(&self) -> String {
        let (theirs, ours) = (&self.theirs, &self.ours);
        let ratio = |theirs: &TimedReads, ours: &TimedReads| read_time(theirs) / read_time(ours);
        format!(
            "| {} | {} | {} | {} | **{:.1}** | {} | {} | **{:.1}** | {}, {} | {}, {} | {} | {} |",
            self.case.name,
            theirs.one_thread.cells,
            time_and_speed(&theirs.one_thread),
            time_and_speed(&ours.one_thread),
            ratio(&theirs.one_thread, &ours.one_thread),
            time_and_speed(&theirs.all_threads),
            time_and_speed(&ours.all_threads),
            ratio(&theirs.all_threads, &ours.all_threads),
            time(open_time(&theirs.one_thread)),
            time(open_time(&ours.one_thread)),
            megabytes(theirs.one_thread.peak_memory),
            megabytes(ours.one_thread.peak_memory),
            self.codec.map_or_else(String::new, |speed| format!("{:.2} GB/s", speed / 1e9)),
            if self.is_same() { "yes" } else { "NO" },
        )
    }
}

/// Seconds without opening, the median.
fn read_time(timed: &TimedReads) -> f64 {
    median(timed.reads.iter().map(|read| read.seconds - read.open_seconds))
}

fn open_time(timed: &TimedReads) -> f64 {
    median(timed.reads.iter().map(|read| read.open_seconds))
}

pub fn median(seconds: impl Iterator<Item = f64>) -> f64 {
    let mut seconds: Vec<f64> = seconds.collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN)
}

pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn time_and_speed(timed: &TimedReads) -> String {
    let seconds = read_time(timed);
    match timed.bytes {
        bytes if bytes < 1 << 20 => time(seconds),
        bytes => format!("{} ({:.0} MB/s)", time(seconds), bytes as f64 / seconds / 1e6),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes >> 20)
}
