//! Groups.

use pyo3::prelude::*;
use tdb_array::{Group, MemberKind, NodeKind};

use crate::array::Opening;
use crate::error::Result;
use crate::metadata::{self, Change, Entry, entries};
use crate::run::briefly;
use crate::write::ids;

/// A group at a point in time.
#[pyclass(frozen, name = "Group", module = "tdb._native")]
#[derive(Debug)]
pub(crate) struct NativeGroup {
    pub(crate) group: Group,
}

/// The key, the name, the kind, the URI, and whether the URI is relative.
type Member = (String, Option<String>, &'static str, String, bool);

fn kind_of(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Array => "array",
        MemberKind::Group => "group",
        MemberKind::Invalid => "invalid",
    }
}

#[pymethods]
impl NativeGroup {
    #[staticmethod]
    fn open(py: Python<'_>, opening: Opening) -> Result<Self> {
        let options = opening.options()?.to_open();
        Ok(Self { group: briefly(py, || opening.place()?.group(&options))? })
    }

    #[getter]
    fn members(&self) -> Vec<Member> {
        let members = self.group.members().iter();
        let member = |member: &tdb_array::Member| {
            let (key, name, uri) = (member.key().to_owned(), member.name.clone(), member.uri.clone());
            (key, name, kind_of(member.kind), uri, member.relative)
        };
        members.map(member).collect()
    }

    /// Returns the place of a member.
    fn place(&self, key: &str) -> Result<Option<String>> {
        let Some(member) = self.group.member(key) else { return Ok(None) };
        Ok(Some(self.group.member_storage(member)?.describe("")))
    }

    fn metadata(&self, py: Python<'_>) -> Result<Vec<Entry>> {
        entries(py, briefly(py, || Ok(self.group.metadata()?))?)
    }

    fn write_metadata(&self, py: Python<'_>, changes: Vec<Change>, at: Option<u64>) -> Result<()> {
        briefly(py, || metadata::change(self.group.write_metadata(), changes, ids(at)))
    }

    /// Adds and removes members. An added member has a URI, which may be relative, and a name.
    fn change(
        &self,
        py: Python<'_>,
        added: Vec<(String, bool, Option<String>)>,
        removed: Vec<String>,
        at: Option<u64>,
    ) -> Result<()> {
        let mut change = self.group.change().ids(ids(at));
        for (uri, relative, name) in added {
            change = change.add(uri, relative, name.as_deref());
        }
        change = removed.into_iter().fold(change, tdb_array::GroupWriter::remove);
        briefly(py, || Ok(change.commit()?))
    }

    /// Walks the group: depth, key, kind and place of each node.
    fn walk(&self, py: Python<'_>) -> Result<Vec<(usize, String, &'static str, Option<String>)>> {
        let node = |node: tdb_array::TreeNode| {
            let kind = match &node.kind {
                NodeKind::Array => "array",
                NodeKind::Group => "group",
                NodeKind::Cycle => "cycle",
                NodeKind::Repeated => "repeated",
                NodeKind::TooDeep => "too deep",
                NodeKind::Missing => "missing",
                NodeKind::Outside => "outside",
                _ => "unreadable",
            };
            (node.depth, node.name, kind, node.storage.map(|storage| storage.describe("")))
        };
        briefly(py, || Ok(self.group.tree().nodes().map(node).collect()))
    }
}
