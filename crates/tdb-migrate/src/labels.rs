//! The arrays of dimension labels, which lie in the array whose dimensions they label.

use std::collections::BTreeMap;

use tdb_array::{Array, TimeRange};

use tdb_job::Result;
use tdb_job::settled;

/// The arrays of labels that the array has, and with its history of those that it had, by their paths, with the names of labels.
pub(super) fn arrays(array: &Array, flatten: bool) -> Result<BTreeMap<String, (String, Array)>> {
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
