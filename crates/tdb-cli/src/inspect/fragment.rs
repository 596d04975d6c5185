//! Fragment metadata: sections and footer.

use std::fs;
use std::path::Path;

use tdb_array::ArrayError;
use tdb_fragment::{ConsolidatedFooters, FragmentError, FragmentFile, FragmentFolder, FragmentFooter, Step, locate};
use tdb_schema::{ArraySchema, SchemaError};
use tdb_types::names::{COORDINATES, DATA_EXTENSION, LEGACY_SCHEMA, SCHEMA_FOLDER};
use tdb_types::{Feature, FormatVersion, TimestampedName, is_safe_file_name};

use super::inspection::{Inspection, read_file};
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::target;

/// A `__fragment_metadata.tdb`.
pub(super) fn metadata(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    match FragmentPlace::of(inspection.path, &bytes, inspection.key) {
        Ok(place) => {
            let mut decoder = inspection.key.decoder();
            let parsed = FragmentFile::parse(&bytes, place.folder, &place.schema, &mut decoder, Some(inspection.spans));
            match parsed {
                Ok(_) => Ok(()),
                Err(error) => {
                    let failure = fragment_error(inspection.path, error);
                    without_schema_if_empty(inspection, &bytes);
                    Err(failure)
                }
            }
        }
        Err(failure) => {
            without_schema_if_empty(inspection, &bytes);
            Err(failure)
        }
    }
}

/// A `.meta` file.
pub(super) fn consolidated(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut decoder = inspection.key.decoder();
    let footers = ConsolidatedFooters::parse_file(&bytes, &mut decoder, Some(inspection.spans))
        .map_err(|error| fragment_error(inspection.path, error))?;
    inspection
        .notes
        .push(format!("the footers of {} fragments; inspect a fragment's own metadata for its fields", footers.len()));
    Ok(())
}

pub(super) fn fragment_error(path: &Path, source: FragmentError) -> Failure {
    ArrayError::Fragment { file: path.display().to_string(), source }.into_key_error().into()
}

/// Shows the generic tiles of a file whose sections aren't known, if nothing else was shown.
fn without_schema_if_empty(inspection: &mut Inspection<'_>, bytes: &[u8]) {
    if !inspection.spans.to_vec().is_empty() {
        return;
    }
    inspection.notes.push("which sections these are isn't known, so they are shown as generic tiles".to_owned());
    let mut reader = inspection.reader(bytes, 0);
    // The footer, which is none, ends this.
    let mut decoder = inspection.key.decoder();
    while reader.remaining() > 0 && decoder.decode(&mut reader).is_ok() {}
}

/// What the bytes of a fragment's metadata don't say.
pub(super) struct FragmentPlace {
    pub(super) folder: FragmentFolder,
    pub(super) schema: ArraySchema,
}

impl FragmentPlace {
    /// Finds out about the fragment that the metadata file at `path`, or a data file next to it, belongs to.
    pub(super) fn of(path: &Path, metadata: &[u8], key: &Key) -> Result<Self> {
        let real = fs::canonicalize(path).map_err(|error| Failure::io(path.display(), &error))?;
        let folder = real.parent().unwrap_or(Path::new(""));
        let name = folder.file_name().and_then(|name| name.to_str()).and_then(TimestampedName::parse);
        let name = name.ok_or_else(|| no_place(path, "its folder doesn't have a fragment's name"))?;
        let version = name
            .fragment_version()
            .map_err(|source| ArrayError::Version { file: folder.display().to_string(), source })?;
        let has_coordinates = folder.join(format!("{COORDINATES}.{DATA_EXTENSION}")).is_file();
        let array = target::array_above(path).ok_or_else(|| no_place(path, "it doesn't lie in an array"))?;
        let schema = schema(&array, version, path, metadata, key)?;
        Ok(Self { folder: FragmentFolder { version, has_coordinates }, schema })
    }
}

fn no_place(path: &Path, why: &str) -> Failure {
    Failure::corrupt(format!("{}: can't be read alone: {why}", path.display()))
        .with_hint("inspect it where it lies in its array: the array's schema says what its bytes mean")
}

/// The schema that a fragment was written with.
fn schema(array: &Path, version: FormatVersion, path: &Path, metadata: &[u8], key: &Key) -> Result<ArraySchema> {
    let name = match version.has(Feature::SchemaFolder) {
        // The folder's name states a version that we know, so a footer that states another is no newer one: it is none.
        true => schema_name(version, metadata)
            .map_err(|error| Failure::corrupt(format!("{}: the footer can't be read: {error}", path.display())))?,
        false => LEGACY_SCHEMA.to_owned(),
    };
    if !is_safe_file_name(&name) {
        return Err(Failure::corrupt(format!("{}: names the schema {name:?}, which is no file name", path.display())));
    }
    let file = if name == LEGACY_SCHEMA { array.join(&name) } else { array.join(SCHEMA_FOLDER).join(&name) };
    let bytes = read_file(&file)?;
    let tile = key.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
    let parsed = tile.and_then(|tile| ArraySchema::parse_tile(&tile, None));
    let failed = |source| ArrayError::Schema { file: file.display().to_string(), source }.into_key_error();
    Ok(parsed.map_err(failed)?)
}

fn schema_name(version: FormatVersion, metadata: &[u8]) -> Result<String, FragmentError> {
    // From format 10 on the footer is found without a schema.
    let step = locate(version, None, metadata.len() as u64, metadata)?;
    let Step::Footer(range) = step else { return Ok(LEGACY_SCHEMA.to_owned()) };
    let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    let footer = range.and_then(|(start, end)| metadata.get(start..end)).unwrap_or_default();
    Ok(FragmentFooter::schema_name(footer)?.1)
}
