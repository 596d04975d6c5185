//! The footer of a fragment as it stands in the fragment's own file.

use tdb_types::{Feature, FormatVersion};

use super::{Fragment, UnparsedFragment};
use crate::Result;

impl Fragment {
    /// The bytes of the footer in the fragment's own file, wherever the fragment was loaded from: what a file of many
    /// fragments' footers may hold of it. Nothing is read if the fragment was loaded from there.
    ///
    /// `None` in formats whose footers no such file can hold: 1 and 2, which have none,
    /// and 11, of which newer releases write longer ones than they count.
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
    /// The file can't be read, or has no such footer.
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

/// Whether a format has footers at all, and such that copies of them can be relied on: newer releases make them longer by eight
/// bytes where statistics came without a place for those of the whole fragment, but count them as they were, so that all but
/// the first lie behind where they should.
pub(crate) fn has_reliable_copies(version: FormatVersion) -> bool {
    let grows = version.has(Feature::TileStatistics) && !version.has(Feature::FragmentStatistics);
    !version.has(Feature::LegacyFragmentMetadata) && !grows
}
