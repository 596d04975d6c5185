//! Listings of an array's folders.

use std::collections::BTreeMap;

use tdb_metadata::CommitKind;
use tdb_storage::{Entry, EntryKind};
use tdb_types::names::{
    COMMITS_FOLDER, FIRST_SCHEMA, GROUP_FOLDER, GROUP_MARKER, KEY_VALUE_SCHEMA, LEGACY_SCHEMA, SCHEMA_FOLDER, file_name,
};
use tdb_types::{BEFORE_VERSIONS, Feature, FormatVersion, TimestampedName};

use crate::TimeRange;

/// The names in an array's folders, and the contents of commit lists.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Listing {
    /// Entries of the array's own folder.
    pub root: Vec<Entry>,
    /// Entries of `__schema`.
    pub schemas: Vec<Entry>,
    /// Entries of `__commits`.
    pub commits: Vec<Entry>,
    /// Entries of `__fragment_meta`, if listed. [`ArrayDirectory`](crate::ArrayDirectory) does not
    /// depend on these entries.
    pub footers: Option<Vec<Entry>>,
    /// The paths and contents of the `.con`, `.ign` and `.vac` files of the root and of
    /// `__commits`.
    pub commit_files: Vec<(String, Vec<u8>)>,
    /// Entries of possible fragment folders of formats 1 to 4, by folder name.
    pub legacy_folders: BTreeMap<String, Vec<Entry>>,
}

impl Listing {
    /// Creates a listing of the array's own folder only.
    #[must_use]
    pub fn of_root(root: Vec<Entry>) -> Self {
        Self { root, ..Self::default() }
    }

    /// Returns `true` if the folder is an array.
    #[must_use]
    pub fn is_array(&self) -> bool {
        let has = |name: &str, kind| self.root.iter().any(|entry| entry.name == name && entry.kind == kind);
        has(SCHEMA_FOLDER, EntryKind::Folder) || has(LEGACY_SCHEMA, EntryKind::File)
    }

    /// Returns `true` if the folder is a group.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.root.iter().any(|entry| match entry.kind {
            EntryKind::Folder => entry.name == GROUP_FOLDER,
            EntryKind::File => entry.name == GROUP_MARKER,
        })
    }

    /// Detects arrays older than format 1, and key-value stores. Returns the name of the file that
    /// identifies the object, and a description to append to the name. Returns `None` for other
    /// folders.
    pub fn older_than_format_1(&self) -> Option<(&'static str, String)> {
        let has = |name: &str| self.root.iter().any(|entry| entry.name == name && entry.kind == EntryKind::File);
        if self.is_array() {
            None
        } else if has(FIRST_SCHEMA) {
            Some((FIRST_SCHEMA, format!("the schema of an array by release 1.0 or 1.1, which is {BEFORE_VERSIONS}")))
        } else if has(KEY_VALUE_SCHEMA) {
            let what = "the schema of a key-value store, readable only by releases 1.2 to 1.7 of the reference library; \
                        read the items with such a release and write them into an array";
            Some((KEY_VALUE_SCHEMA, what.to_owned()))
        } else {
            None
        }
    }

    /// Returns the paths of the files that [`ArrayDirectory::resolve`] needs in `commit_files`,
    /// with contents.
    ///
    /// [`ArrayDirectory::resolve`]: crate::ArrayDirectory::resolve
    #[must_use]
    pub fn wanted_files(&self) -> Vec<String> {
        let in_root = self.root.iter().map(|entry| (entry, String::new()));
        let in_commits = self.commits.iter().map(|entry| (entry, format!("{COMMITS_FOLDER}/")));
        in_root
            .chain(in_commits)
            .filter(|(entry, _)| entry.kind == EntryKind::File)
            .filter(|(entry, _)| CommitKind::of(&entry.name).is_some_and(CommitKind::lists_files))
            .map(|(entry, folder)| format!("{folder}{}", entry.name))
            .collect()
    }

    /// Returns the paths of all schema files: the legacy file first, then the files in `__schema`
    /// by name. The reference library uses the same order, which equals time order only if all
    /// timestamps have the same number of digits.
    #[must_use]
    pub fn schemas(&self) -> Vec<String> {
        let legacy = self.root.iter().filter(|entry| entry.name == LEGACY_SCHEMA).map(|entry| entry.name.clone());
        let folder = self
            .schemas
            .iter()
            .filter(|entry| entry.kind == EntryKind::File && TimestampedName::parse(&entry.name).is_some())
            .map(|entry| format!("{SCHEMA_FOLDER}/{}", entry.name));
        legacy.chain(folder).collect()
    }

    /// Returns the path of the schema for a reader of `time`: the last schema not newer than
    /// `time`, or else the first. Returns `None` if there is no schema.
    #[must_use]
    pub fn schema_at(&self, time: TimeRange) -> Option<String> {
        let mut schemas = self.schemas();
        let old_enough =
            |path: &String| TimestampedName::parse(file_name(path)).is_some_and(|name| name.end() <= time.end);
        let index = schemas.iter().rposition(old_enough).unwrap_or(0);
        (index < schemas.len()).then(|| schemas.swap_remove(index))
    }

    /// Returns the names of the folders that [`ArrayDirectory::resolve`] needs in `legacy_folders`,
    /// with entries. Folders with fragment metadata are fragments of formats 1 to 4.
    ///
    /// [`ArrayDirectory::resolve`]: crate::ArrayDirectory::resolve
    #[must_use]
    pub fn legacy_candidates(&self) -> Vec<String> {
        self.root
            .iter()
            .filter(|entry| entry.kind == EntryKind::Folder && !entry.name.contains('.'))
            .filter(|entry| TimestampedName::parse(&entry.name).is_some_and(|name| is_before_commits(&name)))
            .map(|entry| entry.name.clone())
            .collect()
    }
}

/// Returns `true` if a fragment with this name needs no commit file: format 4 or older.
fn is_before_commits(name: &TimestampedName) -> bool {
    let by_file = |version: FormatVersion| version.has(Feature::RootCommits) || version.has(Feature::CommitsFolder);
    name.fragment_version().is_ok_and(|version| !by_file(version))
}
