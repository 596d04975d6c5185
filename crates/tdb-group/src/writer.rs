//! Changing what is in a group.

use std::collections::BTreeMap;
use std::path::Path;

use tdb_metadata::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::names::GROUP_FOLDER;
use tdb_types::{ByteWriter, FormatVersion, NameForm};
use tdb_write::{CreateOptions, Names};

use crate::group::Group;
use crate::place::MemberPlace;

/// The version of the names of detail files, which is that of what is in them.
const CHANGES: NameForm = NameForm::Versioned(2);

/// Changes to the members of a group, which [`commit`](Self::commit) makes, all at once.
#[derive(Debug)]
#[must_use = "nothing changes before `commit`"]
pub struct GroupWriter {
    group: Group,
    names: Names,
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
    /// Makes an empty group in the folder `path`, which need not be there.
    ///
    /// # Errors
    /// As [`CreateOptions::create_group`].
    pub fn create(path: impl AsRef<Path>) -> Result<()> {
        CreateOptions::new().create_group(path)
    }

    /// Starts a change of the group's members.
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
        GroupWriter { group: self.clone(), names: Names::new(), added: Vec::new(), removed: Vec::new() }
    }
}

impl GroupWriter {
    /// Where the name of the file comes from, and with it the time at which the change is said to happen.
    pub fn names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Adds an array or a group: by its path below the group's folder if `relative`, else by its URI, or its absolute path.
    /// It is known by its name, or without one by its URI.
    pub fn add(mut self, uri: impl Into<String>, relative: bool, name: Option<&str>) -> Self {
        self.added.push(NewMember { uri: uri.into(), relative, name: name.map(str::to_owned) });
        self
    }

    /// Removes a member, by its name or, if it has none, its URI. What it stands for remains where it is.
    pub fn remove(mut self, key: impl Into<String>) -> Self {
        self.removed.push(key.into());
        self
    }

    /// Makes the changes, durably; without any, nothing is written. Removals come first, so that a name can be given anew.
    ///
    /// # Errors
    /// [`ArrayError::NoMember`] for a member to remove that isn't there, or one to add that is neither array nor group;
    /// [`ArrayError::NewMember`] for one to add whose name is taken; whatever the storage can't do. Then nothing has changed.
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
                // Nobody has said so far what is in the group. On a store a new one looks like one of before release 2.8, too: there are no
                // empty folders.
                members.retain(|_, known: &mut GroupMember| {
                    (known.relative, &known.uri) != (member.relative, &member.uri)
                });
            }
            if members.contains_key(&key) {
                return Err(error(&group, &key, "a member of this name is there already; remove it first"));
            }
            members.insert(key, member.clone());
            changes.push(member);
        }
        // Releases 2.15 to 2.17 list a member twice that is named to them twice.
        let members = match last {
            Some(DetailsVersion::Changes) => changes,
            // A group of releases 2.8 to 2.14 goes on with complete lists, which mix with nothing else. And where there is
            // no file yet, what is in the group has to be said.
            _ => members.into_values().collect(),
        };
        write(&group, &names, &GroupDetails { version, members })
    }
}

fn write(group: &Group, names: &Names, details: &GroupDetails) -> Result<()> {
    let storage = group.storage();
    let mut payload = ByteWriter::new();
    details.write(&mut payload);
    let mut file = ByteWriter::new();
    let encoded = group.access().encoder(FormatVersion::DEFAULT)?.encode(payload.as_slice(), &mut file);
    encoded.map_err(|source| ArrayError::GenericTile { file: storage.describe(GROUP_FOLDER), source })?;
    storage.create_folder(GROUP_FOLDER)?;
    let form = match details.version {
        DetailsVersion::Complete => NameForm::Unversioned,
        DetailsVersion::Changes => CHANGES,
    };
    let name = names.next(form, &group.access().environment)?;
    Ok(storage.create_new(&format!("{GROUP_FOLDER}/{name}"), file.as_slice())?)
}

impl NewMember {
    /// The member as it is written, if there is one.
    fn resolve(self, group: &Group, version: DetailsVersion) -> Result<GroupMember> {
        let Self { uri, relative, name } = self;
        // As the reference library writes paths of this machine.
        let uri = if !relative && uri.starts_with('/') { format!("file://{uri}") } else { uri };
        let key = name.as_deref().unwrap_or(&uri);
        if key.is_empty() {
            return Err(error(group, key, "a member needs a name or a URI"));
        }
        let place = group.place_of(&uri, relative);
        let kind = match &place {
            MemberPlace::Elsewhere => {
                return Err(error(group, key, "only members on this machine can be looked at, to know what they are"));
            }
            place => group.kind_at(place)?,
        };
        if kind == MemberKind::Invalid {
            return Err(missing(group, key, "there is neither an array nor a group at this place"));
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
