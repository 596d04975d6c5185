//! Export of a group with all members.

use std::path::Path;

use serde_json::json;
use tdb_array::{Group, Member, MemberKind, MemberPlace};

use super::{Export, Exported, array};
use crate::attributes;
use crate::error::{Error, Result};
use crate::mark::Mark;
use crate::names;
use crate::new_folder::{NewFolder, group_metadata, write_metadata};

/// Maximum nesting of groups. A group may contain itself.
const MAX_DEPTH: usize = 64;

impl Export {
    /// Exports a group with all members to a new folder. The folder appears atomically. Selected
    /// attributes, ranges and the chunk shape do not apply to members.
    ///
    /// # Errors
    /// As for [`array`](Self::array). Also fails if a member is inaccessible, or a group contains
    /// itself.
    pub fn group(&self, group: &Group, path: impl AsRef<Path>) -> Result<Exported> {
        let folder = NewFolder::new(path.as_ref())?;
        let exported = export(self, group, &folder.path(), &mut Vec::new())?;
        folder.finish()?;
        Ok(exported)
    }
}

/// Exports a group to a folder. `above` contains the groups around this one.
fn export(export: &Export, group: &Group, folder: &Path, above: &mut Vec<String>) -> Result<Exported> {
    let what = group.storage().describe("");
    if above.contains(&what) || above.len() > MAX_DEPTH {
        let why = format!("the group contains itself, or groups are nested more than {MAX_DEPTH} deep");
        return Err(Error::refused(what, why));
    }
    above.push(what.clone());
    let keys: Vec<&str> = group.members().iter().map(Member::key).collect();
    let nodes = names::of_nodes(&keys, "member");
    let mut mark = Mark::default();
    for (key, node) in keys.iter().zip(&nodes).filter(|(key, node)| key != node) {
        mark.members.insert(node.clone(), json!(key));
    }
    let mut told = attributes::of_metadata(group.metadata()?, &mut mark);
    mark.put(&mut told);
    write_metadata(folder, &group_metadata(&told))?;
    let mut exported = Exported::default();
    for (member, node) in group.members().iter().zip(&nodes) {
        let refused = |why: String| Error::refused(format!("{what}: member {:?}", member.key()), why);
        if !export.outside && matches!(member.place, MemberPlace::Outside(_)) {
            return Err(refused(format!("outside of the group's folder, at {}", member.uri)));
        }
        let folder = folder.join(node);
        match member.kind {
            MemberKind::Array => {
                let array = export.arrays.open_on(group.member_storage(member)?)?;
                // Selections of one array do not apply to members.
                let whole = Export { select: None, ranges: Vec::new(), chunks: None, ..export.clone() };
                std::fs::create_dir(&folder).map_err(Error::io(&folder))?;
                exported.cells += array::export(&whole, &array, &folder)?;
                exported.arrays += 1;
            }
            MemberKind::Group => {
                let inner = self::export(export, &group.open_member(member)?, &folder, above)?;
                exported.cells += inner.cells;
                exported.arrays += inner.arrays;
            }
            MemberKind::Invalid => return Err(refused("neither an array nor a group".to_owned())),
        }
    }
    above.pop();
    Ok(exported)
}
