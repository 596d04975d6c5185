//! Symbolic links in the folder of an array or group. What they lead to may be anybody's: nothing of it is ever removed.

use std::collections::HashSet;

use tdb_storage::{EntryKind, Storage};

use crate::Result;
use crate::draft::{Draft, Left, Reason};
use crate::step::Action;

/// The first part of a path that is a symbolic link. A storage of this machine names places without links: where a folder is
/// called otherwise than its path has it, a link leads there.
pub(crate) fn link_on(storage: &dyn Storage, path: &str) -> Result<Option<String>> {
    let plain = |uri: Option<String>| {
        uri.filter(|uri| uri.starts_with("file://")).map(|uri| uri.trim_end_matches('/').to_owned())
    };
    let Some(root) = plain(storage.uri("")) else { return Ok(None) };
    let ends = path.match_indices('/').map(|(end, _)| end).chain(std::iter::once(path.len()));
    for part in ends.map(|end| &path[..end]).filter(|part| !part.is_empty()) {
        let (as_path, itself) = (plain(storage.uri(part)), plain(storage.sub(part)?.uri("")));
        // A storage that calls all of its folders the same says nothing.
        if itself.is_some_and(|itself| itself != root && as_path.is_some_and(|as_path| as_path != itself)) {
            return Ok(Some(part.to_owned()));
        }
    }
    Ok(None)
}

/// The same draft if nothing that it removes lies behind a link or is one. Else nothing of it is done: it would end halfway.
pub(crate) fn without_links(storage: &dyn Storage, mut draft: Draft) -> Result<Draft> {
    let mut places: HashSet<&str> = HashSet::new();
    for step in draft.steps.iter().map(|planned| &planned.step).filter(|step| step.action == Action::Remove) {
        places.insert(match step.kind {
            EntryKind::Folder => &step.path,
            EntryKind::File => step.path.rsplit_once('/').map_or("", |(folder, _)| folder),
        });
    }
    for place in places {
        if let Some(path) = link_on(storage, place)? {
            draft.left.push(Left { path, why: Reason::Link });
            return Ok(Draft { left: draft.left, ..Draft::default() });
        }
    }
    Ok(draft)
}
