//! Copying what an array consists of into another one, of another format, other orders, tiles or filters.
//!
//! Fragments stay fragments, of the same times and in the same order, whatever was deleted or replaced since; what decides
//! about that is copied, too. Which arrays can be copied so, and what would be lost, is for those who ask to know.

use std::collections::HashSet;

use tdb_condition::ConditionError;
use tdb_rtree::NdRange;
use tdb_schema::{ArraySchema, Dimension};
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot};
use tdb_types::names::COMMITS_FOLDER;
use tdb_types::{ByteWriter, Feature, FormatVersion};
use tdb_write::{Names, Written};

use crate::join::Join;
use crate::sparse::name_of_delete;
use crate::{dense, sparse};

/// A fragment that goes into another array, made by [`FragmentCopy::new`].
#[derive(Clone, Debug)]
#[must_use = "nothing is written before `write`"]
pub struct FragmentCopy(Join);

/// Copies a delete commit of another array, with its time, so that it applies to the copies of the same fragments.
///
/// # Errors
/// The format has no deletes; something can't be read or written.
pub fn copy_delete(array: &Snapshot, from: &Snapshot, path: &str) -> Result<()> {
    let version = array.schema().version();
    if !version.has(Feature::DeleteCommits) {
        return Err(ArrayError::Write(format!("format version {version} has no deletes of cells")));
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
    /// Begins to copy a fragment of another array into another one, `into`: with the same times and the same unique part of its name, its
    /// cells in this array's order, tiles and filters. Both arrays have the same dimensions and domain, and the schema that
    /// this array was opened with has the same attributes in the same order as that of the fragment.
    ///
    /// # Errors
    /// The arrays differ otherwise; the fragment has no cells but is dense, or has times of cells that this array's format
    /// can't have.
    pub fn new(into: &Snapshot, from: &Snapshot, fragment: &Fragment) -> Result<Self> {
        let (own, theirs) = (into.schema(), fragment.schema());
        if let Some(what) = unlike(own, theirs) {
            return Err(ArrayError::Write(format!("fragment {} can't be copied: {what}", fragment.name())));
        }
        let names = Names::new().like(fragment.name());
        let times = (fragment.name().start(), fragment.name().end());
        Ok(Self(Join {
            array: from.of_fragment(fragment),
            times,
            names,
            budget: Join::DEFAULT_BUDGET,
            max_fragment_size: None,
            purge: None,
            version: None,
            within: None,
            into: Some(into.clone()),
        }))
    }

    /// Begins to write all cells of the dense array `from`, as it was opened, into one fragment of this one, dated as
    /// `names` say. What holds for the schemas of [`new`](Self::new) holds here for those that both arrays
    /// were opened with.
    ///
    /// # Errors
    /// The arrays differ otherwise, or are sparse.
    pub fn of_dense_cells(into: &Snapshot, from: &Snapshot, names: Names) -> Result<Self> {
        let what =
            if into.schema().is_dense() { unlike(into.schema(), from.schema()) } else { Some("they are sparse") };
        if let Some(what) = what {
            return Err(ArrayError::Write(format!("the cells can't be copied: {what}")));
        }
        Ok(Self(Join {
            array: from.clone(),
            times: (0, 0),
            names,
            budget: Join::DEFAULT_BUDGET,
            max_fragment_size: None,
            purge: None,
            version: None,
            within: None,
            into: Some(into.clone()),
        }))
    }

    /// About how many bytes cells may take in memory on their way; by default 64 MiB.
    pub fn budget(mut self, bytes: usize) -> Self {
        self.0.budget = bytes.max(1);
        self
    }

    /// Copies the cells in a box of a dense array alone, which is to be cut along the new array's tiles or the ends of what
    /// there is: whole tiles are written, and nothing else may lie in them.
    ///
    /// # Errors
    /// The box isn't one of the array's, or the array is sparse.
    pub fn within(mut self, domain: &NdRange) -> Result<Self> {
        let join = &mut self.0;
        let is_inside = |whole: &NdRange| join.array.schema().is_dense() && whole.contains(domain);
        if !join.array.non_empty_domain()?.as_ref().is_some_and(is_inside) {
            return Err(ArrayError::Write("the box has other cells than the array".to_owned()));
        }
        // Others have none of the cells; many boxes would look at all of them again and again.
        let touch = |fragment: &&Fragment| fragment.non_empty_domain().is_some_and(|own| own.intersects(domain));
        let folders: HashSet<&str> = join.array.fragments()?.iter().filter(touch).map(Fragment::folder).collect();
        let entries = join.array.directory().fragments.iter().filter(|entry| folders.contains(&*entry.folder));
        join.array = join.array.restricted_to(entries.cloned().collect());
        join.within = Some(domain.clone());
        Ok(self)
    }

    /// Dates the new fragment at one time, where the original is of a range.
    pub fn dated(mut self, time: u64) -> Self {
        self.0.names = self.0.names.over(time, time);
        self
    }

    /// The format version of the new fragment; see [`Write::version`](tdb_write::Write::version).
    pub fn version(mut self, version: FormatVersion) -> Self {
        self.0.version = Some(version);
        self
    }

    /// Reads the cells and writes them; the new fragment is then part of the array. One without cells makes none.
    ///
    /// # Errors
    /// Something can't be read or written. Nothing of it is then left, as far as it can be removed.
    pub fn write(self) -> Result<Written> {
        let Self(join) = self;
        if join.array.non_empty_domain()?.is_none() {
            return Ok(Written::default());
        }
        let joined = match join.destination().schema().is_dense() {
            true => {
                if join.array.fragments()?.len() == 1 && !join.array.fragments()?[0].footer().is_dense() {
                    return Err(ArrayError::Write("sparse fragments of dense arrays can't be written".to_owned()));
                }
                dense::join(&join)?
            }
            false => sparse::copy(&join)?,
        };
        joined.commit()
    }
}

/// In what arrays differ that must not, so that fields and cells of one can stand for those of the other.
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
        return Some("the arrays are of different types");
    }
    if space(a) != space(b) {
        return Some("the arrays have other dimensions");
    }
    (fields(a) != fields(b)).then_some("the arrays have other attributes")
}
