//! Arrays of dimension labels, inside of the labeled array.

use std::collections::BTreeMap;

use tdb_array::{Array, TimeRange};

use tdb_job::Result;
use tdb_job::settled;

/// Returns the label arrays and the names of their labels, by path. Includes labels of older
/// schemas, unless `flatten` is set.
pub(super) fn arrays(array: &Array, flatten: bool) -> Result<BTreeMap<String, (String, Array)>> {
    let mut all = BTreeMap::new();
    let paths = match flatten {
        true => vec![array.schema_path().to_owned()],
        false => array.schema_paths().to_vec(),
    };
    for path in paths {
        let of_schema = array.by_schema(&path)?;
        // External labels are obstacles.
        for label in of_schema.schema().labels().iter().filter(|label| !label.external && label.relative) {
            if !all.contains_key(&label.uri) {
                all.insert(label.uri.clone(), (label.name.clone(), array.array_of_label(label)?));
            }
        }
    }
    Ok(all)
}

/// Completes or rolls back interrupted consolidations in label arrays.
pub(super) fn settle(array: &Array, flatten: bool, time: TimeRange) -> Result<()> {
    arrays(array, flatten)?.into_values().try_for_each(|(_, own)| settled(&own, time).map(drop))
}
