//! Fragment metadata with its sections and footer.

use tdb_array::ArrayError;
use tdb_fragment::{ConsolidatedFooters, FragmentError, FragmentFile, FragmentFolder, FragmentFooter, Step, locate};
use tdb_schema::{ArraySchema, SchemaError};
use tdb_types::names::{COORDINATES, DATA_EXTENSION, LEGACY_SCHEMA, SCHEMA_FOLDER};
use tdb_types::{Feature, FormatVersion, TimestampedName, is_safe_file_name};

use super::inspection::Inspection;
use super::located::Located;
use crate::failure::{Failure, Result};
use crate::key::Key;

/// Inspects a `__fragment_metadata.tdb` file.
pub(super) fn metadata(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let parsed = FragmentPlace::of(inspection.located, &bytes, inspection.key).and_then(|place| {
        let mut decoder = inspection.key.decoder();
        let parsed = FragmentFile::parse(&bytes, place.folder, &place.schema, &mut decoder, Some(inspection.spans));
        parsed.map(drop).map_err(|error| fragment_error(inspection.located, error))
    });
    if parsed.is_err() {
        without_schema_if_empty(inspection, &bytes);
    }
    parsed
}

/// Inspects a `.meta` file.
pub(super) fn consolidated(inspection: &mut Inspection<'_>) -> Result<()> {
    let bytes = inspection.bytes()?;
    let mut decoder = inspection.key.decoder();
    let footers = ConsolidatedFooters::parse_file(&bytes, &mut decoder, Some(inspection.spans))
        .map_err(|error| fragment_error(inspection.located, error))?;
    inspection.notes.push(format!(
        "the footers of {} fragments; inspect the metadata file of a fragment for its fields",
        footers.len()
    ));
    Ok(())
}

pub(super) fn fragment_error(file: &Located, source: FragmentError) -> Failure {
    ArrayError::Fragment { file: file.to_string(), source }.into_key_error().into()
}

/// Shows the generic tiles of a file with unknown sections, if nothing was shown before.
fn without_schema_if_empty(inspection: &mut Inspection<'_>, bytes: &[u8]) {
    if !inspection.spans.to_vec().is_empty() {
        return;
    }
    inspection.notes.push("the sections are unknown, and are shown as generic tiles".to_owned());
    let mut reader = inspection.reader(bytes, 0);
    // Ends at the footer, which is not a generic tile.
    let mut decoder = inspection.key.decoder();
    while reader.remaining() > 0 && decoder.decode(&mut reader).is_ok() {}
}

/// Properties of a fragment that are not stored in the metadata.
pub(super) struct FragmentPlace {
    pub(super) folder: FragmentFolder,
    pub(super) schema: ArraySchema,
}

impl FragmentPlace {
    /// Finds the properties of the fragment of a metadata file, or of a data file in the same
    /// folder.
    pub(super) fn of(file: &Located, metadata: &[u8], key: &Key) -> Result<Self> {
        let name = TimestampedName::parse(file.folder());
        let name = name.ok_or_else(|| no_place(file, "its folder does not have the name of a fragment"))?;
        let version =
            name.fragment_version().map_err(|source| ArrayError::Version { file: name.as_str().to_owned(), source })?;
        let has_coordinates = file.beside(&format!("{COORDINATES}.{DATA_EXTENSION}")).is_there();
        let schema = schema(file, version, metadata, key)?;
        Ok(Self { folder: FragmentFolder { version, has_coordinates }, schema })
    }
}

fn no_place(file: &Located, why: &str) -> Failure {
    Failure::corrupt(format!("{file}: cannot be read alone: {why}"))
        .with_hint("inspect the file in the array, whose schema describes the bytes")
}

/// Returns the schema of a fragment.
fn schema(fragment: &Located, version: FormatVersion, metadata: &[u8], key: &Key) -> Result<ArraySchema> {
    let in_array =
        |path: &str| fragment.in_its_array(path).ok_or_else(|| no_place(fragment, "it is outside of an array"));
    // Must fail before any error of the footer is reported.
    in_array(LEGACY_SCHEMA)?;
    let name = match version.has(Feature::SchemaFolder) {
        // The folder name states a known version. A footer with another version is therefore
        // corrupt, not newer.
        true => schema_name(version, metadata)
            .map_err(|error| Failure::corrupt(format!("{fragment}: cannot read the footer: {error}")))?,
        false => LEGACY_SCHEMA.to_owned(),
    };
    if !is_safe_file_name(&name) {
        return Err(Failure::corrupt(format!("{fragment}: the name of its schema, {name:?}, is not a file name")));
    }
    let file = in_array(&if name == LEGACY_SCHEMA { name } else { format!("{SCHEMA_FOLDER}/{name}") })?;
    let bytes = file.read()?;
    let tile = key.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
    let parsed = tile.and_then(|tile| ArraySchema::parse_tile(&tile, None));
    let failed = |source| ArrayError::Schema { file: file.to_string(), source }.into_key_error();
    Ok(parsed.map_err(failed)?)
}

fn schema_name(version: FormatVersion, metadata: &[u8]) -> Result<String, FragmentError> {
    // From format 10 on, the footer can be found without a schema.
    let step = locate(version, None, metadata.len() as u64, metadata)?;
    let Step::Footer(range) = step else { return Ok(LEGACY_SCHEMA.to_owned()) };
    let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    let footer = range.and_then(|(start, end)| metadata.get(start..end)).unwrap_or_default();
    Ok(FragmentFooter::schema_name(footer)?.1)
}
