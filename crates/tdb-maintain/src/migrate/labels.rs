//! The arrays of dimension labels, which lie in the array whose dimensions they label: rewritten by the same steps as it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tdb_array::{Array, CreateOptions, TimeRange};
use tdb_storage::{LocalStorage, Storage};
use tdb_types::{Feature, FormatVersion};

use super::{Migrate, Migration, Obstacle};
use crate::lock::Lock;
use crate::settle::settled;
use crate::{MaintainError, Result};

/// The rewritings of the arrays of labels, by their paths below the array.
pub(super) type Labels = BTreeMap<String, Migration>;

/// The arrays of labels that the array has, and with its history of those that it had, by their paths, with the names of labels.
fn arrays(array: &Array, flatten: bool) -> Result<BTreeMap<String, (String, Array)>> {
    let mut all = BTreeMap::new();
    let paths = match flatten {
        true => vec![array.schema_path().to_owned()],
        false => array.schema_paths().to_vec(),
    };
    for path in paths {
        let of_schema = array.by_schema(&path)?;
        // Those that lie elsewhere stand against the migration.
        for label in of_schema.schema().labels().iter().filter(|label| !label.external && label.relative) {
            if !all.contains_key(&label.uri) {
                all.insert(label.uri.clone(), (label.name.clone(), array.array_of_label(label)?));
            }
        }
    }
    Ok(all)
}

/// Finishes or undoes what is interrupted in them.
pub(super) fn settle(array: &Array, flatten: bool, time: TimeRange) -> Result<()> {
    arrays(array, flatten)?.into_values().try_for_each(|(_, own)| settled(&own, time).map(drop))
}

/// What will be done to them; of the changes that are asked for, the format alone is theirs too.
pub(super) fn plan(
    migrate: &Migrate,
    array: &Array,
    version: FormatVersion,
    against: &mut Vec<Obstacle>,
) -> Result<Labels> {
    let mut labels = Labels::new();
    if !version.has(Feature::DimensionLabels) {
        // That there are any stands against it already.
        return Ok(labels);
    }
    let mut own = Migrate::new().to(version);
    (own.flatten, own.budget) = (migrate.flatten, migrate.budget);
    for (uri, (name, array)) in arrays(array, migrate.flatten)? {
        match own.plan(&array) {
            Ok(migration) => drop(labels.insert(uri, migration)),
            Err(MaintainError::CannotMigrate { against: found, .. }) => {
                let of_label = |obstacle| Obstacle::Label { label: name.clone(), why: Box::new(obstacle) };
                against.extend(found.into_iter().map(of_label));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(labels)
}

/// Writes them into the new array, which has empty ones.
pub(super) fn write(labels: &Labels, storage: &Arc<dyn Storage>, options: &CreateOptions) -> Result<()> {
    for (uri, migration) in labels {
        // What was made with the array knows neither when its schemas were made, nor what else they say.
        if storage.exists(uri)? {
            storage.remove_folder(uri)?;
        }
        storage.create_folder(uri)?;
        migration.into_storage(&storage.sub(uri)?, options)?;
    }
    Ok(())
}

/// The locks of an array that lies at `path` below a folder, and of those of its labels, with their paths.
pub(super) fn locks(root: &Path, path: &str, migration: &Migration) -> Result<Vec<(Lock, String)>> {
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(root));
    let join = |uri: &String| if path.is_empty() { uri.clone() } else { format!("{path}/{uri}") };
    let paths = std::iter::once(path.to_owned()).chain(migration.labels.keys().map(join));
    paths.map(|path| Ok((Lock::take(&storage.sub(&path)?, false)?, path))).collect()
}
