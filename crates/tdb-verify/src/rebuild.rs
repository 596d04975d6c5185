//! Reconstruction of fragment metadata from the data files.
//!
//! The chunk headers in a data file give the offsets and sizes of the tiles, with which a reader
//! finds the cells. The code of the writer then computes statistics, MBRs and the domain of a
//! sparse fragment from the cells.

mod facts;
mod files;
mod lost;
mod metadata;
mod overlay;
mod version;
mod walk;

use tdb_array::Array;
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_types::names::FRAGMENT_METADATA;
use tdb_types::{Feature, FormatVersion};

use facts::Facts;
use files::{FieldTile, Shape, Walked};
use lost::Lost;
use metadata::{build, open};
use tdb_job::RebuildProblem;
use tdb_job::footer_files;
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Result, Stamp};

/// A rebuild of lost or damaged fragment metadata.
///
/// Quarantines old metadata, which [`Doctor::undo`](crate::Doctor::undo) restores. Selects the
/// newest schema with the fields of the data files, and prefers schemas that are not newer than the
/// fragment. Takes timestamps from the name of the fragment. The data files of a dense fragment do
/// not contain the domain. Set it with [`domain`](Self::domain).
///
/// ```
/// use tdb_verify::Rebuild;
/// use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_array::{Array, WriteBatch};
/// use tdb_types::Datatype;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// let time = Dimension::new("time", 0u32..=999);
/// let schema = SchemaBuilder::sparse().dimension(time).attribute(Attribute::new("rain", Datatype::Float32)).build()?;
/// Array::create(&path, schema)?;
/// Array::open(&path)?.write().cells(WriteBatch::new().with("time", &[3u32, 5]).with("rain", &[0.5f32, 0.0]))?;
/// let folder = Array::open(&path)?.fragments()?[0].folder().to_owned();
/// std::fs::remove_file(path.join(&folder).join("__fragment_metadata.tdb"))?;
/// assert!(Array::open(&path)?.fragments().is_err());
///
/// let name = folder.rsplit('/').next().unwrap_or_default();
/// let rebuilt = Rebuild::new().plan(&Array::open(&path)?, name)?.run()?;
/// assert_eq!((rebuilt.tiles, rebuilt.cells), (1, 2));
/// assert_eq!(Array::open(&path)?.fragments()?[0].tile_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "has no effect until a plan runs"]
pub struct Rebuild {
    domain: Option<NdRange>,
    salvage: bool,
}

/// The new metadata of a fragment.
///
/// [`run`](Self::run) writes the metadata.
#[derive(Clone, Debug)]
#[must_use = "has no effect until `run`"]
pub struct RebuildPlan {
    job: Rebuild,
    array: Array,
    fragment: String,
    /// Names of the array's files before the data files were read.
    stamp: Stamp,
    rebuilt: Rebuilt,
    /// Path and content of the metadata file.
    file: (String, Vec<u8>),
    /// Paths of the replaced files.
    quarantine: Vec<String>,
    take_over: bool,
}

/// Result of a rebuild.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// Path of the selected schema.
    pub schema: String,
    /// Paths of other schemas with the same fields. Any of these may be the original schema.
    pub other_schemas: Vec<String>,
    /// Number of tiles in the fragment.
    pub tiles: u64,
    /// Number of cells in the fragment.
    pub cells: u64,
    /// The reason why tiles were lost. `None` if no tile was lost.
    pub lost: Option<String>,
    /// Properties that the data files do not determine.
    pub unknown: Vec<&'static str>,
    /// Size of the metadata in bytes.
    pub bytes: u64,
}

impl Rebuild {
    /// Creates a rebuild that takes all facts from the files and refuses damaged fragments.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the domain of a dense fragment.
    pub fn domain(mut self, domain: NdRange) -> Self {
        self.domain = Some(domain);
        self
    }

    /// Sets whether to keep those tiles of a damaged sparse fragment that precede the first damaged
    /// tile. By default, a damaged fragment is refused.
    pub fn salvage(mut self, salvage: bool) -> Self {
        self.salvage = salvage;
        self
    }

