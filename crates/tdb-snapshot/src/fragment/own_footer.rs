//! The footer in a fragment's own metadata file.

use tdb_types::{Feature, FormatVersion};

use super::{Fragment, UnparsedFragment};
use crate::Result;

impl Fragment {
    /// Returns the footer bytes from the fragment's own metadata file, for use in consolidated
    /// fragment metadata. Reads no file if the fragment's own footer is in memory.
    ///
    /// Returns `None` in formats without footers suitable for consolidation. Formats 1 and 2 have
    /// no footers. In format 11, newer releases write longer footers than counted.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let array = tdb_snapshot::Snapshot::open(folder)?;
    /// let footer = array.fragments()?[0].footer_bytes()?.expect("format 22 has footers");
    /// assert_eq!(footer[..4], 22u32.to_le_bytes());
    /// # Ok::<(), tdb_snapshot::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be read, or has no valid footer.
    pub fn footer_bytes(&self) -> Result<Option<Vec<u8>>> {
        if !has_reliable_copies(self.inner.entry.version) {
            return Ok(None);
        }
        let inner = &*self.inner;
        if let Some(footer) = inner.metadata.own_footer(inner.entry.version) {
            return Ok(Some(footer));
        }
        let fragment = UnparsedFragment::read(inner.storage.clone(), &inner.entry, &inner.access)?;
        fragment.footer_bytes(self.schema())
    }
}

/// Returns `true` if a format has footers with reliable consolidated copies. Format 11 has tile
/// statistics but no offset for fragment statistics. Newer releases extend these footers by eight
/// bytes but count the original length. All footers after the first are then displaced.
pub(crate) fn has_reliable_copies(version: FormatVersion) -> bool {
    let grows = version.has(Feature::TileStatistics) && !version.has(Feature::FragmentStatistics);
    !version.has(Feature::LegacyFragmentMetadata) && !grows
}
