//! Rewriting of the files of a group for a new path, another format version, or a new key.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_array::{Group, GroupOptions, TimeRange, WriteIds};
use tdb_filters::EncryptionKey;
use tdb_metadata::tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_metadata::{DetailsVersion, GroupDetails, GroupMember};
use tdb_storage::{EntryKind, Storage};
use tdb_types::names::{GROUP_FOLDER, GROUP_MARKER, METADATA_FOLDER};
use tdb_types::{ByteWriter, FormatVersion, Limits, NameForm, TimestampedName};

use tdb_job::list;
use tdb_job::{MaintainError, Result};
use tdb_relocate::building::Places;

/// First format version with member lists in groups.
const DETAILS_SINCE: u32 = 12;
/// First format version whose member lists may contain only changes.
const CHANGES_SINCE: u32 = 18;
/// Timestamp of the implicit members of a legacy group. Earlier than the first release.
const FIRST: u64 = 1_000_000_000_000;
/// Maximum size of a member list or a metadata file.
const FILE_BYTES: u64 = 256 << 20;

/// Changes to the files of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rewriting<'a> {
    /// Old and new URI, if the group gets a new path.
    pub(super) places: Option<&'a Places>,
    pub(super) version: Option<FormatVersion>,
    pub(super) old_key: Option<&'a EncryptionKey>,
    pub(super) key: Option<&'a EncryptionKey>,
}

/// Returns `true` if [`Rewriting::write`] writes the file, given the path below the group.
pub(super) fn is_own(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folder, name)| {
        (folder == GROUP_FOLDER || folder == METADATA_FOLDER)
            && !name.contains('.')
            && TimestampedName::parse(name).is_some()
    })
}

