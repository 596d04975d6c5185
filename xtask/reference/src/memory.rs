//! How much memory this process takes, as Linux says.

use std::fs;

/// The most memory that the process has held since it was reset, in bytes; zero where the system doesn't say.
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Lets the peak start again from what the process holds now; where that can't be done it stays.
pub fn reset_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
