//! A group, and all arrays in it, in another format.

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
use tdb_relocate::building::{Kind, Places, Rewritten, Tree, check, clear_unfinished, named, staged, walk};

/// Files that name others are read as a whole; none that is larger was written by anybody.
const LIST_BYTES: u64 = 256 << 20;

/// The rewriting of a group, which nothing stands against: what will be done.
///
/// The arrays that are its members are rewritten, those of groups in it as well, as far as they lie in its folder. All else that
/// lies there is copied. Relative members stay relative.
#[derive(Debug)]
#[must_use = "nothing is written before `into_folder` or `in_place`"]
pub struct GroupMigration {
    storage: Arc<dyn Storage>,
    key: Option<EncryptionKey>,
    version: Option<FormatVersion>,
    arrays: BTreeMap<String, Migration>,
    groups: BTreeMap<String, Group>,
    left: Vec<String>,
    /// What lay in the folder when this was planned.
    tree: Tree,
}

/// What was written of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupMigrationReport {
    /// The arrays, by their paths below the group.
    pub arrays: Vec<(String, MigrationReport)>,
    /// How many groups, itself included.
    pub groups: u64,
    /// How many other files were copied.
    pub copied: u64,
}

impl Migrate {
    /// What will be done to a group and all that is in it, which the key opens. What is to be changed has to fit each of its
    /// arrays.
    ///
    /// # Errors
    /// [`MaintainError::CannotMigrateMembers`] with all that stands against it, if there is any such thing; whatever reading
    /// gives.
    pub fn plan_group(&self, group: &Group, key: Option<&EncryptionKey>) -> Result<GroupMigration> {
        let storage = Arc::clone(group.storage());
        let (tree, _) = walk(&*storage)?;
        let Members { groups, arrays: paths, left } = Members::of(group, key)?;
        let options = key.map_or_else(ArrayOptions::new, |key| ArrayOptions::new().key(key.clone()));
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
    /// The arrays, by their paths below the group.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &Migration)> {
        self.arrays.iter().map(|(path, migration)| (path.as_str(), migration))
    }

    /// The groups in it, by their paths below it; its own is empty.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// URIs of members that stay as they are, since they lie elsewhere, or since nothing is there.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }

    /// Writes the new group into a folder that isn't there yet, encrypted with this key; it is there when it is whole.
    ///
    /// # Errors
    /// [`MaintainError::Place`]: something is there, or it lies in the group. As [`Migration::into_folder`]. Nothing is then left
    /// of it.
    pub fn into_folder(&self, folder: &Path, key: Option<&EncryptionKey>) -> Result<GroupMigrationReport> {
        let (parent, name) = named(folder)?;
        check(&self.storage, &parent, &name)?;
        let paths = Paths::of(folder)?;
        let places = self.storage.uri("").zip(parent.uri(&name)).map(|(from, to)| Places { from, to });
        place::into_folder(&paths, |to| self.fill(to, places.as_ref(), key))
    }

    /// Writes the new group into the folder `name` of a storage, where nothing is yet, encrypted with this key; it is there when
    /// it is whole.
    ///
    /// # Errors
    /// As [`into_folder`](Self::into_folder).
    pub fn into_place(
        &self,
        parent: &Arc<dyn Storage>,
        name: &str,
        key: Option<&EncryptionKey>,
    ) -> Result<GroupMigrationReport> {
        check(&self.storage, parent, name)?;
        clear_unfinished(parent, name)?;
        let places = self.storage.uri("").zip(parent.uri(name)).map(|(from, to)| Places { from, to });
        staged(parent, name, false, |to| self.fill(to, places.as_ref(), key))
    }

    /// Writes the new group beside the folder of the old one, puts it in its place, and keeps the old one as
    /// `NAME.before-migration`, unless it is to be removed. What has been left by interrupted writers isn't in the new one.
    ///
    /// # Errors
    /// As [`Migration::in_place`], for each array and group.
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

    /// Writes all of it into a folder where nothing is.
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
        let options = key.map_or_else(CreateOptions::new, |key| CreateOptions::new().key(key.clone()));
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

    /// Copies a file, which may name others by where they lay.
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
