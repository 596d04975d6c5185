//! Groups of arrays and nested groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tdb_metadata::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
use tdb_snapshot::{
    Access, ArrayError, Listing, Metadata, Open, Options, Result, TimeRange, list_named, names_within, try_init,
};
use tdb_storage::{Counters, CountingStorage, Entry, EntryKind, LocalStorage, Storage, StorageError};
use tdb_types::NameForm;
use tdb_types::names::{FIRST_SCHEMA, GROUP_FOLDER};
use tdb_write::{MetadataWriter, SmallFiles};

use crate::place::MemberPlace;

/// Options for opening a group.
pub type GroupOptions = Options<Group>;

/// A group at a point in time: members and metadata.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-group/group");
/// let group = tdb_group::Group::open(folder)?;
/// for member in group.members() {
///     println!("{}: {} at {}", member.key(), member.kind, member.uri);
/// }
/// for node in group.tree().nodes() {
///     println!("{}{}", "  ".repeat(node.depth), node.name);
/// }
/// # Ok::<(), tdb_snapshot::ArrayError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) storage: Arc<dyn Storage>,
    /// Counts requests to `storage` and to the storages of members.
    pub(crate) counting: CountingStorage,
    /// The local folder of the group, if any.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) access: Access,
    pub(crate) time: TimeRange,
    pub(crate) members: Vec<Member>,
    pub(crate) is_legacy: bool,
    pub(crate) metadata: OnceLock<Metadata>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The kind of member, as stored in the group. The actual object may be of another kind.
    pub kind: MemberKind,
    /// The name of the member in the group, if any.
    pub name: Option<String>,
    /// The URI of the member, as stored in the group.
    pub uri: String,
    /// `true` if the URI is relative to the group's folder.
    pub relative: bool,
    /// The resolved location.
    pub place: MemberPlace,
}

impl Member {
    /// Returns the key of a member: the name, or else the URI.
    #[must_use]
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }
}

impl Open for Group {
    fn open_on(storage: Arc<dyn Storage>, folder: Option<&Path>, options: &Options<Self>) -> Result<Self> {
        let counting = CountingStorage::new(storage);
        // Members may have absolute paths without symbolic links. The folder is resolved in the
        // same way, to compare the paths.
        let folder = folder.and_then(|folder| std::fs::canonicalize(folder).ok());
        Self::open_in(Arc::new(counting.clone()), folder, counting, options.given_access(), options.asked_time())
    }
}

impl Group {
    pub(crate) fn open_in(
        storage: Arc<dyn Storage>,
        folder: Option<PathBuf>,
        counting: CountingStorage,
        access: &Access,
        time: Option<TimeRange>,
    ) -> Result<Self> {
        let time = access.time(time)?;
        let listing = list(&*storage)?;
        let has_details = listing.root.iter().any(|entry| entry.name == GROUP_FOLDER);
        let members = match has_details {
            true => detailed_members(&*storage, time, access).map_err(ArrayError::into_key_error)?,
            false => legacy_members(&*storage, &listing)?,
        };
        let member = |member: GroupMember| Member {
            place: MemberPlace::of(&member.uri, member.relative, folder.as_deref()),
            kind: member.kind,
            name: member.name,
            uri: member.uri,
            relative: member.relative,
        };
        let members = members.into_iter().map(member).collect();
        let (access, metadata) = (access.clone(), OnceLock::new());
        Ok(Self { storage, counting, folder, access, time, members, is_legacy: !has_details, metadata })
    }

