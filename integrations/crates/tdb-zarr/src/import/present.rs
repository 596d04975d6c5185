//! Which chunks somebody has written.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::Links;
use crate::node::ArrayNode;

/// The numbers of the chunks (or shards) whose files are there, of those that the array has.
///
/// # Errors
/// The folder can't be read.
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

/// Looks for chunks in a folder, whose path below the array's is `prefix`, and `depth` folders below it.
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
            // Folders of chunks are called by numbers, or by the letter in front.
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
