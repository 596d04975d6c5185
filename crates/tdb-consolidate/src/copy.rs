//! Copies the content of an array into another array with a different format version, order, tiling
//! or filters.
//!
//! Each fragment becomes one fragment with the same timestamps, and fragments keep their order.
//! Cells that were deleted or replaced later are copied too, and so are delete commits. The caller
//! decides which arrays can be copied in this way, and which information may be lost.

use std::collections::HashSet;

use tdb_condition::ConditionError;
use tdb_rtree::NdRange;
use tdb_schema::{ArraySchema, Dimension};
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot};
use tdb_types::names::COMMITS_FOLDER;
use tdb_types::{ByteWriter, Feature, FormatVersion};
use tdb_write::{WriteIds, Written};

use crate::join::FragmentJoin;
use crate::sparse::name_of_delete;
use crate::{dense, sparse};

/// A copy of a fragment into another array, created by [`FragmentCopy::new`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before `write`"]
pub struct FragmentCopy(FragmentJoin);

/// Copies the delete commit at `path` of the array `from`. The copy keeps the timestamp, and
/// therefore has the same effect on the copied fragments.
///
/// # Errors
/// The format of `array` does not support deletes, a copy already exists, or a file cannot be read
/// or written.
pub fn copy_delete(array: &Snapshot, from: &Snapshot, path: &str) -> Result<()> {
    let version = array.schema().version();
    if !version.has(Feature::DeleteCommits) {
        return Err(ArrayError::Write(format!("format version {version} does not support deleting cells")));
    }
    let stored;
    let bytes = match from.directory().embedded_deletes.get(path) {
        Some(embedded) => &embedded.bytes[..],
        None => {
            stored = from.access().read(&**from.storage(), path)?;
            &stored[..]
        }
    };
    let mut file = ByteWriter::new();
    let tile = from.access().decoder().decode_file(bytes, None);
    let mut encoder = array.access().encoder(version)?;
    let copied = tile.and_then(|tile| encoder.encode(&tile.payload, &mut file));
    let failed = |source| ArrayError::Condition { file: from.storage().describe(path), source };
    copied.map_err(|source| failed(ConditionError::from(source)))?;
    array.storage().create_folder(COMMITS_FOLDER)?;
    Ok(array.storage().create_new(&name_of_delete(path, version), file.as_slice())?)
}

impl FragmentCopy {
    /// Prepares to copy a fragment of `from` into the array `into`. The copy keeps the timestamps
    /// and the unique part of the name. The cells get the order, tiles and filters of `into`. Both
    /// arrays must have the same dimensions and domain. The schema of `into` must have the same
    /// attributes, in the same order, as the fragment's schema. The format of `into` must support
    /// the timestamps and deletions that the fragment stores per cell.
    ///
    /// # Errors
    /// The schemas or the format do not meet these requirements.
    pub fn new(into: &Snapshot, from: &Snapshot, fragment: &Fragment) -> Result<Self> {
        let (own, theirs) = (into.schema(), fragment.schema());
        if let Some(what) = unlike(own, theirs).or_else(|| lost(own.version(), fragment)) {
            return Err(ArrayError::Write(format!("cannot copy fragment {}: {what}", fragment.name())));
        }
        let names = WriteIds::new().like(fragment.name());
        let times = (fragment.name().start(), fragment.name().end());
        Ok(Self(FragmentJoin {
            into: Some(into.clone()),
            ..FragmentJoin::of(from.of_fragment(fragment), times, names)
        }))
    }

    /// Prepares to write all cells of the dense snapshot `from` into one fragment of `into`, with
    /// the timestamp of `names`. The requirements of [`new`](Self::new) apply to the schemas of
    /// both snapshots.
    ///
    /// # Errors
    /// The schemas do not meet these requirements, or the array `into` is sparse.
    pub fn of_dense_cells(into: &Snapshot, from: &Snapshot, names: WriteIds) -> Result<Self> {
        let what =
            if into.schema().is_dense() { unlike(into.schema(), from.schema()) } else { Some("the array is sparse") };
        if let Some(what) = what {
            return Err(ArrayError::Write(format!("cannot copy the cells: {what}")));
        }
        Ok(Self(FragmentJoin { into: Some(into.clone()), ..FragmentJoin::of(from.clone(), (0, 0), names) }))
    }

