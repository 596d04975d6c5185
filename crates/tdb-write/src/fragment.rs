//! A writer for fragments of filtered tiles.

use std::sync::Arc;

use tdb_fragment::tdb_rtree::NdRange;
use tdb_fragment::{FragmentBuilder, FragmentField, NameScheme, ProcessedConditions};
use tdb_snapshot::{ArrayError, Result};
use tdb_storage::WriteFile;

use crate::encoder::EncodedTile;
use crate::target::Target;
use crate::version::library_version;
use crate::{NewFragment, SealedFragment, WriteIds};

/// A fragment under construction: data files and metadata.
#[derive(Debug)]
pub struct FragmentWriter {
    target: Arc<Target>,
    fragment: NewFragment,
    builder: FragmentBuilder,
    /// Files of each stored field.
    files: Vec<FieldFiles>,
}

/// The files of a field: cells or offsets, values, validity.
#[derive(Debug)]
struct FieldFiles([Option<Box<dyn WriteFile>>; 3]);

impl FragmentWriter {
    /// Starts a sparse fragment.
    pub(crate) fn sparse(target: &Arc<Target>, names: &WriteIds) -> Result<Self> {
        let builder = FragmentBuilder::sparse(target.version, &target.schema, target.schema_name());
        Self::begin(target, names, builder)
    }

    /// Starts a consolidated sparse fragment. `times` selects whether cells have timestamps, and
    /// `deletes` whether they have the time and condition of their deletion. `conditions` lists the
    /// delete commits that were applied.
    ///
    /// # Errors
    /// The storage fails, a fragment of the same name exists, or the clock or random bytes for the
    /// name are not available.
    pub fn joined(
        target: &Arc<Target>,
        names: &WriteIds,
        (times, deletes): (bool, bool),
        conditions: Vec<String>,
    ) -> Result<Self> {
        let builder = FragmentBuilder::sparse(target.version, &target.schema, target.schema_name())
            .with_cell_times(times, deletes)
            .with_processed_conditions(ProcessedConditions(conditions));
        Self::begin(target, names, builder)
    }

    /// Starts a dense fragment of all tiles that intersect the domain.
    ///
    /// # Errors
    /// The domain does not fit the schema, the storage fails, a fragment of the same name exists,
    /// or the clock or random bytes for the name are not available.
    pub fn dense(target: &Arc<Target>, names: &WriteIds, domain: NdRange) -> Result<Self> {
        let builder = FragmentBuilder::dense(target.version, &target.schema, target.schema_name(), domain);
        Self::begin(target, names, builder.map_err(|source| error(target, source))?)
    }

    fn begin(target: &Arc<Target>, names: &WriteIds, builder: FragmentBuilder) -> Result<Self> {
        let fragment = NewFragment::begin(target.array.storage(), target.version, (names, target.environment()))?;
        let scheme = NameScheme::of(target.version);
        let mut files = Vec::with_capacity(target.fields.len());
        for (index, field) in target.fields.iter().enumerate() {
            let mut parts = [None, None, None];
            if let Some(stored) = target.stored_as(index) {
                for part in field.parts() {
                    let name =
                        scheme.data_file(&target.schema, stored, part).map_err(|source| error(target, source))?;
                    parts[part as usize] = Some(fragment.create(&name)?);
                }
            }
            files.push(FieldFiles(parts));
        }
        Ok(Self { target: Arc::clone(target), fragment, builder, files })
    }

    /// Replaces the domain of a dense fragment.
    ///
    /// # Errors
    /// The domain does not fit the schema.
    pub fn with_domain(self, domain: NdRange) -> Result<Self> {
        let builder = self.builder.with_domain(domain).map_err(|source| error(&self.target, source))?;
        Ok(Self { builder, ..self })
    }

    /// Returns the total size of the data files so far, in bytes.
    pub fn data_size(&self) -> u64 {
        self.builder.data_size()
    }

    /// Appends the next tiles. `tiles` holds the same number of tiles for each field of the target.
    /// `cells` holds the number of cells per tile.
    ///
    /// # Errors
    /// The tiles do not fit the fragment, or the storage fails. Before format 5, also fails if a
    /// tile of combined coordinates exceeds the limit or cannot be filtered.
    pub fn append(&mut self, tiles: Vec<Vec<EncodedTile>>, cells: &[usize]) -> Result<()> {
        let mut mbrs: Vec<NdRange> = cells.iter().map(|_| NdRange(Vec::new())).collect();
        for (field, tiles) in self.target.fields.iter().zip(&tiles) {
            for (number, tile) in tiles.iter().enumerate() {
                if let (FragmentField::Dimension(_), Some(range)) = (field.field, &tile.range) {
                    mbrs[number].0.push(range.clone());
                }
            }
        }
        let tiles = match &self.target.combined {
            None => tiles,
            Some(combined) => {
                combined.ends(&tiles).iter().for_each(|ends| self.builder.push_bounding_coordinates(ends));
                combined.join(&self.target.array, &self.target.fields, tiles, cells)?
            }
        };
        let mut bytes = 0;
        for (index, tiles) in tiles.iter().enumerate() {
            let Some(stored) = self.target.stored_as(index) else { continue };
            for tile in tiles {
                self.builder.push(stored, &tile.stored).map_err(|source| error(&self.target, source))?;
                bytes += tile.parts.iter().map(Vec::len).sum::<usize>();
            }
        }
        if !self.target.schema.is_dense() {
            mbrs.into_iter().zip(cells).for_each(|(mbr, cells)| self.builder.push_mbr(mbr, *cells as u64));
        }
        let jobs: Vec<_> = self.target.fields.iter().zip(&mut self.files).zip(tiles).collect();
        self.target.array.workers().for_each(bytes as u64, jobs, |((field, files), tiles), _| {
            for tile in tiles {
                for (file, part) in files.0.iter_mut().zip(&tile.parts) {
                    if let Some(file) = file {
                        file.append(part)?;
                    }
                }
                field.give_back(tile);
            }
            Ok(())
        })
    }

    /// Makes the data files durable and writes the metadata.
    ///
    /// # Errors
    /// The tiles do not fit the domain of the fragment, random bytes for the encryption are not
    /// available, or the storage fails.
    pub fn seal(self) -> Result<SealedFragment> {
        let Self { target, fragment, builder, files } = self;
        let files: Vec<_> = files.into_iter().flat_map(|files| files.0).flatten().collect();
        let mut encoder = target.array.access().encoder(library_version(target.version))?;
        let metadata = builder.write(&mut encoder).map_err(|source| error(&target, source))?;
        let (workers, profile) = (target.array.workers(), target.array.storage().profile());
        if profile.is_remote() {
            return fragment.seal_at_once(metadata, files, |files| workers.finish(profile, files));
        }
        workers.finish::<ArrayError>(profile, files)?;
        fragment.seal(metadata)
    }
}

fn error(target: &Target, source: tdb_fragment::FragmentError) -> ArrayError {
    ArrayError::Fragment { file: target.array.storage().describe(""), source }
}
