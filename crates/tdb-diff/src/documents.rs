//! Comparison of schemas by the keys of their TOML text.

use std::collections::BTreeMap;

use tdb_schema::ArrayDefinition;
use toml::{Table, Value};

use tdb_job::Result;

/// Keys of storage properties.
const PHYSICAL: [&str; 9] = [
    "format_version",
    "capacity",
    "tile_order",
    "cell_order",
    "tile_extent",
    "filters",
    "coords_filters",
    "offsets_filters",
    "validity_filters",
];

/// A key, with the values in the first and in the second schema.
type Said = (String, Option<String>, Option<String>);

/// Returns the differing keys of two definitions.
pub(super) fn documents(a: &ArrayDefinition, b: &ArrayDefinition, physical: bool) -> Result<Vec<Said>> {
    let (mut a, mut b) = (keys_of(a, physical)?, keys_of(b, physical)?);
    let mut different = Vec::new();
    let all: Vec<String> = a.keys().chain(b.keys()).cloned().collect();
    for key in all {
        let (a, b) = (a.remove(&key), b.remove(&key));
        if a != b {
            different.push((key, a, b));
        }
    }
    different.sort();
    Ok(different)
}

fn keys_of(definition: &ArrayDefinition, physical: bool) -> Result<BTreeMap<String, String>> {
    let text = tdb_schema_text::to_toml(definition)?;
    let document: Table = toml::from_str(&text).map_err(|error| tdb_job::MaintainError::Text(error.to_string()))?;
    let mut keys = BTreeMap::new();
    flatten("", &document, physical, &mut keys);
    Ok(keys)
}

/// Inserts each key with its value. The key of a property of a list member contains the member's
/// name.
fn flatten(prefix: &str, table: &Table, physical: bool, keys: &mut BTreeMap<String, String>) {
    let wanted = table.iter().filter(|(key, _)| physical || !PHYSICAL.contains(&key.as_str()));
    for (key, value) in wanted {
        let members = value.as_array().map(|members| members.iter().map(named).collect::<Option<Vec<_>>>());
        match members.flatten() {
            Some(members) if !members.is_empty() => {
                let order: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
                keys.insert(format!("{prefix}{key}s"), order.join(", "));
                for (name, member) in members {
                    flatten(&format!("{prefix}{key} {name}."), member, physical, keys);
                }
            }
            _ => match value {
                Value::Table(table) => flatten(&format!("{prefix}{key}."), table, physical, keys),
                _ => drop(keys.insert(format!("{prefix}{key}"), value.to_string())),
            },
        }
    }
}

fn named(value: &Value) -> Option<(&str, &Table)> {
    let table = value.as_table()?;
    Some((table.get("name")?.as_str()?, table))
}
