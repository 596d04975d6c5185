//! The tree of groups and arrays below a group.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tdb_metadata::MemberKind;
use tdb_snapshot::ArrayError;
use tdb_storage::Storage;

use crate::group::{Group, Member, kind_and_root};
use crate::listed::Listed;

/// A depth-first walk over all descendants of a group, with members in the order of keys.
///
/// The walk always terminates: a group already walked is not walked again.
#[derive(Clone, Debug)]
#[must_use = "nothing is read until nodes are requested"]
pub struct GroupTree {
    group: Group,
    follow_outside: bool,
    depth: usize,
}

/// A group or group member found by a walk.
#[derive(Debug)]
pub struct TreeNode {
    /// The number of enclosing groups. 0 for the start of the walk.
    pub depth: usize,
    /// The key of the member. For the start of the walk, the path of the group.
    pub name: String,
    /// The member, as stored in the parent group. `None` for the start of the walk.
    pub member: Option<Member>,
    /// The kind of object found.
    pub kind: NodeKind,
    /// The storage of the object, if examined.
    pub storage: Option<Arc<dyn Storage>>,
}

/// The result of examining a member.
#[derive(Debug)]
#[non_exhaustive]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group, followed by the members of the group.
    Group,
    /// A group containing itself, not walked again.
    Cycle,
    /// A group already walked as a member of another group, not walked again.
    Repeated,
    /// A group below the maximum depth.
    TooDeep,
    /// Neither an array nor a group, or a missing object.
    Missing,
    /// A member outside of the parent group's folder, not followed.
    Outside,
    /// The member is unreachable or unreadable.
    Failed(ArrayError),
}

/// A group under the walk.
struct Frame {
    group: Arc<Group>,
    identity: String,
    next: usize,
}

impl Group {
    /// Creates a walk over all descendants of the group. Members outside of the folders of groups
    /// are not followed by default.
    pub fn tree(&self) -> GroupTree {
        GroupTree::new(self.clone())
    }
}

impl GroupTree {
    pub(super) fn new(group: Group) -> Self {
        Self { group, follow_outside: false, depth: usize::MAX }
    }

    /// Follows members outside of the parent group's folder, if `follow` is `true`. These members
    /// may be anywhere on the machine. Do not follow members of untrusted groups.
    pub fn follow_outside(mut self, follow: bool) -> Self {
        self.follow_outside = follow;
        self
    }

    /// Sets the maximum depth: 0 for the group alone, 1 to include the members.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Walks the group and all descendants.
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
    /// The groups already walked.
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
    /// Examines a member, and enters a group to be walked.
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
                // A group is only read if walked, because a group may contain itself many times.
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

    /// Returns the reason for not walking a group, if any.
    fn turned_away(&self, identity: &str, depth: usize) -> Option<NodeKind> {
        match () {
            () if self.frames.iter().any(|frame| frame.identity == identity) => Some(NodeKind::Cycle),
            () if depth >= self.tree.depth => Some(NodeKind::TooDeep),
            () if self.seen.contains(identity) => Some(NodeKind::Repeated),
            () => None,
        }
    }
}

/// Returns the identity of a group: the real local folder, or else the description of the storage.
fn identity(storage: &dyn Storage, folder: Option<&Path>) -> String {
    match folder {
        // `Debug` output stays distinct for names without UTF-8.
        Some(folder) => format!("{folder:?}"),
        None => storage.describe(""),
    }
}
