//! Changes of the members of groups.

use std::collections::BTreeMap;
use std::path::Path;

use tdb_metadata::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::names::GROUP_FOLDER;
use tdb_types::{ByteWriter, FormatVersion, NameForm};
use tdb_write::{CreateOptions, WriteIds};

use crate::group::Group;
use crate::place::MemberPlace;

/// The form of names of detail files with changes. The version in the name equals the version of
/// the content.
const CHANGES: NameForm = NameForm::Versioned(2);

/// Changes of the members of a group. [`commit`](Self::commit) applies them atomically.
#[derive(Debug)]
#[must_use = "nothing changes before `commit`"]
pub struct GroupWriter {
    group: Group,
    names: WriteIds,
    added: Vec<NewMember>,
    removed: Vec<String>,
}

#[derive(Debug)]
struct NewMember {
    uri: String,
    relative: bool,
    name: Option<String>,
}

impl Group {
    /// Creates an empty group in the folder `path`. The folder need not exist.
    ///
    /// # Errors
    /// See [`CreateOptions::create_group`].
    pub fn create(path: impl AsRef<Path>) -> Result<()> {
        CreateOptions::new().create_group(path)
    }

    /// Starts a change of the members.
    ///
    /// ```
    /// use tdb_array::Group;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("group");
    ///
    /// Group::create(&path)?;
    /// Group::create(path.join("inner"))?;
    /// Group::open(&path)?.change().add("inner", true, Some("inside")).commit()?;
    /// assert_eq!(Group::open(&path)?.members()[0].uri, "inner");
    /// Group::open(&path)?.change().remove("inside").commit()?;
    /// assert!(Group::open(&path)?.members().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change(&self) -> GroupWriter {
        GroupWriter { group: self.clone(), names: WriteIds::new(), added: Vec::new(), removed: Vec::new() }
    }
}

impl GroupWriter {
    /// Sets the source of the file name, and thereby the timestamp of the change.
    pub fn ids(mut self, ids: WriteIds) -> Self {
        self.names = ids;
        self
    }

    /// Adds an array or a group. If `relative`, `uri` is a path relative to the group's folder.
    /// Otherwise, it is a URI or an absolute path. The key of the member is `name`, or else the
    /// URI.
    pub fn add(mut self, uri: impl Into<String>, relative: bool, name: Option<&str>) -> Self {
        self.added.push(NewMember { uri: uri.into(), relative, name: name.map(str::to_owned) });
        self
    }

    /// Removes the member with this name, or with this URI if the member has no name. The object
    /// itself is not deleted.
    pub fn remove(mut self, key: impl Into<String>) -> Self {
        self.removed.push(key.into());
        self
    }

    /// Applies the changes durably, removals before additions, so that a name can be reused. Writes
    /// no file if there are no changes.
    ///
    /// # Errors
    /// - [`ArrayError::NoMember`]: a member to remove does not exist, or an object to add is
    ///   neither array nor group.
    /// - [`ArrayError::NewMember`]: a member with the same key already exists, the key is empty, or
    ///   the object to add is not on this machine.
    /// - The storage fails, or the clock or random bytes are not available.
    ///
    /// After an error, the group is unchanged.
    pub fn commit(self) -> Result<()> {
        let Self { group, names, added, removed } = self;
        if added.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let last = group.details_version()?;
        let version = last.unwrap_or(DetailsVersion::Changes);
        let (mut members, mut changes) = (BTreeMap::new(), Vec::new());
        for member in group.members() {
            let (name, uri, relative) = (member.name.clone(), member.uri.clone(), member.relative);
            let member = GroupMember { kind: member.kind, relative, uri, name, deleted: false, version };
            members.insert(member.key().to_owned(), member);
        }
        for key in removed {
            match members.remove(&key) {
                Some(member) => changes.push(GroupMember { deleted: true, ..member }),
                None => return Err(missing(&group, &key, "the group has no such member")),
            }
        }
        for member in added {
            let member = member.resolve(&group, version)?;
            let key = member.key().to_owned();
            if group.is_legacy() {
                // A group without detail files has no stored member list. On an object store, a new
                // group looks like a group from before release 2.8, because object stores have no
                // empty folders. The added member replaces the member that was found in the folder.
                members.retain(|_, known: &mut GroupMember| {
                    (known.relative, &known.uri) != (member.relative, &member.uri)
                });
            }
            if members.contains_key(&key) {
                return Err(error(&group, &key, "a member with this name already exists; remove it first"));
            }
            members.insert(key, member.clone());
            changes.push(member);
        }
        // Write only the changes, because releases 2.15 to 2.17 list a member twice if it was added
        // twice.
        let members = match last {
            Some(DetailsVersion::Changes) => changes,
            // Groups of releases 2.8 to 2.14 store complete lists, which cannot be mixed with lists
            // of changes. Groups without detail files also need a complete list.
            _ => members.into_values().collect(),
        };
        write(&group, &names, &GroupDetails { version, members })
    }
}

fn write(group: &Group, names: &WriteIds, details: &GroupDetails) -> Result<()> {
    let storage = group.storage();
    let mut payload = ByteWriter::new();
    details.write(&mut payload);
    let mut file = ByteWriter::new();
    let encoded = group.access.encoder(FormatVersion::DEFAULT)?.encode(payload.as_slice(), &mut file);
    encoded.map_err(|source| ArrayError::GenericTile { file: storage.describe(GROUP_FOLDER), source })?;
    storage.create_folder(GROUP_FOLDER)?;
    let form = match details.version {
        DetailsVersion::Complete => NameForm::Unversioned,
        DetailsVersion::Changes => CHANGES,
    };
    let name = names.next(form, &group.access.environment)?;
    Ok(storage.create_new(&format!("{GROUP_FOLDER}/{name}"), file.as_slice())?)
}

impl NewMember {
    /// Checks the object, and returns the member to store.
    fn resolve(self, group: &Group, version: DetailsVersion) -> Result<GroupMember> {
        let Self { uri, relative, name } = self;
        // The reference library stores local paths in this form.
        let uri = if !relative && uri.starts_with('/') { format!("file://{uri}") } else { uri };
        let key = name.as_deref().unwrap_or(&uri);
        if key.is_empty() {
            return Err(error(group, key, "missing name or URI"));
        }
        let place = group.place_of(&uri, relative);
        let kind = match &place {
            MemberPlace::Elsewhere => {
                return Err(error(group, key, "cannot determine the kind of a member that is not on this machine"));
            }
            place => group.kind_at(place)?,
        };
        if kind == MemberKind::Invalid {
            return Err(missing(group, key, "no array or group at this path"));
        }
        Ok(GroupMember { kind, relative, uri, name, deleted: false, version })
    }
}

#[cold]
fn missing(group: &Group, member: &str, why: &str) -> ArrayError {
    ArrayError::NoMember { group: group.storage().describe(""), member: member.to_owned(), why: why.to_owned() }
}

#[cold]
fn error(group: &Group, member: &str, why: &str) -> ArrayError {
    ArrayError::NewMember { group: group.storage().describe(""), member: member.to_owned(), why: why.to_owned() }
}
