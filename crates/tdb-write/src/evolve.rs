//! Changing the schema of an array.

use tdb_schema::SchemaEvolution;
use tdb_snapshot::{ArrayError, Listing, Result, Snapshot};
use tdb_types::names::{ENUMERATIONS_FOLDER, SCHEMA_FOLDER, file_name};
use tdb_types::{Feature, NameForm, TimestampedName};

use crate::Names;
use crate::create::{SchemaWriter, definition};
use crate::files::NewFiles;

/// Names of schemas begin with their times, and are compared as text.
const NAMED_LATER: &str = "the name of its schema, by its time, stands behind the new one's, and readers go by the last; \
                           date the change later";

/// The second attempt comes a millisecond later, and more are of use only where the clock is set back.
const ATTEMPTS: usize = 4;

/// Changes the schema: writes the enumerations that are new or have more values, then the new schema, which readers
/// go by from then on. An array without a change asked for gets a schema like the one it has, in its version.
///
/// # Errors
/// [`ArrayError::NewSchema`] for changes that can't be made; [`ArrayError::Outdated`] if the array's schema is another
/// by now, or is dated later than the new one would be; whatever the storage can't do. Then nothing has changed.
pub fn evolve(array: &Snapshot, evolution: &SchemaEvolution, names: &Names) -> Result<()> {
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

/// A name for a new schema, which must be the last of all: readers go by the order of names.
fn name_of_schema(array: &Snapshot, names: &Names) -> Result<TimestampedName> {
    let environment = &array.access().environment;
    for _ in 0..ATTEMPTS {
        let name = names.next(NameForm::Unversioned, environment)?;
        let newest = newest_schema(array)?;
        if newest.as_deref().is_some_and(|newest| newest != file_name(array.schema_path())) {
            return Err(outdated(array, "its schema was changed since it was opened; open it again"));
        }
        match newest.as_deref().and_then(TimestampedName::parse) {
            Some(newest) if newest.as_str() > name.as_str() => {
                if newest.start() != name.start() || names.is_fixed() {
                    return Err(outdated(array, NAMED_LATER));
                }
                // Another library has changed it within this millisecond.
                environment.wait_until_after(newest.start())?;
            }
            _ => return Ok(name),
        }
    }
    Err(ArrayError::Clock { why: "it goes back and forth".to_owned() })
}

/// The name of the schema that comes last.
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
