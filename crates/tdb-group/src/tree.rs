//! All that is below a group.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tdb_metadata::MemberKind;
use tdb_snapshot::ArrayError;
use tdb_storage::Storage;

use crate::group::{Group, Member, kind_and_root};
use crate::listed::Listed;

/// A walk over all that is below a group, depth first, members in the order of their keys.
///
/// It ends whatever the groups say: a group that was walked already is not walked again.
#[derive(Clone, Debug)]
#[must_use = "nothing is walked before nodes are asked for"]
pub struct GroupTree {
    group: Group,
    follow_outside: bool,
    depth: usize,
}

/// A group or a member of one, met on a walk.
#[derive(Debug)]
pub struct TreeNode {
    /// How many groups it lies in: 0 for the one that the walk began with.
    pub depth: usize,
    /// Its name in its group, or its URI if it has none; the path of the group that the walk began with.
    pub name: String,
    /// The member, as its group says; none for the group that the walk began with.
    pub member: Option<Member>,
    /// What is there.
    pub kind: NodeKind,
    /// Where its bytes live, where that was looked at.
    pub storage: Option<Arc<dyn Storage>>,
}

/// What a walk found at a member's place.
#[derive(Debug)]
#[non_exhaustive]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group; its members follow.
    Group,
    /// A group that it lies in itself; it isn't walked again.
    Cycle,
    /// A group that was walked before, as a member of another; it isn't walked again.
    Repeated,
    /// A group deeper than the walk goes.
    TooDeep,
    /// Neither array nor group, or nothing at all.
    Missing,
    /// Something outside of the folder of its group, which isn't followed.
    Outside,
    /// It can't be reached or read.
    Failed(ArrayError),
}

/// A group under way.
struct Frame {
    group: Arc<Group>,
    identity: String,
    next: usize,
}

impl Group {
    /// All that is below the group, not looking into members outside of its folder unless asked to.
    pub fn tree(&self) -> GroupTree {
        GroupTree::new(self.clone())
    }
}

impl GroupTree {
    pub(super) fn new(group: Group) -> Self {
        Self { group, follow_outside: false, depth: usize::MAX }
    }

    /// Whether members outside of the folder of their group are looked into too. They may lie anywhere on this machine, so
    /// don't where groups come from strangers.
    pub fn follow_outside(mut self, follow: bool) -> Self {
        self.follow_outside = follow;
        self
    }

    /// How deep to go: 0 for the group alone, 1 for its members too.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// The group that the walk begins with, and all below it, as they are met.
    pub fn nodes(self) -> impl Iterator<Item = TreeNode> {
        let root = TreeNode {
            depth: 0,
            name: self.group.storage.describe(""),
            member: None,
            kind: NodeKind::Group,
            storage: Some(self.group.storage.clone()),
        };
        let identity = identity(&*self.group.storage, self.group.folder.as_deref());
        let frame = Frame { group: Arc::new(self.group.clone()), identity: identity.clone(), next: 0 };
        let walk = Walk {
            seen: HashSet::from([identity]),
            frames: if self.depth == 0 { Vec::new() } else { vec![frame] },
            tree: self,
        };
        std::iter::once(root).chain(walk)
    }
}

struct Walk {
    tree: GroupTree,
    frames: Vec<Frame>,
    /// The groups that were walked.
    seen: HashSet<String>,
}

impl Iterator for Walk {
    type Item = TreeNode;

    fn next(&mut self) -> Option<TreeNode> {
        loop {
            let depth = self.frames.len();
            let frame = self.frames.last_mut()?;
            let Some(member) = frame.group.members.get(frame.next).cloned() else {
                self.frames.pop();
                continue;
            };
            frame.next += 1;
            let group = frame.group.clone();
            let (kind, storage) = match self.visit(&group, &member, depth) {
                Ok((kind, storage)) => (kind, storage),
                Err(error) => (NodeKind::Failed(error), None),
            };
            return Some(TreeNode { depth, name: member.key().to_owned(), member: Some(member), kind, storage });
        }
    }
}

impl Walk {
    /// Looks at a member, and enters it if it is a group to be walked.
    fn visit(
        &mut self,
        group: &Group,
        member: &Member,
        depth: usize,
    ) -> Result<(NodeKind, Option<Arc<dyn Storage>>), ArrayError> {
        if !member.place.is_inside() && !self.tree.follow_outside {
            return Ok((NodeKind::Outside, None));
        }
        let (storage, folder) = group.reach(member)?;
        let (kind, root) = kind_and_root(&*storage)?;
        let storage = Listed::wrap(storage, root);
        let kind = match kind {
            MemberKind::Array => NodeKind::Array,
            MemberKind::Invalid => NodeKind::Missing,
            MemberKind::Group => {
                // A group that won't be walked isn't read either: it may have itself as a member, many times.
                let identity = identity(&*storage, folder.as_deref());
                match self.turned_away(&identity, depth) {
                    Some(reason) => reason,
                    None => {
                        let (counting, time) = (group.counting.clone(), Some(group.time));
                        let inner = Group::open_in(storage.clone(), folder, counting, &group.access, time)?;
                        let inner = Arc::new(inner);
                        self.seen.insert(identity.clone());
                        self.frames.push(Frame { group: inner, identity, next: 0 });
                        NodeKind::Group
                    }
                }
            }
        };
        Ok((kind, Some(storage)))
    }

    /// Why a group isn't walked, if it isn't.
    fn turned_away(&self, identity: &str, depth: usize) -> Option<NodeKind> {
        match () {
            () if self.frames.iter().any(|frame| frame.identity == identity) => Some(NodeKind::Cycle),
            () if depth >= self.tree.depth => Some(NodeKind::TooDeep),
            () if self.seen.contains(identity) => Some(NodeKind::Repeated),
            () => None,
        }
    }
}

/// What identifies a group: its real folder, where it has one.
fn identity(storage: &dyn Storage, folder: Option<&Path>) -> String {
    match folder {
        // Distinct also where names are not UTF-8.
        Some(folder) => format!("{folder:?}"),
        None => storage.describe(""),
    }
}
