//! Names of Zarr nodes, used as folder names.

use std::collections::HashSet;

/// Maximum length in bytes. File systems support a little more.
const MAX_LEN: usize = 200;

/// Returns `true` if a name is valid for a node, and safe as a folder name.
pub(crate) fn is_node(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_LEN
        && !name.starts_with("__")
        && !name.starts_with('.')
        && name != crate::node::METADATA
        && !name.chars().any(|char| char.is_control() || ['/', '\\', ':'].contains(&char))
}

/// Returns node names for these names. Replaces unsuitable names by `kind` with a number.
pub(crate) fn of_nodes(names: &[&str], kind: &str) -> Vec<String> {
    // Some file systems ignore case.
    let mut taken: HashSet<String> = HashSet::new();
    let mut free = |name: &str| taken.insert(name.to_lowercase());
    let first: Vec<Option<String>> =
        names.iter().map(|name| (is_node(name) && free(name)).then(|| (*name).to_owned())).collect();
    let mut number = 0;
    let mut next = || loop {
        number += 1;
        let name = format!("{kind}-{number}");
        if free(&name) {
            break name;
        }
    };
    first.into_iter().map(|name| name.unwrap_or_else(&mut next)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_replaced() {
        let names = ["a", "A", "", "..", "__x", "a/b", "attribute-1", "zarr.json", "ä b"];
        let nodes = of_nodes(&names, "attribute");
        let expected = [
            "a",
            "attribute-2",
            "attribute-3",
            "attribute-4",
            "attribute-5",
            "attribute-6",
            "attribute-1",
            "attribute-7",
            "ä b",
        ];
        assert_eq!(nodes, expected);
    }
}
