//! Search for existing chunks.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::Links;
use crate::node::ArrayNode;

/// Returns the indices of existing chunk or shard files within the array.
///
/// # Errors
/// The folder is unreadable.
pub(super) fn chunks(node: &ArrayNode) -> Result<Vec<Vec<u64>>> {
    let mut found = Vec::new();
    look(node, (&node.path, ""), node.keys.depth(node.shape.len()), &mut Links::default(), &mut found)?;
    let is_within = |chunk: &Vec<u64>| {
        let lengths = node.shape.iter().zip(&node.chunks);
        chunk.iter().zip(lengths).all(|(number, (len, of_chunk))| *number < len.div_ceil(*of_chunk))
    };
    found.retain(is_within);
    Ok(found)
}

/// Searches a folder for chunks, `depth` levels deep. `prefix` is its path below the array.
fn look(
    node: &ArrayNode,
    (folder, prefix): (&Path, &str),
    depth: usize,
    links: &mut Links,
    found: &mut Vec<Vec<u64>>,
) -> Result<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(()),
        Err(error) => return Err(Error::io(folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(Error::io(folder))?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if depth > 0 {
            // Chunk folders are named by numbers, except for the prefix `c`.
            if name.parse::<u64>().is_ok() || name == "c" && prefix.is_empty() {
                links.follow(&entry.path())?;
                look(node, (&entry.path(), &path), depth - 1, links, found)?;
            }
        } else {
            found.extend(node.keys.chunk(&path, node.shape.len()));
        }
    }
    Ok(())
}