    /// Reads the data files of the named fragment and builds the metadata. Writes no file.
    ///
    /// # Errors
    /// [`MaintainError::Rebuild`] if the metadata cannot be rebuilt. Also fails if the array or a
    /// tile cannot be read.
    pub fn plan(&self, array: &Array, name: &str) -> Result<RebuildPlan> {
        let stamp = Stamp::of(&**array.storage(), &Stamp::ALL)?;
        let entry = Lost::find(array, name)?;
        let problem = |why| MaintainError::Rebuild { path: array.storage().describe(&entry.folder), why };
        let shape = Shape::find(array, &entry.folder, entry.version, entry.name.end())?.map_err(problem)?;
        let walked = self.walk(array, &entry, shape)?;
        let domain = self.domain_of(&walked).map_err(problem)?;
        let entry = Lost { version: version::settle(array, &entry, &walked)?, ..entry.clone() };
        let path = format!("{}/{FRAGMENT_METADATA}", entry.folder);
        let mut unknown: Vec<&'static str> = Vec::new();
        if walked.shape.deletes {
            unknown.push("which delete conditions were applied before the consolidation");
        }
        if !entry.counts {
            unknown.push("whether the fragment was ever committed, which only the metadata records in this format");
        }
        // Before format 20, only the metadata determines which datatypes the writer's filters used.
        // Fragments of formats 1 to 4 were written by releases of the same format.
        let may_be_newer =
            !entry.version.has(Feature::StageDatatypes) && !entry.version.has(Feature::CombinedCoordinates);
        let newer = may_be_newer.then_some(FormatVersion::DEFAULT);
        let attempt = |library: FormatVersion| -> Result<(Facts, FormatVersion)> {
            let encoder = &mut array.small_files().encoder(library)?;
            let first = build(&entry, &walked, domain.as_ref(), None, encoder)?;
            let (array, fragment) = open(array, &entry, first)?;
            Ok((Facts::of(&array, &fragment, &walked)?, library))
        };
        let own = attempt(entry.version);
        let other = newer.map(attempt);
        let (facts, library) = match (own, other) {
            (Ok(own), Some(Ok(other))) => {
                if own.0 != other.0 {
                    unknown.push("whether a release since 2.17 wrote it, which affects filters of floats and deltas");
                }
                own
            }
            (Err(_), Some(Ok(other))) => other,
            (own, _) => own?,
        };
        let encoder = &mut array.small_files().encoder(library)?;
        let bytes = build(&entry, &walked, domain.as_ref(), Some(&facts), encoder)?;
        let mut quarantine = footers_of(array, name)?;
        quarantine.push(path.clone());
        let rebuilt = Rebuilt {
            schema: walked.shape.schema_path,
            other_schemas: walked.shape.others,
            tiles: walked.cells.len() as u64,
            cells: walked.cells.iter().sum(),
            lost: walked.lost,
            unknown,
            bytes: bytes.len() as u64,
        };
        Ok(RebuildPlan {
            job: self.clone(),
            array: array.clone(),
            fragment: name.to_owned(),
            stamp,
            rebuilt,
            file: (path, bytes),
            quarantine,
            take_over: false,
        })
    }

    /// Reads the tiles of all fields, up to the number of tiles that every field has.
    fn walk(&self, array: &Array, entry: &Lost, shape: Shape) -> Result<Walked> {
        let problem = |why| MaintainError::Rebuild { path: array.storage().describe(&entry.folder), why };
        let mut tiles: Vec<Vec<FieldTile>> = Vec::new();
        let mut lost: Option<RebuildProblem> = None;
        for field in &shape.fields {
            let (of_field, why) = shape.walk(array, &entry.folder, entry.version, *field)?;
            let is_first = |least: &Vec<FieldTile>| of_field.len() < least.len();
            if why.is_some() && (lost.is_none() || tiles.iter().all(is_first)) {
                lost = why;
            }
            tiles.push(of_field);
        }
        let count = tiles.iter().map(Vec::len).min().unwrap_or(0);
        if let (Some(longer), None) = (tiles.iter().position(|tiles| tiles.len() > count), &lost) {
            let what = format!("found {} tiles, but other fields have {count}", tiles[longer].len());
            lost = Some(RebuildProblem::Disagree { file: shape.fields[longer].display(&shape.schema), what });
        }
        if let Some(why) = &lost
            && (!self.salvage || shape.dense || count == 0)
        {
            return Err(problem(why.clone()));
        }
        tiles.iter_mut().for_each(|tiles| tiles.truncate(count));
        let cells = counts(&shape, &tiles, count).map_err(problem)?;
        Ok(Walked { shape, tiles, cells, lost: lost.map(|why| why.to_string()) })
    }

