//! Symbolic links in the folder of an array or group. What they lead to may be anybody's: nothing of it is ever removed.

use tdb_storage::Storage;

use crate::Result;

/// The first part of a path that is a symbolic link. A storage of this machine names places without links: where a folder is
/// called otherwise than its path has it, a link leads there.
pub(crate) fn link_on(storage: &dyn Storage, path: &str) -> Result<Option<String>> {
    let ends = path.match_indices('/').map(|(end, _)| end).chain(std::iter::once(path.len()));
    for part in ends.map(|end| &path[..end]).filter(|part| !part.is_empty()) {
        let (as_path, itself) = (storage.uri(part), storage.sub(part)?.uri(""));
        let is_other = |(as_path, itself): (String, String)| {
            as_path.starts_with("file://") && as_path.trim_end_matches('/') != itself.trim_end_matches('/')
        };
        if as_path.zip(itself).is_some_and(is_other) {
            return Ok(Some(part.to_owned()));
        }
    }
    Ok(None)
}
