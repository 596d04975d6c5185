//! Facts read from the data files of a fragment.

use std::collections::BTreeSet;
use std::sync::Arc;

use tdb_array::Array;
use tdb_array::tdb_fragment::{FieldSlots, FragmentField, NameScheme, Part};
use tdb_array::tdb_schema::ArraySchema;
use tdb_storage::{EntryKind, is_temporary};
use tdb_types::names::{DATA_EXTENSION, FRAGMENT_METADATA};
use tdb_types::{Feature, FormatVersion};

use super::walk::{Cut, Stored, walk};
use tdb_job::RebuildProblem;
use tdb_job::Result;
use tdb_job::{fixed_size, list};

/// The schema and the stored fields of a fragment.
pub(super) struct Shape {
    pub(super) schema: Arc<ArraySchema>,
    pub(super) schema_path: String,
    /// Paths of other schemas with the same fields.
    pub(super) others: Vec<String>,
    pub(super) dense: bool,
    pub(super) timestamps: bool,
    pub(super) deletes: bool,
    /// Fields with data files.
    pub(super) fields: Vec<FragmentField>,
}

/// A tile of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FieldTile {
    pub(super) fixed: Stored,
    pub(super) var: Stored,
    pub(super) validity: Stored,
    /// Number of cells. `None` if this field does not determine the number.
    pub(super) cells: Option<u64>,
}

/// The tiles of each field.
pub(super) struct Walked {
    pub(super) shape: Shape,
    pub(super) tiles: Vec<Vec<FieldTile>>,
    /// Number of cells by tile.
    pub(super) cells: Vec<u64>,
    pub(super) lost: Option<String>,
}

/// Returns the names of the data files in a folder.
fn data_files(array: &Array, folder: &str) -> Result<BTreeSet<String>> {
    let files = list(&**array.storage(), folder)?.into_iter().filter(|entry| entry.kind == EntryKind::File);
    let is_data = |name: &String| name.ends_with(&format!(".{DATA_EXTENSION}")) && !is_temporary(name);
    Ok(files.map(|entry| entry.name).filter(|name| is_data(name) && name != FRAGMENT_METADATA).collect())
}

/// Returns whether a field has a fixed-size, a variable-size and a validity part.
fn parts(schema: &ArraySchema, field: FragmentField) -> [bool; 3] {
    let (is_var, is_nullable) = match field {
        FragmentField::Attribute(index) => {
            let attribute = &schema.attributes()[index];
            (attribute.cell_size().is_none(), attribute.is_nullable())
        }
        FragmentField::Dimension(index) => (schema.dimensions()[index].is_var(), false),
        _ => (false, false),
    };
    [true, is_var, is_nullable]
}

impl Shape {
    /// Returns the newest schema with the fields of the data files. Prefers schemas that are not
    /// newer than `end`, the end timestamp of the fragment.
    pub(super) fn find(
        array: &Array,
        folder: &str,
        version: FormatVersion,
        end: u64,
    ) -> Result<Result<Self, RebuildProblem>> {
        let files = data_files(array, folder)?;
        let mut found: Vec<Self> = Vec::new();
        for path in array.schema_paths() {
            let schema = array.schema_at(path)?;
            found.extend(Self::of(&schema, path, version, &files));
        }
        let name = |shape: &Self| {
            let name = shape.schema_path.rsplit('/').next().unwrap_or_default();
            tdb_types::TimestampedName::parse(name).map_or(0, |name| name.end())
        };
        // All schemas may be newer, because the timestamp in a schema name may be later than the
        // actual creation.
        let index = found.iter().rposition(|shape| name(shape) <= end).or(found.len().checked_sub(1));
        let Some(index) = index else {
            let files = files.into_iter().collect::<Vec<_>>().join(", ");
            return Ok(Err(RebuildProblem::NoSchema { files }));
        };
        let mut chosen = found.remove(index);
        chosen.others = found.into_iter().map(|shape| shape.schema_path).collect();
        Ok(Ok(chosen))
    }