    /// Returns the domain of a dense fragment.
    fn domain_of(&self, walked: &Walked) -> Result<Option<NdRange>, RebuildProblem> {
        if !walked.shape.dense {
            return Ok(None);
        }
        let tiles = walked.cells.len() as u64;
        if let Some(domain) = &self.domain {
            return Ok(Some(domain.clone()));
        }
        // If each tile has one cell and the number of tiles matches, assume the whole array. With
        // larger tiles, a part of a tile could be outside of the domain.
        let dimensions = walked.shape.schema.dimensions();
        let is_cell = dimensions.iter().all(|dimension| dimension.extent_cells() == Some(1));
        let all = dimensions.iter().try_fold(1u64, |all, dimension| all.checked_mul(dimension.tile_count()));
        if !is_cell || all != Some(tiles) {
            return Err(RebuildProblem::Domain { tiles });
        }
        let range = |(lo, hi)| DimRange::between(lo, hi).ok();
        let ranges: Option<Vec<DimRange>> =
            dimensions.iter().map(|dimension| dimension.domain().and_then(range)).collect();
        ranges.map(|ranges| Some(NdRange(ranges))).ok_or(RebuildProblem::Domain { tiles })
    }
}

impl RebuildPlan {
    /// Returns the counts and the unknown properties of the new metadata.
    #[must_use]
    pub fn rebuilt(&self) -> &Rebuilt {
        &self.rebuilt
    }

    /// If `take_over`, takes over the lock of another process. This is safe only after that process
    /// has ended.
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// Writes the metadata and quarantines the replaced files. If files were added or deleted since
    /// the plan, plans again.
    ///
    /// # Errors
    /// See [`Rebuild::plan`]. [`MaintainError::Busy`] if another job holds the lock. In these
    /// cases, no file has changed. Also fails if a file cannot be quarantined or written.
    pub fn run(self) -> Result<Rebuilt> {
        let storage = self.array.storage();
        let _lock = Lock::take(storage, self.take_over)?;
        let Self { rebuilt, file: (path, bytes), quarantine, .. } = match self.stamp.is_current(&**storage)? {
            true => &self,
            false => &self.job.plan(&self.array, &self.fragment)?,
        };
        crate::doctor::replace(&**storage, quarantine, path, bytes)?;
        Ok(rebuilt.clone())
    }
}

/// Returns the consolidated footers files that contain a footer of this fragment. This footer
/// contains offsets into the old metadata.
fn footers_of(array: &Array, name: &str) -> Result<Vec<String>> {
    let files = array.small_files();
    let mut found = Vec::new();
    for file in footer_files(&array.listing()?) {
        // An unreadable file may contain the footer.
        let is_of_it = files.read_footers(&file.path).map_or(true, |footers| footers.get(name).is_some());
        if is_of_it {
            found.push(file.path);
        }
    }
    Ok(found)
}

/// Returns the number of cells in each tile. Fails if the number is unknown, or if fields or the
/// schema contradict it.
fn counts(shape: &Shape, tiles: &[Vec<FieldTile>], count: usize) -> Result<Vec<u64>, RebuildProblem> {
    let mut cells = Vec::with_capacity(count);
    for tile in 0..count {
        let known = tiles.iter().filter_map(|tiles| tiles[tile].cells);
        let Some(number) = known.clone().next() else { return Err(RebuildProblem::NoCount) };
        if let Some((field, other)) = shape.fields.iter().zip(tiles).find_map(|(field, tiles)| {
            let other = tiles[tile].cells.filter(|other| *other != number)?;
            Some((field, other))
        }) {
            let what = format!("tile {tile} has {other} cells, but {number} in another field");
            return Err(RebuildProblem::Disagree { file: field.display(&shape.schema), what });
        }
        let is_last = tile + 1 == count;
        let (wanted, what) = match shape.dense {
            true => (shape.schema.cells_per_tile().ok(), "cells per tile of the schema"),
            false => (Some(shape.schema.capacity()).filter(|_| !is_last), "cells of the capacity"),
        };
        let why = match wanted {
            Some(wanted) if wanted != number => Some(format!("expected the {wanted} {what}")),
            // The last tile of a sparse fragment may have fewer cells than the capacity.
            None if !shape.dense && number > shape.schema.capacity() => Some("more than the capacity".to_owned()),
            None if !shape.dense && number == 0 => Some("expected at least one".to_owned()),
            _ => None,
        };
        if let Some(why) = why {
            let what = format!("tile {tile} has {number} cells, {why}");
            return Err(RebuildProblem::Disagree { file: shape.schema_path.clone(), what });
        }
        cells.push(number);
    }
    Ok(cells)
}
