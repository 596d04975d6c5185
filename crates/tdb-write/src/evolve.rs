//! Schema evolution.

use tdb_schema::SchemaEvolution;
use tdb_snapshot::{ArrayError, Listing, Result, Snapshot};
use tdb_types::names::{ENUMERATIONS_FOLDER, SCHEMA_FOLDER, file_name};
use tdb_types::{Feature, NameForm, TimestampedName};

use crate::WriteIds;
use crate::create::{SchemaWriter, definition};
use crate::files::NewFiles;

/// A schema name begins with the timestamp. Readers compare schema names as text.
const NAMED_LATER: &str = "the current schema has a later timestamp than the new schema, and readers use the latest; \
                           choose a later time for the change";

/// Maximum number of attempts to find a name. The second attempt takes place in a later
/// millisecond. Further attempts help only if the clock was set back.
const ATTEMPTS: usize = 4;

/// Evolves the schema of an array. Writes new and extended enumerations, then the new schema.
/// Readers that open the array afterwards use the new schema. An empty evolution writes a copy of
/// the current schema, with the same version.
///
/// # Errors
/// [`ArrayError::NewSchema`] if a change is not possible. [`ArrayError::Outdated`] if the schema
/// has changed since the array was opened, or if the current schema has a later timestamp than the
/// new schema. Also fails if an enumeration or the array of a dimension label cannot be read, if
/// the clock or random bytes are not available, or if the storage fails. The array then remains
/// unchanged.
pub fn evolve(array: &Snapshot, evolution: &SchemaEvolution, names: &WriteIds) -> Result<()> {
    let definition = evolution.build(&definition(array)?)?;
    let definition = definition.place_new_enumerations(|| names.enumeration_file(&array.access().environment))?;
    let name = name_of_schema(array, names)?;
    let storage = array.storage();
    let mut files = NewFiles::new(storage);
    files.folder(SCHEMA_FOLDER)?;
    if definition.schema().version().has(Feature::Enumerations) {
        files.folder(&format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}"))?;
    }
    SchemaWriter { access: array.access(), storage: &**storage }.write(&definition, name.as_str(), &mut files)?;
    files.keep();
    Ok(())
}

/// Returns a name for a new schema. The name sorts after the names of all other schemas, because
/// readers choose the last name.
fn name_of_schema(array: &Snapshot, names: &WriteIds) -> Result<TimestampedName> {
    let environment = &array.access().environment;
    for _ in 0..ATTEMPTS {
        let name = names.next(NameForm::Unversioned, environment)?;
        let newest = newest_schema(array)?;
        if newest.as_deref().is_some_and(|newest| newest != file_name(array.schema_path())) {
            return Err(outdated(array, "the schema changed after the array was opened; reopen the array"));
        }
        match newest.as_deref().and_then(TimestampedName::parse) {
            Some(newest) if newest.as_str() > name.as_str() => {
                if newest.start() != name.start() || names.is_fixed() {
                    return Err(outdated(array, NAMED_LATER));
                }
                // Another library has changed the schema within this millisecond.
                environment.wait_until_after(newest.start())?;
            }
            _ => return Ok(name),
        }
    }
    Err(ArrayError::Clock { why: "the clock is not monotonic".to_owned() })
}

/// Returns the name of the last schema.
fn newest_schema(array: &Snapshot) -> Result<Option<String>> {
    let mut listing = Listing::of_root(array.storage().list("")?);
    if listing.root.iter().any(|entry| entry.name == SCHEMA_FOLDER) {
        listing.schemas = array.storage().list(SCHEMA_FOLDER)?;
    }
    Ok(listing.schemas().last().map(|path| file_name(path).to_owned()))
}

#[cold]
pub(super) fn outdated(array: &Snapshot, why: &'static str) -> ArrayError {
    ArrayError::Outdated { path: array.storage().describe(""), why }
}