    fn of(schema: &Arc<ArraySchema>, path: &str, version: FormatVersion, files: &BTreeSet<String>) -> Option<Self> {
        let scheme = NameScheme::of(version);
        let has = |field| scheme.data_file(schema, field, Part::Fixed).is_ok_and(|name| files.contains(&name));
        // In older formats, file names are the names of fields, and an attribute may have the name
        // of the field with timestamps or deletions.
        let may_have = version.has(Feature::IndexedFileNames);
        let timestamps = may_have && has(FragmentField::Timestamps);
        let deletes = may_have && has(FragmentField::DeleteTimestamps);
        let combined = version.has(Feature::CombinedCoordinates);
        let dense = !has(if combined { FragmentField::Coordinates } else { FragmentField::Dimension(0) });
        if dense && !schema.is_dense() {
            return None;
        }
        let slots = FieldSlots::new(version, schema.attributes().len(), schema.dim_count(), timestamps, deletes);
        let is_stored = |field: &FragmentField| match field {
            FragmentField::Coordinates => combined && !dense,
            FragmentField::Dimension(_) => !dense,
            _ => true,
        };
        let fields: Vec<FragmentField> = slots.iter().filter(is_stored).collect();
        let mut wanted = BTreeSet::new();
        for field in &fields {
            for (part, is_there) in Part::ALL.into_iter().zip(parts(schema, *field)) {
                if is_there {
                    wanted.insert(scheme.data_file(schema, *field, part).ok()?);
                }
            }
        }
        let (schema, schema_path) = (Arc::clone(schema), path.to_owned());
        let others = Vec::new();
        (wanted == *files).then_some(Self { schema, schema_path, others, dense, timestamps, deletes, fields })
    }

    /// Reads the sizes of the tiles of a field, up to the first incomplete tile. Also returns the
    /// problem, if a tile is incomplete.
    pub(super) fn walk(
        &self,
        array: &Array,
        folder: &str,
        version: FormatVersion,
        field: FragmentField,
    ) -> Result<(Vec<FieldTile>, Option<RebuildProblem>)> {
        let mut tiles: Option<Vec<FieldTile>> = None;
        let mut problem = None;
        for (part, is_there) in Part::ALL.into_iter().zip(parts(&self.schema, field)) {
            if !is_there {
                continue;
            }
            let name = NameScheme::of(version)
                .data_file(&self.schema, field, part)
                .map_err(|source| tdb_array::ArrayError::Fragment { file: array.storage().describe(folder), source })?;
            let (stored, cut) = walk(&*array.storage().open(&format!("{folder}/{name}"))?)?;
            let count = stored.len();
            let tiles = tiles.get_or_insert_with(|| vec![FieldTile::default(); count]);
            if count != tiles.len() && cut.is_none() && problem.is_none() {
                let what = format!("found {count} tiles, but other files of the field have {}", tiles.len());
                problem = Some(RebuildProblem::Disagree { file: name.clone(), what });
            }
            tiles.truncate(count);
            for (tile, stored) in tiles.iter_mut().zip(stored) {
                *match part {
                    Part::Fixed => &mut tile.fixed,
                    Part::Var => &mut tile.var,
                    Part::Validity => &mut tile.validity,
                } = stored;
            }
            if let Some(Cut { offset, what }) = cut {
                problem = Some(RebuildProblem::Cut { file: name, tile: count as u64, offset, what });
            }
        }
        let mut tiles = tiles.unwrap_or_default();
        let size = fixed_size(&self.schema, field);
        let is_var = parts(&self.schema, field)[1];
        for tile in &mut tiles {
            // Filtered strings may include their offsets. The separate tile of offsets is then
            // empty.
            let is_known = !is_var || tile.fixed.unfiltered > 0;
            tile.cells = is_known.then(|| tile.fixed.unfiltered / size.max(1));
        }
        Ok((tiles, problem))
    }
}
