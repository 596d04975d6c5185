//! Verification of a folder: an array, a group, or a folder that contains arrays and groups.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{ErrorCategory, Listing, NodeKind, TreeNode};
use tdb_metadata::MemberKind;
use tdb_storage::{EntryKind, Storage};
use tdb_types::TimestampedName;
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_METADATA, FRAGMENTS_FOLDER};

use super::Verify;
use super::finding::{Finding, FindingKind, unreadable};
use super::lists::check_lists;
use super::manifest::check_manifest;
use super::places::Places;
use super::report::VerifyReport;
use super::rounds::settled;
use tdb_job::Result;
use tdb_job::{DEEPEST, Target};

impl Verify {
    /// Verifies the root of a storage. `folder` is the path of a local storage. `depth` is the
    /// number of parent folders that were searched.
    pub(super) fn check_place(
        &self,
        storage: &Arc<dyn Storage>,
        folder: Option<&Path>,
        depth: usize,
        places: &mut Places,
        report: &mut VerifyReport,
    ) -> Result<()> {
        if !places.is_new(&**storage) {
            return Ok(());
        }
        let root = match storage.list("") {
            Ok(root) => root,
            Err(error) if depth == 0 => return Err(error.into()),
            Err(error) => {
                report.push(unreadable(&storage.describe(""), &error));
                return Ok(());
            }
        };
        let mut listing = Listing::default();
        listing.root = root;
        if listing.is_array() {
            return self.check_array(storage, depth == 0, report);
        }
        if listing.is_group() {
            return self.check_group(storage, folder, depth, places, report);
        }
        let folders: Vec<&str> = listing
            .root
            .iter()
            .filter(|entry| entry.kind == EntryKind::Folder)
            .map(|entry| entry.name.as_str())
            .collect();
        if let Some(part) = folders.iter().find(|name| is_part_of_array(&**storage, name)) {
            let what = format!("the schema is missing, but {part} belongs to an array: the schema is lost");
            report.push(Finding::wrong(FindingKind::Unreadable, storage.describe(""), what));
            return Ok(());
        }
        if depth >= DEEPEST {
            return Ok(());
        }
        for name in folders {
            let folder: Option<PathBuf> = folder.map(|folder| folder.join(name));
            match storage.sub(name) {
                Ok(inner) => self.check_place(&inner, folder.as_deref(), depth + 1, places, report)?,
                Err(error) => report.push(unreadable(&storage.describe(name), &error)),
            }
        }
        Ok(())
    }

    /// Verifies a group and all its direct and indirect members.
    fn check_group(
        &self,
        storage: &Arc<dyn Storage>,
        folder: Option<&Path>,
        depth: usize,
        places: &mut Places,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let mut nodes: Vec<TreeNode> = Vec::new();
        let look = || {
            let mut report = VerifyReport::default();
            let group = match folder {
                Some(folder) => self.group.open(folder),
                None => self.group.open_on(storage.clone()),
            };
            nodes.clear();
            match group {
                Ok(group) => {
                    nodes.extend(group.tree().nodes());
                    nodes.iter().for_each(|node| check_member(node, &mut report));
                }
                Err(error) if depth == 0 && error.category() == ErrorCategory::Key => return Err(error.into()),
                Err(error) => {
                    report.groups += 1;
                    report.push(unreadable(&storage.describe(""), &error));
                }
            }
            Ok(report)
        };
        report.absorb(settled(&**storage, look)?);
        for node in &nodes {
            match (&node.kind, &node.storage) {
                (NodeKind::Array, Some(storage)) if places.is_new(&**storage) => {
                    self.check_array(storage, false, report)?;
                }
                (NodeKind::Group, Some(storage)) => {
                    let _ = places.is_new(&**storage);
                    check_manifest(&**storage, report);
                    report.absorb(settled(&**storage, || Ok(self.look_at_metadata(storage)))?);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Verifies the metadata of a group.
    fn look_at_metadata(&self, storage: &Arc<dyn Storage>) -> VerifyReport {
        let mut report = VerifyReport { groups: 1, ..VerifyReport::default() };
        let place = storage.describe("");
        let found = match self.group.open_on(storage.clone()) {
            Ok(group) => {
                let mut found: Vec<Finding> =
                    group.metadata().err().iter().map(|error| unreadable(&place, error)).collect();
                check_lists(&Target::Group(Box::new(group)), &mut found);
                found
            }
            Err(error) => vec![unreadable(&place, &error)],
        };
        report.take(found, &place);
        report
    }
}

/// Checks that a member exists and has the kind that the group records.
fn check_member(node: &TreeNode, report: &mut VerifyReport) {
    let at = || match &node.storage {
        Some(storage) => storage.describe(""),
        None => node.member.as_ref().map_or_else(|| node.name.clone(), |member| member.uri.clone()),
    };
    if let Some(what) = other_kind(node) {
        report.push(Finding::wrong(FindingKind::Member, at(), what));
    }
    match &node.kind {
        NodeKind::Missing => {
            let what = format!("member {:?} of the group is missing", node.name);
            report.push(Finding::wrong(FindingKind::Member, at(), what));
        }
        NodeKind::Failed(error) => report.push(Finding::wrong(FindingKind::Member, at(), error.to_string())),
        NodeKind::Outside => {
            let what = format!("member {:?} is outside of the group's folder, and was not checked", node.name);
            report.push(Finding::note(FindingKind::Member, at(), what));
        }
        _ => {}
    }
}

/// Describes the difference if the kind of a member differs from the kind that the group records.
/// Returns `None` if the kinds are equal or unknown.
fn other_kind(node: &TreeNode) -> Option<String> {
    let stated = node.member.as_ref()?.kind;
    let there = match node.kind {
        NodeKind::Array => MemberKind::Array,
        NodeKind::Group | NodeKind::Repeated | NodeKind::Cycle => MemberKind::Group,
        _ => return None,
    };
    let what = || format!("member {:?} has kind {stated} in the group, but found kind {there}", node.name);
    (stated != there).then(what)
}

/// Returns `true` if a folder with this name can only be part of an array.
fn is_part_of_array(storage: &dyn Storage, name: &str) -> bool {
    let is_fragment = || {
        TimestampedName::parse(name).is_some()
            && matches!(storage.exists(&format!("{name}/{FRAGMENT_METADATA}")), Ok(true))
    };
    name == COMMITS_FOLDER || name == FRAGMENTS_FOLDER || is_fragment()
}
