//! Names of nodes in Zarr, which are names of folders.

use std::collections::HashSet;

/// Bytes that file systems have room for, with some left.
const MAX_LEN: usize = 200;

/// Whether a name can be a node's, and does no harm as that of a folder.
pub(crate) fn is_node(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_LEN
        && !name.starts_with("__")
        && !name.starts_with('.')
        && name != crate::node::METADATA
        && !name.chars().any(|char| char.is_control() || ['/', '\\', ':'].contains(&char))
}

/// The names of nodes for things that are called so: the same, unless that can't be; then `kind` with a number.
pub(crate) fn of_nodes(names: &[&str], kind: &str) -> Vec<String> {
    // There are file systems that take capital and small letters for the same.
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
    fn names_that_are_none_become_some() {
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
