//! Migration of a group with all arrays.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tdb_array::{ArrayOptions, CreateOptions, Group};
use tdb_filters::EncryptionKey;
use tdb_storage::{LocalStorage, Storage, copy_file};
use tdb_types::FormatVersion;

use crate::group_files::{Rewriting, is_own};
use crate::members::{Members, is_below};
use crate::migrate::{Migrate, Migration, MigrationReport};
use crate::place::{self, Paths};
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Result};
use tdb_relocate::building::{Kind, Places, Rewritten, Tree, check, named, staged, walk};

/// Maximum size of a file with URIs, which is read into memory.
const LIST_BYTES: u64 = 256 << 20;

/// A planned migration of a group. The plan has no obstacles.
///
/// Migrates the member arrays inside of the group's folder, including those of nested groups.
/// Copies the remaining files in the folder. Relative members stay relative.
#[derive(Debug)]
#[must_use = "has no effect until `into_folder` or `in_place`"]
pub struct GroupMigration {
    storage: Arc<dyn Storage>,
    key: Option<EncryptionKey>,
    version: Option<FormatVersion>,
    arrays: BTreeMap<String, Migration>,
    groups: BTreeMap<String, Group>,
    left: Vec<String>,
    /// Contents of the folder at the time of the plan.
    tree: Tree,
}

/// Result of the migration of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupMigrationReport {
    /// Reports of the arrays, by path below the group.
    pub arrays: Vec<(String, MigrationReport)>,
    /// Number of groups, including the group itself.
    pub groups: u64,
    /// Number of copied files outside of the arrays. Excludes the member lists and metadata of
    /// groups, which are rewritten.
    pub copied: u64,
}

impl Migrate {
    /// Plans the migration of a group with all members inside of the group's folder. `key` must
    /// open all of these groups and arrays. The changes must be possible for each array.
    ///
    /// # Errors
    /// - [`MaintainError::CannotMigrateMembers`] with all obstacles.
    /// - The errors of [`plan`](Self::plan), except [`MaintainError::CannotMigrate`].
    /// - Reading a group fails.
    pub fn plan_group(&self, group: &Group, key: Option<&EncryptionKey>) -> Result<GroupMigration> {
        let storage = Arc::clone(group.storage());
        let (tree, _) = walk(&*storage)?;
        let Members { groups, arrays: paths, left } = Members::of(group, key)?;
        let options = ArrayOptions::new().key(key.cloned());
        let (mut arrays, mut against) = (BTreeMap::new(), Vec::new());
        for path in paths {
            let array = options.clone().open_on(storage.sub(&path)?)?;
            match self.plan(&array) {
                Ok(migration) => drop(arrays.insert(path, migration)),
                Err(error @ MaintainError::CannotMigrate { .. }) => against.push(error),
                Err(error) => return Err(error),
            }
        }
        if !against.is_empty() {
            return Err(MaintainError::CannotMigrateMembers { path: storage.describe(""), against });
        }
        let version = self.change.version;
        Ok(GroupMigration { storage, key: key.cloned(), version, arrays, groups, left, tree })
    }
}

