//! Memory usage of this process on Linux.

use std::fs;

/// Returns the peak memory of the process since the last reset in bytes, or 0 if it is unknown.
pub fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Resets the peak memory to the current usage, if the system supports it.
pub fn reset_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}