    /// Sets the approximate memory limit for cells in bytes. Defaults to 64 MiB.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.0.budget = bytes.max(1);
        self
    }

    /// Restricts the copy to a subarray of a dense array. Each side of the subarray must be a tile
    /// boundary of the new array or an end of the non-empty domain of the source, because the copy
    /// writes whole tiles.
    ///
    /// # Errors
    /// The subarray is not within the non-empty domain, the array is sparse, or fragment metadata
    /// cannot be read.
    pub fn within(mut self, domain: &NdRange) -> Result<Self> {
        let join = &mut self.0;
        let is_inside = |whole: &NdRange| join.array.schema().is_dense() && whole.contains(domain);
        if !join.array.non_empty_domain()?.as_ref().is_some_and(is_inside) {
            return Err(ArrayError::Write("expected a subarray within the cells of a dense array".to_owned()));
        }
        // Leave out the fragments without cells in the subarray. Otherwise a copy in many parts
        // would inspect each fragment many times.
        let touch = |fragment: &&Fragment| fragment.non_empty_domain().is_some_and(|own| own.intersects(domain));
        let folders: HashSet<&str> = join.array.fragments()?.iter().filter(touch).map(Fragment::folder).collect();
        let entries = join.array.directory().fragments.iter().filter(|entry| folders.contains(&*entry.folder));
        join.array = join.array.restricted_to(entries.cloned().collect());
        join.within = Some(domain.clone());
        Ok(self)
    }

    /// Sets a single timestamp for the new fragment, in place of the time range of the original.
    pub fn dated(mut self, time: u64) -> Self {
        self.0.names = self.0.names.over(time, time);
        self
    }

    /// Sets the format version of the new fragment. See
    /// [`Write::version`](tdb_write::Write::version).
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.0.version = Some(version);
        self
    }

    /// Reads the cells, writes them and commits the new fragment. Writes nothing for a fragment
    /// without cells.
    ///
    /// # Errors
    /// The fragment is a sparse fragment of a dense array, the destination does not support the
    /// requested version, or a file cannot be read or written. The new files are then removed as
    /// far as possible.
    pub fn write(self) -> Result<Written> {
        let Self(join) = self;
        if join.array.non_empty_domain()?.is_none() {
            return Ok(Written::default());
        }
        let joined = match join.destination().schema().is_dense() {
            true => {
                if join.array.fragments()?.len() == 1 && !join.array.fragments()?[0].footer().is_dense() {
                    return Err(ArrayError::Write("cannot write sparse fragments of dense arrays".to_owned()));
                }
                dense::join(&join)?
            }
            false => sparse::copy(&join)?,
        };
        joined.commit()
    }
}

/// Returns the data that the fragment stores per cell and that the format lacks.
fn lost(version: FormatVersion, fragment: &Fragment) -> Option<&'static str> {
    let header = fragment.footer().header();
    if header.has_timestamps && !version.has(Feature::PartialTimeOverlap) {
        return Some("the format version of the array does not support timestamps of cells");
    }
    (header.has_delete_metadata && !version.has(Feature::ProcessedConditions))
        .then_some("the format version of the array does not support deletion data of cells")
}

/// Returns the first difference that prevents a copy between arrays with these schemas, or `None`.
fn unlike(a: &ArraySchema, b: &ArraySchema) -> Option<&'static str> {
    let space = |schema: &ArraySchema| {
        schema
            .dimensions()
            .iter()
            .map(|dimension: &Dimension| (dimension.kind(), dimension.domain_keys()))
            .collect::<Vec<_>>()
    };
    let fields = |schema: &ArraySchema| {
        let attributes = schema.attributes().iter();
        attributes.map(|own| (own.datatype(), own.cell_val_num(), own.is_nullable())).collect::<Vec<_>>()
    };
    if a.array_type() != b.array_type() || a.allows_duplicates() != b.allows_duplicates() {
        return Some("the array types differ");
    }
    if space(a) != space(b) {
        return Some("the dimensions differ");
    }
    (fields(a) != fields(b)).then_some("the attributes differ")
}
