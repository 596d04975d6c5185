//! The tree of groups and arrays below a group.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tdb_metadata::MemberKind;
use tdb_snapshot::ArrayError;
use tdb_storage::Storage;

use crate::group::{Group, Member, kind_and_root};
use crate::listed::Listed;

/// A depth-first walk over all descendants of a group. The members of a group are in the order of
/// [`Group::members`].
///
/// The walk always terminates, because it visits the members of each group only once.
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
    /// The number of enclosing groups within the walk. 0 for the group at the start.
    pub depth: usize,
    /// The key of the member, or the path of the group at the start of the walk.
    pub name: String,
    /// The member, as stored in the parent group. `None` for the group at the start of the walk.
    pub member: Option<Member>,
    /// The kind of object found.
    pub kind: NodeKind,
    /// The storage of the object. `None` if the walk did not follow the member or could not examine
    /// the object.
    pub storage: Option<Arc<dyn Storage>>,
}

/// The result of examining a member.
#[derive(Debug)]
#[non_exhaustive]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group. The next nodes are its members.
    Group,
    /// A group that contains itself, directly or in a nested group. Not walked again.
    Cycle,
    /// A group that is a member of several groups, or has several names. Already walked, and not
    /// walked again.
    Repeated,
    /// A group at the maximum depth. Its members are not visited.
    TooDeep,
    /// Neither an array nor a group, or a missing object.
    Missing,
    /// A member outside of the parent group's folder. Not followed.
    Outside,
    /// The member is unreachable or unreadable.
    Failed(ArrayError),
}

/// A group whose members the walk currently visits.
struct Frame {
    group: Arc<Group>,
    identity: String,
    next: usize,
}

impl Group {
    /// Creates a walk over all descendants of the group. By default, the walk does not follow
    /// members outside of the parent group's folder.
    pub fn tree(&self) -> GroupTree {
        GroupTree::new(self.clone())
    }
}

impl GroupTree {
    pub(super) fn new(group: Group) -> Self {
        Self { group, follow_outside: false, depth: usize::MAX }
    }

    /// If `follow` is `true`, follows members outside of the parent group's folder. Such members
    /// may be anywhere on the machine. Do not follow them if the group is not trusted.
    pub fn follow_outside(mut self, follow: bool) -> Self {
        self.follow_outside = follow;
        self
    }

    /// Sets the maximum depth. 0 visits only the group, 1 also its members. By default, the depth
    /// is not limited.
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
    /// The identities of all groups walked so far.
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
    /// Examines a member. If the member is a group to walk, enters the group.
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
                // Read a group only if it is walked, because a group may contain itself many times.
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

    /// Returns the reason why a group is not walked, or `None` if it is walked.
    fn turned_away(&self, identity: &str, depth: usize) -> Option<NodeKind> {
        match () {
            () if self.frames.iter().any(|frame| frame.identity == identity) => Some(NodeKind::Cycle),
            () if depth >= self.tree.depth => Some(NodeKind::TooDeep),
            () if self.seen.contains(identity) => Some(NodeKind::Repeated),
            () => None,
        }
    }
}

/// Returns the identity of a group: its local folder without symbolic links, or else the
/// description of its storage.
fn identity(storage: &dyn Storage, folder: Option<&Path>) -> String {
    match folder {
        // The `Debug` output is also distinct for folders whose names are not UTF-8.
        Some(folder) => format!("{folder:?}"),
        None => storage.describe(""),
    }
}