impl Rewriting<'_> {
    /// Writes the members and the metadata of a group into `to`. `path` is the path below the root.
    /// The folders and markers of the old group already exist in `to`.
    pub(super) fn write(&self, path: &str, group: &Group, to: &Arc<dyn Storage>) -> Result<()> {
        if let Some(version) = self.version
            && version.number() < DETAILS_SINCE
            && !to.exists(GROUP_MARKER)?
        {
            // Old releases identify a group by this marker.
            to.create_new(GROUP_MARKER, &[])?;
        }
        let new = GroupOptions::new().between(TimeRange::ALL).key(self.key.cloned()).open_on(Arc::clone(to))?;
        self.details(path, group, &new)?;
        self.metadata(group, &new)?;
        self.verify(group, to)
    }

    /// Returns `true` if releases of the target format support only complete member lists.
    fn needs_complete_lists(&self) -> bool {
        self.version.is_some_and(|version| (DETAILS_SINCE..CHANGES_SINCE).contains(&version.number()))
    }

    fn details(&self, path: &str, group: &Group, new: &Group) -> Result<()> {
        if group.is_legacy() {
            return match self.version {
                Some(version) if version.number() >= DETAILS_SINCE && !group.members().is_empty() => {
                    self.first_details(group, new, version)
                }
                _ => Ok(()),
            };
        }
        let mut decoder = GenericTileDecoder::new(Limits::default()).with_key(self.old_key.cloned());
        let mut members = BTreeMap::new();
        for name in names_in(group, GROUP_FOLDER)? {
            let file = format!("{GROUP_FOLDER}/{name}");
            let bytes = group.storage().read_up_to(&file, FILE_BYTES)?;
            let wrap = |source| tdb_array::ArrayError::GenericTile { file: group.storage().describe(&file), source };
            let mut details = GroupDetails::parse_file(&bytes, &mut decoder, None).map_err(wrap)?;
            let mut is_other = self.old_key != self.key;
            if let Some(places) = self.places {
                for member in details.members.iter_mut().filter(|member| !member.relative) {
                    is_other |= places.member(path, member);
                }
            }
            let mut new_name = name.clone();
            if self.needs_complete_lists() {
                let is_list = details.version == DetailsVersion::Complete;
                details.apply(&mut members);
                details = listed(members.values().cloned());
                if !is_list {
                    is_other = true;
                    let uuid = name.uuid().unwrap_or_default();
                    new_name = TimestampedName::new(NameForm::Unversioned, name.start(), name.end(), uuid);
                }
            }
            let bytes = if is_other { encoded(&details, new, self.version)? } else { bytes };
            new.storage().create_new(&format!("{GROUP_FOLDER}/{new_name}"), &bytes)?;
        }
        Ok(())
    }

    /// Writes a member list for a group from before release 2.8. Without the list, newer releases
    /// would find no members.
    fn first_details(&self, group: &Group, new: &Group, version: FormatVersion) -> Result<()> {
        let member = |member: &tdb_array::Member| GroupMember {
            kind: member.kind,
            relative: true,
            uri: member.uri.clone(),
            name: member.name.clone(),
            deleted: false,
            version: if self.needs_complete_lists() { DetailsVersion::Complete } else { DetailsVersion::Changes },
        };
        let members: Vec<GroupMember> = group.members().iter().map(member).collect();
        let (details, form) = match self.needs_complete_lists() {
            true => (listed(members.into_iter()), NameForm::Unversioned),
            false => (GroupDetails { version: DetailsVersion::Changes, members }, NameForm::Versioned(2)),
        };
        let time = TimeRange { start: FIRST, end: FIRST };
        let name = new.small_files().new_name(&WriteIds::new(), form, time)?;
        new.storage().create_folder(GROUP_FOLDER)?;
        let bytes = encoded(&details, new, Some(version))?;
        Ok(new.storage().create_new(&format!("{GROUP_FOLDER}/{name}"), &bytes)?)
    }

    fn metadata(&self, group: &Group, new: &Group) -> Result<()> {
        let (old_files, new_files) = (group.small_files(), new.small_files());
        for name in names_in(group, METADATA_FOLDER)? {
            let file = format!("{METADATA_FOLDER}/{name}");
            let bytes = match self.old_key == self.key {
                true => old_files.storage().read_up_to(&file, FILE_BYTES)?,
                false => new_files.encode_metadata(old_files.read_metadata(&file)?)?,
            };
            new.storage().create_new(&file, &bytes)?;
        }
        Ok(())
    }

    /// Compares the new group with the old one.
    fn verify(&self, group: &Group, to: &Arc<dyn Storage>) -> Result<()> {
        let new = GroupOptions::new().between(TimeRange::ALL).key(self.key.cloned()).open_on(Arc::clone(to))?;
        let known = |group: &Group| -> Vec<(tdb_array::MemberKind, Option<String>)> {
            group.members().iter().map(|member| (member.kind, member.name.clone())).collect()
        };
        let are_lost = known(group) != known(&new);
        if !are_lost && group.metadata()?.entries() == new.metadata()?.entries() {
            return Ok(());
        }
        let what = if are_lost { "members" } else { "metadata" };
        let what = format!("the {what} of the new group differ from those of the old group");
        Err(MaintainError::Array(tdb_array::ArrayError::Corrupt { file: to.describe(""), what }))
    }
}

fn listed(members: impl Iterator<Item = GroupMember>) -> GroupDetails {
    let version = DetailsVersion::Complete;
    GroupDetails { version, members: members.map(|member| GroupMember { version, ..member }).collect() }
}

/// Returns the names of the files in a folder, in order of application.
fn names_in(group: &Group, folder: &str) -> Result<Vec<TimestampedName>> {
    let entries = list(&**group.storage(), folder)?;
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File && !entry.name.contains('.'));
    let mut names: Vec<TimestampedName> = files.filter_map(|entry| TimestampedName::parse(&entry.name)).collect();
    names.sort_by(|a, b| (a.start(), a.as_str()).cmp(&(b.start(), b.as_str())));
    Ok(names)
}

/// Serializes the members. The header has a version that releases of the target format can read.
fn encoded(details: &GroupDetails, new: &Group, version: Option<FormatVersion>) -> Result<Vec<u8>> {
    let version = version.filter(|version| version.number() >= DETAILS_SINCE).unwrap_or(FormatVersion::DEFAULT);
    let (mut payload, mut file) = (ByteWriter::new(), ByteWriter::new());
    details.write(&mut payload);
    let mut encoder: GenericTileEncoder = new.small_files().encoder(version)?;
    let wrap = |source| tdb_array::ArrayError::GenericTile { file: new.storage().describe(GROUP_FOLDER), source };
    encoder.encode(payload.as_slice(), &mut file).map_err(wrap)?;
    Ok(file.into_bytes())
}