    /// Opens the group in the folder `path` as of now. See [`Options`] for more choices.
    ///
    /// # Errors
    /// The folder is missing or not a group, or the members cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Options::new().open(path)
    }

    /// Returns the members, in the order of [keys](Member::key).
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the member with this [key](Member::key), or `None` if the group has no such member.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.key() == key)
    }

    /// Returns `true` for a group without a stored member list, as before release 2.8. The members
    /// are then the arrays and groups in the group's folder, at any time. Newer releases of the
    /// reference library see no members in such a group.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Returns the metadata at the group's time, loaded on first use.
    ///
    /// # Errors
    /// A metadata file cannot be read.
    pub fn metadata(&self) -> Result<&Metadata> {
        try_init(&self.metadata, || Metadata::load(&*self.storage, self.time, &self.access))
    }

    /// Starts a change of the group's metadata.
    pub fn write_metadata(&self) -> MetadataWriter {
        MetadataWriter::of_group(&self.storage, &self.access)
    }

    /// Returns access to the metadata files of the group, for maintenance.
    #[must_use]
    pub fn small_files(&self) -> SmallFiles {
        SmallFiles::of_group(&self.storage, &self.access)
    }

    /// Resolves a URI from this group.
    pub(crate) fn place_of(&self, uri: &str, relative: bool) -> MemberPlace {
        MemberPlace::of(uri, relative, self.folder.as_deref())
    }

    /// Determines the kind of object at a location.
    pub(crate) fn kind_at(&self, place: &MemberPlace) -> Result<MemberKind> {
        match place {
            MemberPlace::Inside(path) => kind_of(&*self.storage.sub(path)?),
            MemberPlace::Outside(path) => kind_of(&LocalStorage::new(path)),
            MemberPlace::Elsewhere => Ok(MemberKind::Invalid),
        }
    }

    /// Returns the version of the group's newest detail file, regardless of the opening time.
    /// Returns `None` if the group has no detail files.
    pub(crate) fn details_version(&self) -> Result<Option<DetailsVersion>> {
        if self.is_legacy {
            return Ok(None);
        }
        let entries = list_named(&*self.storage, GROUP_FOLDER)?;
        let names = names_within(entries.iter().filter(|entry| entry.kind == EntryKind::File), TimeRange::ALL);
        Ok(names.last().map(|name| match name.form() {
            NameForm::Unversioned | NameForm::Versioned(1) => DetailsVersion::Complete,
            _ => DetailsVersion::Changes,
        }))
    }

    /// Returns the time range at which the group was opened.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.time
    }

    /// Returns the number of requests of each kind to the storages of the group and its members,
    /// and the number of bytes read. Includes the requests that opened the group.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counting.counters()
    }

    /// Returns the storage of the group.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the storage of a member, even if the member is outside of the group's folder. If the
    /// group is not trusted, check [`Member::place`] first.
    ///
    /// # Errors
    /// [`ArrayError::Member`] if the member cannot be reached from the storage of the group.
    pub fn member_storage(&self, member: &Member) -> Result<Arc<dyn Storage>> {
        Ok(self.reach(member)?.0)
    }

    /// Opens a member, either an array or a group, with the time, key and limits of this group.
    /// Like [`member_storage`](Self::member_storage), also opens members outside of the group's
    /// folder. A group may contain itself.
    ///
    /// # Errors
    /// [`ArrayError::Member`] if the member cannot be reached from the storage of the group. Also
    /// fails if the member is not a `T` or cannot be read.
    pub fn open_member<T: Open>(&self, member: &Member) -> Result<T> {
        let (storage, folder) = self.reach(member)?;
        let options = Options::new().access(self.access.clone()).between(self.time);
        T::open_on(storage, folder.as_deref(), &options)
    }

    /// Returns the storage of a member, and its local folder, if any.
    pub(crate) fn reach(&self, member: &Member) -> Result<(Arc<dyn Storage>, Option<PathBuf>)> {
        match (&member.place, &self.folder) {
            (MemberPlace::Inside(path), folder) => {
                Ok((self.storage.sub(path)?, folder.as_ref().and_then(|folder| real_folder(folder, path))))
            }
            (MemberPlace::Outside(path), Some(_)) => {
                let storage = self.counting.alongside(Arc::new(LocalStorage::new(path)));
                Ok((Arc::new(storage), std::fs::canonicalize(path).ok()))
            }
            (MemberPlace::Outside(_) | MemberPlace::Elsewhere, _) => Err(ArrayError::Member {
                group: self.storage.describe(""),
                member: member.key().to_owned(),
                why: format!("cannot reach {} from this storage; open the member by its path", member.uri),
            }),
        }
    }
}

