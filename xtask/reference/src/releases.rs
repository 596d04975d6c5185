//! The known releases of the reference library, and the Python wheel of each.

use super::{Error, Result};

/// A release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Version of the library.
    pub library: &'static str,
    /// Version of the Python package `tiledb` whose wheel contains the library.
    pub wheel: &'static str,
    /// Format version that the release writes.
    pub format: u32,
}

/// The newest release, which determines the expected contents of every array.
pub const NEWEST: &str = "2.30.0";

const fn entry(library: &'static str, wheel: &'static str, format: u32) -> Release {
    Release { library, wheel, format }
}

/// All supported releases, oldest first. Together they write all formats from 2 to 22.
pub const RELEASES: &[Release] = &[
    entry("1.5.0", "0.4.1", 2),
    entry("1.5.1", "0.4.2", 2),
    entry("1.6.3", "0.4.4", 3),
    entry("1.7.0", "0.5.0", 4),
    entry("1.7.7", "0.5.9", 4),
    entry("2.0.8", "0.6.6", 5),
    entry("2.1.6", "0.7.7", 6),
    entry("2.2.2", "0.8.0", 7),
    entry("2.2.9", "0.8.11", 8),
    entry("2.3.3", "0.9.5", 9),
    entry("2.4.3", "0.10.5", 10),
    entry("2.5.3", "0.11.5", 10),
    entry("2.6.4", "0.12.4", 10),
    entry("2.7.2", "0.13.3", 11),
    entry("2.8.3", "0.14.5", 12),
    entry("2.9.5", "0.15.6", 13),
    entry("2.10.4", "0.16.5", 14),
    entry("2.11.3", "0.17.6", 15),
    entry("2.12.3", "0.18.3", 16),
    entry("2.13.1", "0.19.1", 16),
    entry("2.14.0", "0.20.0", 17),
    entry("2.15.4", "0.21.6", 18),
    entry("2.16.3", "0.22.3", 19),
    entry("2.17.5", "0.23.5", 20),
    entry("2.18.5", "0.24.1", 20),
    entry("2.24.2", "0.30.2", 21),
    entry("2.25.0", "0.31.1", 22),
    entry("2.30.0", "0.36.1", 22),
];

/// Returns the release with this library version.
pub fn release(library: &str) -> Result<Release> {
    let found = RELEASES.iter().find(|release| release.library == library);
    found.copied().ok_or_else(|| Error::UnknownRelease(library.to_owned()))
}

impl Release {
    /// Returns the CPython version of the wheel. Wheels before 0.24 exist for every platform only
    /// for CPython 3.7.
    pub(super) fn python_version(self) -> &'static str {
        let minor = self.wheel.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
        if minor < 24 { "37" } else { "311" }
    }
}

#[cfg(test)]
mod tests {
    use super::{NEWEST, RELEASES, release};

    #[test]
    fn every_format_from_2_to_22_has_a_writer_in_order() {
        let formats: Vec<u32> = RELEASES.iter().map(|release| release.format).collect();
        assert!(formats.is_sorted());
        assert!((2..=22).all(|format| formats.contains(&format)));
        assert_eq!(RELEASES.last(), Some(&release(NEWEST).expect("the newest is listed")));
    }
}
