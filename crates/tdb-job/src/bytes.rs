//! Formatting of byte counts.

use std::fmt;

/// A byte count, formatted as `513 B`, `1.5 KiB` or `20 GiB`.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    #[allow(clippy::cast_precision_loss)] // shown with three digits
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut value = self.0 as f64;
        let mut unit = "";
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
            if value < 1023.95 {
                break;
            }
            value /= 1024.0;
            unit = next;
        }
        let digits = usize::from(value < 99.95);
        f.pad(&format!("{value:.digits$} {unit}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints() {
        let shown: Vec<_> =
            [0, 1023, 1024, 1536, 102_400, 1_048_575, 64 << 20, u64::MAX].map(|n| Bytes(n).to_string()).into();
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "100 KiB", "1.0 MiB", "64.0 MiB", "16384 PiB"]);
    }
}
