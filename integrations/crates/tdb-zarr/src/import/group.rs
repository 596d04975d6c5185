//! Import of a Zarr group as a group, or as the array it was exported from.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tdb_array::GroupOptions;
use tdb_array::tdb_storage::Storage;

use super::array::{self, misfit};
use super::{Import, Imported, marked};
use crate::attributes;
use crate::error::{Error, Result};
use crate::files::Links;
use crate::mark::Mark;
use crate::node::Node;
use crate::object::Attributes;

/// Maximum nesting of groups.
const MAX_DEPTH: usize = 64;

/// Imports a Zarr group.
pub(super) fn import(
    import: &Import,
    path: &Path,
    told: Attributes,
    storage: &Arc<dyn Storage>,
    imported: &mut Imported,
    (depth, links): (usize, &mut Links),
) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(path, format!("groups are nested more than {MAX_DEPTH} deep")));
    }
    let mark = Mark::of(&told);
    let children = children(path, links, &mut imported.notes)?;
    if mark.schema.is_some() {
        match whole_array(&mark, path, &children) {
            Ok(plan) => return array::make(import, path, &plan, (&told, &mark), storage, imported),
            Err(why) => imported.notes.push(misfit(path, &why)),
        }
    }
    import.create.create_group_on(storage)?;
    let options = import.key.iter().cloned().fold(GroupOptions::new(), GroupOptions::key);
    let group = options.open_on(Arc::clone(storage))?;
    let metadata = group.write_metadata().ids(import.names.clone());
    let put = attributes::to_metadata(&told, &mark).into_iter();
    put.fold(metadata, |all, (key, value)| all.put(key, value)).commit()?;
    // Frees the attributes before the members are read, to limit memory on untrusted input.
    let members = mark.members;
    drop(told);
    imported.groups += 1;
    let mut change = group.change().ids(import.names.clone());
    let mut names = BTreeSet::new();
    for node_name in children {
        let folder = path.join(&node_name);
        let inner = storage.sub(&node_name).map_err(tdb_array::ArrayError::from)?;
        match Node::read(&folder)? {
            Some(Node::Array(node)) => array::import(import, *node, &inner, imported)?,
            Some(Node::Group(told)) => self::import(import, &folder, told, &inner, imported, (depth + 1, links))?,
            None => return Err(Error::NotZarr { path: folder }),
        }
        let name = members.get(&node_name).and_then(|name| name.as_str());
        let mut name = name.unwrap_or(&node_name).to_owned();
        // An edited mark may contain a name twice, or the name of another node.
        while names.contains(&name) {
            name.push('_');
        }
        change = change.add(&*node_name, true, Some(&name));
        names.insert(name);
    }
    change.commit()?;
    Ok(())
}

fn whole_array(mark: &Mark, path: &Path, children: &[String]) -> Result<super::foreign::Plan, String> {
    let fields = mark.fields.iter();
    let marked: BTreeSet<&str> =
        fields.flat_map(|field| field.array.iter().chain(&field.validity)).map(String::as_str).collect();
    match children.iter().find(|name| !marked.contains(name.as_str())) {
        Some(other) => Err(format!("{other} does not belong to the array")),
        None => marked::plan(mark, path, None),
    }
}

/// Returns the sorted names of arrays and groups in a group. Adds a note about other folders.
fn children(path: &Path, links: &mut Links, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let (mut children, mut others) = (Vec::new(), 0_u64);
    for entry in fs::read_dir(path).map_err(Error::io(path))? {
        let entry = entry.map_err(Error::io(path))?;
        let folder = entry.path();
        if !folder.is_dir() {
            continue;
        }
        let name = entry.file_name();
        if !Node::is_there(&folder) {
            others += u64::from(!name.as_encoded_bytes().starts_with(b"."));
            continue;
        }
        links.follow(&folder)?;
        match name.to_str() {
            // The prefix `__` is reserved for files of arrays and groups.
            Some(name) if !name.starts_with("__") => children.push(name.to_owned()),
            _ => return Err(Error::unsupported(&folder, "the name of a node begins with __, or is not UTF-8")),
        }
    }
    if others > 0 {
        let told = format!("{}: ignoring folders that are neither arrays nor groups: {others}", path.display());
        notes.push(told);
    }
    children.sort();
    Ok(children)
}