impl GroupMigration {
    /// Returns the arrays by path below the group.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &Migration)> {
        self.arrays.iter().map(|(path, migration)| (path.as_str(), migration))
    }

    /// Returns the paths of the groups. The path of the group itself is empty.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Returns the URIs of members that are not migrated, because they are external or missing.
    #[must_use]
    pub fn unchanged(&self) -> &[String] {
        &self.left
    }

    /// Writes the new group into a new folder, encrypted with `key`. The folder appears only when
    /// it is complete.
    ///
    /// # Errors
    /// - [`MaintainError::Place`] if the folder exists or is inside of the group or of an array.
    /// - The errors of [`Migration::into_folder`].
    ///
    /// After an error, no incomplete group remains at the destination.
    pub fn into_folder(&self, folder: &Path, key: Option<&EncryptionKey>) -> Result<GroupMigrationReport> {
        let (parent, name) = named(folder)?;
        check(&self.storage, &parent, &name)?;
        let paths = Paths::of(folder)?;
        let places = self.storage.uri("").zip(parent.uri(&name)).map(|(from, to)| Places { from, to });
        place::into_folder(&paths, |to| self.fill(to, places.as_ref(), key))
    }

    /// Writes the new group into a new folder `name` of a storage, encrypted with `key`. The folder
    /// appears only when it is complete.
    ///
    /// # Errors
    /// As for [`into_folder`](Self::into_folder).
    pub fn into_place(
        &self,
        parent: &Arc<dyn Storage>,
        name: &str,
        key: Option<&EncryptionKey>,
    ) -> Result<GroupMigrationReport> {
        let places = self.storage.uri("").zip(parent.uri(name)).map(|(from, to)| Places { from, to });
        staged(&self.storage, parent, name, false, |to| self.fill(to, places.as_ref(), key))
    }

    /// Writes the new group next to the old one and swaps the folders. Keeps the old group as
    /// `NAME.before-migration`, or removes it if `remove_old` is set.
    ///
    /// Leftovers of interrupted writers are not copied.
    ///
    /// # Errors
    /// As for [`Migration::in_place`], for each array and group.
    pub fn in_place(
        &self,
        folder: &Path,
        key: Option<&EncryptionKey>,
        remove_old: bool,
    ) -> Result<GroupMigrationReport> {
        let paths = Paths::of(folder)?;
        let root: Arc<dyn Storage> = Arc::new(LocalStorage::new(&paths.place));
        let mut locks = Vec::new();
        for path in self.groups.keys() {
            locks.push((Lock::take(&root.sub(path)?, false)?, path.clone()));
        }
        for (path, migration) in &self.arrays {
            locks.extend(place::locks(&paths.place, path, migration)?);
        }
        place::in_place(&paths, locks, remove_old, &self.tree, |to| self.fill(to, None, key))
    }

    /// Writes the new group into an empty folder.
    fn fill(
        &self,
        to: &Arc<dyn Storage>,
        places: Option<&Places>,
        key: Option<&EncryptionKey>,
    ) -> Result<GroupMigrationReport> {
        let mut report = GroupMigrationReport { groups: self.groups.len() as u64, ..GroupMigrationReport::default() };
        let is_array = |path: &str| self.arrays.contains_key(path);
        for (path, size) in &self.tree {
            match size {
                _ if is_array(path) || is_below(path, is_array) || self.is_own_of_group(path) => {}
                None => to.create_folder(path)?,
                Some(_) => {
                    self.copy(path, to, places)?;
                    report.copied += 1;
                }
            }
        }
        let options = CreateOptions::new().key(key.cloned());
        for (path, migration) in &self.arrays {
            to.create_folder(path)?;
            report.arrays.push((path.clone(), migration.into_storage(&to.sub(path)?, &options)?));
        }
        let rewriting = Rewriting { places, version: self.version, old_key: self.key.as_ref(), key };
        for (path, group) in &self.groups {
            rewriting.write(path, group, &to.sub(path)?)?;
        }
        for (path, _) in self.tree.iter().filter(|(_, size)| size.is_none()) {
            if !is_array(path) && !is_below(path, is_array) {
                to.sync_folder(path)?;
            }
        }
        Ok(report)
    }

    fn is_own_of_group(&self, path: &str) -> bool {
        let mut above = std::iter::once(0).chain(path.match_indices('/').map(|(end, _)| end));
        above.any(|end| {
            let rest = path[end..].trim_start_matches('/');
            self.groups.contains_key(&path[..end]) && is_own(rest)
        })
    }

    /// Copies a file, with updated URIs.
    fn copy(&self, path: &str, to: &Arc<dyn Storage>, places: Option<&Places>) -> Result<()> {
        let rewritten = match places.and_then(|places| Some((places, Kind::of(path)?))) {
            Some((places, kind)) => places.rewrite(path, kind, &self.storage.read_up_to(path, LIST_BYTES)?),
            None => Rewritten::Same,
        };
        match rewritten {
            Rewritten::Same => {
                copy_file(&*self.storage, path, &**to, path, &mut |_| Ok::<(), MaintainError>(()))?;
            }
            Rewritten::Bytes(bytes) => to.create_new(path, &bytes)?,
            Rewritten::LeftOut => {}
        }
        Ok(())
    }
}