/// Resolves symbolic links in `path`, relative to a folder whose path has no links. Returns `None`
/// if a component cannot be inspected.
fn real_folder(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    for component in path.split('/').filter(|component| !component.is_empty()) {
        place.push(component);
        // Resolving deep paths is slow. The whole path is resolved only if a component of `path` is
        // a link.
        if place.symlink_metadata().ok()?.is_symlink() {
            return std::fs::canonicalize(folder.join(path)).ok();
        }
    }
    Some(place)
}

/// Lists the folder and checks that it is a group.
fn list(storage: &dyn Storage) -> Result<Listing> {
    let root = match storage.list("") {
        Ok(root) => root,
        Err(StorageError::NotFound { path }) => return Err(ArrayError::NotFound { path }),
        Err(error) => return Err(error.into()),
    };
    let listing = Listing::of_root(root);
    if let Some((name, what)) = listing.older_than_format_1() {
        return Err(ArrayError::Unsupported { file: storage.describe(name), what });
    }
    // As in the reference library, a folder with the marks of both an array and a group is an
    // array.
    if listing.is_array() || !listing.is_group() {
        let hint = if listing.is_array() { "; the folder is an array" } else { "" };
        return Err(ArrayError::NotAGroup { path: storage.describe(""), hint });
    }
    Ok(listing)
}

/// Merges the detail files within `time`, and returns the resulting members.
fn detailed_members(storage: &dyn Storage, time: TimeRange, access: &Access) -> Result<Vec<GroupMember>> {
    let mut decoder = access.decoder();
    let entries = list_named(storage, GROUP_FOLDER)?;
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File && !entry.name.contains('.'));
    let mut members = BTreeMap::new();
    for name in names_within(files, time) {
        let path = format!("{GROUP_FOLDER}/{name}");
        let bytes = access.read(storage, &path)?;
        let details = GroupDetails::parse_file(&bytes, &mut decoder, None)
            .map_err(|source| ArrayError::GenericTile { file: storage.describe(&path), source })?;
        details.apply(&mut members);
    }
    Ok(members.into_values().collect())
}

/// Returns the members of a group without a stored member list, as before release 2.8: the arrays
/// and groups in the group's folder.
fn legacy_members(storage: &dyn Storage, listing: &Listing) -> Result<Vec<GroupMember>> {
    let mut members = Vec::new();
    for entry in listing.root.iter().filter(|entry| entry.kind == EntryKind::Folder) {
        let kind = kind_of(&*storage.sub(&entry.name)?)?;
        if kind != MemberKind::Invalid {
            members.push(GroupMember {
                kind,
                relative: true,
                uri: entry.name.clone(),
                name: Some(entry.name.clone()),
                deleted: false,
                version: tdb_metadata::DetailsVersion::Complete,
            });
        }
    }
    Ok(members)
}

/// Returns the kind of object at the root of a storage. [`MemberKind::Invalid`] means neither array
/// nor group.
fn kind_of(storage: &dyn Storage) -> Result<MemberKind> {
    Ok(kind_and_root(storage)?.0)
}

/// Returns the kind of object at the root of a storage, and the listing of the root.
pub(crate) fn kind_and_root(storage: &dyn Storage) -> Result<(MemberKind, Vec<Entry>)> {
    let root = match storage.list("") {
        Ok(root) => root,
        Err(StorageError::NotFound { .. } | StorageError::NotAFolder { .. }) => {
            return Ok((MemberKind::Invalid, Vec::new()));
        }
        Err(error) => return Err(error.into()),
    };
    let listing = Listing::of_root(root);
    let is_array = listing.is_array() || listing.older_than_format_1().is_some_and(|(name, _)| name == FIRST_SCHEMA);
    let kind = match (is_array, listing.is_group()) {
        (true, _) => MemberKind::Array,
        (false, true) => MemberKind::Group,
        (false, false) => MemberKind::Invalid,
    };
    Ok((kind, listing.root))
}
