//! A committed fragment: its footer, and its sections as they are needed.

mod cell_order;
mod facts;
mod fields;
mod folded;
mod folding;
mod metadata;
mod metadata_file;
mod open;
mod own_footer;
mod prefetch;
mod statistics;
mod stored;
mod tiles_of;
mod totals;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_fragment::{FragmentError, FragmentField, FragmentFooter, FragmentStatistics, Part};
use tdb_rtree::{NdRange, RTree};
use tdb_schema::ArraySchema;
use tdb_storage::Storage;
use tdb_types::{FormatVersion, TimestampedName};

use crate::access::Access;
use crate::directory::FragmentEntry;
use crate::tiles::FieldTiles;
use crate::{ArrayError, Result};
use folded::Folded;
use metadata::Metadata;

pub use cell_order::CellOrderCheck;
pub use folded::{distrust, reliable_statistics};
pub(crate) use open::UnparsedFragment;
pub(crate) use own_footer::has_reliable_copies;
pub use prefetch::prefetch;
pub use statistics::FieldStatistics;
pub use tiles_of::{StoredTiles, TileCells, TileReader};
pub use totals::{FieldTotals, prefetch_totals};

/// A committed fragment of an open array.
///
/// Its footer was read when the array was opened; R-tree and tile offsets are read on first use and kept.
#[derive(Clone, Debug)]
pub struct Fragment {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    storage: Arc<dyn Storage>,
    entry: FragmentEntry,
    metadata: Arc<Metadata>,
    access: Access,
    rtree: OnceLock<Arc<RTree>>,
    fields: Mutex<HashMap<FragmentField, Arc<FieldTiles>>>,
    /// Nothing where there are none.
    statistics: Mutex<HashMap<FragmentField, Option<Arc<FieldStatistics>>>>,
    /// What the statistics of all tiles say together.
    folded: Mutex<HashMap<FragmentField, Arc<Folded>>>,
    /// Nothing if they can't be read.
    totals: OnceLock<Option<Arc<FragmentStatistics>>>,
}

impl Fragment {
    /// The name of the fragment's folder.
    #[must_use]
    pub fn name(&self) -> &TimestampedName {
        &self.inner.entry.name
    }

    /// The key that its array was opened with, if it is encrypted.
    pub fn key(&self) -> Option<&tdb_filters::EncryptionKey> {
        self.inner.access.key.as_ref()
    }

    /// The path of the fragment's folder below the array's.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.inner.entry.folder
    }

    /// The format version that the fragment was written in, as its footer says.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.footer().version()
    }

    /// The schema that the fragment was written with, which may be older than the array's.
    #[must_use]
    pub fn schema(&self) -> &Arc<ArraySchema> {
        &self.inner.metadata.schema
    }

    /// The footer of the fragment's metadata.
    #[must_use]
    pub fn footer(&self) -> &FragmentFooter {
        &self.inner.metadata.footer
    }

    /// The smallest box that holds all the fragment's cells; none if it has no cells.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<&NdRange> {
        self.footer().header().non_empty_domain.as_ref()
    }

    /// How many tiles each field has.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.footer().tile_count()
    }

    /// Bytes of all data files and of the metadata, as the metadata says.
    ///
    /// # Errors
    /// The footer came with those of other fragments, and the metadata's own file can't be opened.
    pub fn bytes(&self) -> Result<u64> {
        let footer = self.footer();
        let parts = footer.slots().iter().flat_map(|field| Part::ALL.map(|part| (field, part)));
        let data: u64 = parts.filter_map(|(field, part)| footer.file_size(field, part)).fold(0, u64::saturating_add);
        Ok(data.saturating_add(self.inner.metadata.size()?))
    }

    /// The R-tree over the tiles' MBRs; without leaves in a dense fragment.
    ///
    /// # Errors
    /// The section can't be read.
    pub fn rtree(&self) -> Result<Arc<RTree>> {
        self.once(&self.inner.rtree, || self.inner.metadata.rtree())
    }

    /// The paths of the delete commits that were applied to the fragment's cells when it was made.
    ///
    /// # Errors
    /// The section can't be read.
    pub fn processed_conditions(&self) -> Result<Vec<String>> {
        // As the format has it: without delete metadata a fragment's list doesn't count.
        if !self.footer().header().has_delete_metadata {
            return Ok(Vec::new());
        }
        Ok(self.inner.metadata.processed_conditions()?.0)
    }

    /// The value behind `cell`, loaded when it is first asked for.
    fn once<T>(&self, cell: &OnceLock<Arc<T>>, load: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        if let Some(value) = cell.get() {
            return Ok(value.clone());
        }
        // Two threads may both load; the first one's value stays.
        let value = Arc::new(load()?);
        Ok(cell.get_or_init(|| value).clone())
    }

    /// The path of the file of its metadata, and the bytes that it had when it was opened; `None` if nobody has opened it.
    pub(crate) fn metadata_size(&self) -> Option<(&str, u64)> {
        self.inner.metadata.file.if_open()
    }

    #[cold]
    fn error(&self, source: FragmentError) -> ArrayError {
        self.inner.metadata.error(source)
    }
}
