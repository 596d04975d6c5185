//! A committed fragment: the footer, and sections loaded on first use.

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
use crate::once::try_init;
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
/// The footer is already loaded. R-tree and tile offsets are read on first use and cached.
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
    /// `None` for fields without statistics.
    statistics: Mutex<HashMap<FragmentField, Option<Arc<FieldStatistics>>>>,
    /// Statistics merged over all tiles, by field.
    folded: Mutex<HashMap<FragmentField, Arc<Folded>>>,
    /// `None` if the totals cannot be read.
    totals: OnceLock<Option<Arc<FragmentStatistics>>>,
}

impl Fragment {
    /// Returns the name of the fragment folder.
    #[must_use]
    pub fn name(&self) -> &TimestampedName {
        &self.inner.entry.name
    }

    /// Returns the key of the array, if the array is encrypted.
    pub fn key(&self) -> Option<&tdb_filters::EncryptionKey> {
        self.inner.access.key.as_ref()
    }

    /// Returns the path of the fragment folder below the array's folder.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.inner.entry.folder
    }

    /// Returns the format version of the fragment, as in the footer.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.footer().version()
    }

    /// Returns the schema of the fragment, which may be older than the array's current schema.
    #[must_use]
    pub fn schema(&self) -> &Arc<ArraySchema> {
        &self.inner.metadata.schema
    }

    /// Returns the footer of the fragment metadata.
    #[must_use]
    pub fn footer(&self) -> &FragmentFooter {
        &self.inner.metadata.footer
    }

    /// Returns the MBR around all cells of the fragment. Returns `None` without cells.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<&NdRange> {
        self.footer().header().non_empty_domain.as_ref()
    }

    /// Returns the number of tiles of each field.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.footer().tile_count()
    }

    /// Returns the total size in bytes of the data files, as the metadata states, and of the
    /// metadata file.
    ///
    /// # Errors
    /// The footer is from consolidated metadata, and the fragment's own metadata file cannot be
    /// opened.
    pub fn bytes(&self) -> Result<u64> {
        let footer = self.footer();
        let parts = footer.slots().iter().flat_map(|field| Part::ALL.map(|part| (field, part)));
        let data: u64 = parts.filter_map(|(field, part)| footer.file_size(field, part)).fold(0, u64::saturating_add);
        Ok(data.saturating_add(self.inner.metadata.size()?))
    }

    /// Returns the R-tree over the MBRs of the tiles. Dense fragments have no leaves.
    ///
    /// # Errors
    /// The section cannot be read.
    pub fn rtree(&self) -> Result<Arc<RTree>> {
        Ok(try_init(&self.inner.rtree, || self.inner.metadata.rtree().map(Arc::new))?.clone())
    }

    /// Returns the paths of the delete commits applied before the fragment was written.
    ///
    /// # Errors
    /// The section cannot be read.
    pub fn processed_conditions(&self) -> Result<Vec<String>> {
        // By format, the list is ignored in a fragment without delete metadata.
        if !self.footer().header().has_delete_metadata {
            return Ok(Vec::new());
        }
        Ok(self.inner.metadata.processed_conditions()?.0)
    }

    /// Returns the path of the metadata file, and the size that the file had at opening. Returns
    /// `None` if the file was not opened yet.
    pub(crate) fn metadata_size(&self) -> Option<(&str, u64)> {
        self.inner.metadata.file.if_open()
    }

    #[cold]
    fn error(&self, source: FragmentError) -> ArrayError {
        self.inner.metadata.error(source)
    }
}
