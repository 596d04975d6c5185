//! Windows of bit-width reduction and positive delta.

use tdb_types::saturating_len;

use crate::FilterError;

/// Splits `part` into windows of as many values of `size` bytes as fit in `max_window` bytes. The
/// last window contains all remaining bytes. A part shorter than a value is one window.
pub(crate) fn windows<'a>(
    part: Option<&'a [u8]>,
    max_window: u32,
    size: usize,
    filter: &'static str,
) -> Result<std::slice::Chunks<'a, u8>, FilterError> {
    let max_window_len = saturating_len(max_window);
    if max_window_len < size {
        return Err(FilterError::InvalidOption {
            filter,
            option: "maximum window",
            found: format!("{max_window} bytes"),
            expected: "at least the size of one value",
        });
    }
    let part = part.unwrap_or_default();
    let whole = max_window_len.min(part.len()) / size * size;
    Ok(part.chunks(if whole == 0 { size } else { whole }))
}
