//! Groups: arrays and other groups under one name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tdb_metadata::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
use tdb_snapshot::{Access, ArrayError, Listing, Metadata, Open, Options, Result, TimeRange, list_named, names_within};
use tdb_storage::{Counters, CountingStorage, Entry, EntryKind, LocalStorage, Storage, StorageError};
use tdb_types::NameForm;
use tdb_types::names::{FIRST_SCHEMA, GROUP_FOLDER};
use tdb_write::{MetadataWriter, SmallFiles};

use crate::place::MemberPlace;

/// How to open a group.
pub type GroupOptions = Options<Group>;

/// A group as it was at one time: its members, and its metadata.
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
    /// Counts what is asked of `storage` and of those of members.
    pub(crate) counting: CountingStorage,
    /// The group's folder, if it is one of this machine.
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
    /// What it is, as the group says. What lies there now may be something else.
    pub kind: MemberKind,
    /// What it is called in the group, if it has a name.
    pub name: Option<String>,
    /// Where it is, as the group says.
    pub uri: String,
    /// Whether the URI is relative to the group's folder.
    pub relative: bool,
    /// The resolved location.
    pub place: MemberPlace,
}

impl Member {
    /// What identifies a member of a group: the name, else the URI.
    #[must_use]
    pub fn key(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }
}

impl Open for Group {
    fn open_on(storage: Arc<dyn Storage>, folder: Option<&Path>, options: &Options<Self>) -> Result<Self> {
        let counting = CountingStorage::new(storage);
        // Members may be given by their absolute paths, which have no links in them.
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

    /// Opens the group in the folder `path` as it is now; see [`Options`] for more to say.
    ///
    /// # Errors
    /// The folder is missing or no group, or what it says of its members can't be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Options::new().open(path)
    }

    /// The members, in the order of their [keys](Member::key).
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member that is called so: by its name, or its URI if it has none.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.key() == key)
    }

    /// Whether this is a group of before release 2.8, whose members are the arrays and groups in its folder, whatever the
    /// time. The reference library's newer releases see none.
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// The metadata at the group's time, loaded on first use.
    ///
    /// # Errors
    /// A file of metadata can't be read.
    pub fn metadata(&self) -> Result<&Metadata> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let metadata = Metadata::load(&*self.storage, self.time, self.access())?;
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// Starts a change of the group's metadata.
    pub fn write_metadata(&self) -> MetadataWriter {
        MetadataWriter::of_group(&self.storage, &self.access)
    }

    /// The group's small files.
    #[must_use]
    pub fn small_files(&self) -> SmallFiles {
        SmallFiles::of_group(&self.storage, &self.access)
    }

    /// What reading and writing the group's files takes.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Where a URI leads to from this group.
    pub(crate) fn place_of(&self, uri: &str, relative: bool) -> MemberPlace {
        MemberPlace::of(uri, relative, self.folder.as_deref())
    }

    /// What lies at a place.
    pub(crate) fn kind_at(&self, place: &MemberPlace) -> Result<MemberKind> {
        match place {
            MemberPlace::Inside(path) => kind_of(&*self.storage.sub(path)?),
            MemberPlace::Outside(path) => kind_of(&LocalStorage::new(path)),
            MemberPlace::Elsewhere => Ok(MemberKind::Invalid),
        }
    }

    /// The version of the newest file of members that the group has, whatever its time; none if it has no such file.
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

    /// The range of time that was opened.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.time
    }

    /// What was asked so far of the group's storage and of those of its members, opening included: requests by kind, and
    /// bytes.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counting.counters()
    }

    /// Where the group's bytes live.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Where the member's bytes live. This follows members out of the group's folder; look at [`Member::place`] first if
    /// the group isn't trusted.
    ///
    /// # Errors
    /// [`ArrayError::Member`] if the member can't be reached from here.
    pub fn member_storage(&self, member: &Member) -> Result<Arc<dyn Storage>> {
        Ok(self.reach(member)?.0)
    }

    /// Opens a member that is a group, as this one was opened: at the same time, with the same key, and with the same reach.
    /// A group may be a member of itself.
    ///
    /// # Errors
    /// As [`member_storage`](Self::member_storage) and [`Group::open`].
    pub fn member_group(&self, member: &Member) -> Result<Self> {
        let (storage, folder) = self.reach(member)?;
        Self::open_in(storage, folder, self.counting.clone(), &self.access, Some(self.time))
    }

    /// Where the member's bytes live, and its folder if it is one of this machine.
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
                why: format!("{} can't be reached from here; open it by its own path", member.uri),
            }),
        }
    }
}

/// The path without links of a folder at `path` below one whose path has none.
fn real_folder(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    for component in path.split('/').filter(|component| !component.is_empty()) {
        place.push(component);
        // All parts of the path are looked at only where one of the new ones is a link: far down that takes long.
        if place.symlink_metadata().ok()?.is_symlink() {
            return std::fs::canonicalize(folder.join(path)).ok();
        }
    }
    Some(place)
}

/// Lists the group's folder, which must be one.
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
    // As in the reference library, what could be both is an array.
    if listing.is_array() || !listing.is_group() {
        let hint = if listing.is_array() { "; it is an array" } else { "" };
        return Err(ArrayError::NotAGroup { path: storage.describe(""), hint });
    }
    Ok(listing)
}

/// The members that detail files within `time` leave.
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

/// Before release 2.8 a group was a folder with a marker, and what lay in it was its members.
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

/// What lies at the root of a storage: [`MemberKind::Invalid`] if it is neither array nor group, or nothing.
fn kind_of(storage: &dyn Storage) -> Result<MemberKind> {
    Ok(kind_and_root(storage)?.0)
}

/// The same, with what is listed there.
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
