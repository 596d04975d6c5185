//! Parsing and formatting of byte counts.

use std::fmt;

const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// A byte count, formatted as `513 B`, `1.5 KiB` or `20 GiB`.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    #[allow(clippy::cast_precision_loss)] // shown with three digits
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut value = self.0 as f64;
        let mut unit = "";
        for next in UNITS {
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

/// Parses `64MiB`, `64 MB`, `1.5g` or `1000`. Decimal and binary units both mean powers of 1024.
///
/// # Errors
/// Returns the reason if the text is no byte count.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        other => return Err(format!("{other:?} is not a unit of bytes; use KiB, MiB, GiB or TiB")),
    };
    let factor = 1u64 << (10 * power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor).ok_or_else(|| "too many bytes".to_owned());
    }
    let value: f64 = number.parse().map_err(|_| format!("{number:?} is not a number; write for example 64MiB"))?;
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    Ok((value * factor as f64) as u64)
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

    #[test]
    fn parses() {
        assert_eq!(parse("64MiB"), Ok(64 << 20));
        assert_eq!(parse(" 2 gb"), Ok(2 << 30));
        assert_eq!(parse("1.5k"), Ok(1536));
        assert_eq!(parse("17"), Ok(17));
        for wrong in ["", "MiB", "1x", "-1", "99999999999g"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
