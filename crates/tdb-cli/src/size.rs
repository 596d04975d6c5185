//! Parsing of byte counts, and formatting of counts.

pub(crate) use tdb_job::Bytes;

/// Returns a count with a singular or plural noun.
pub(crate) fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
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
