//! A group in short.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::failure::Result;
use crate::group;
pub(super) use crate::group::Member;
use crate::key::Key;
use crate::terminal::Paint;

pub(super) fn members(path: &Path, key: &Key) -> Result<Vec<Member>> {
    group::members(path, key)
}

impl Member {
    pub(super) fn json(&self) -> Value {
        json!({"name": self.name, "kind": self.kind.to_string(), "uri": self.uri, "relative": self.relative})
    }
}

/// The summary for people.
pub(super) fn text(path: &Path, members: &[Member], paint: Paint) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{} {text}", paint.bold(&format!("{name:<16}")));
    };
    line("group", &path.display().to_string());
    if members.is_empty() {
        line("members", "none");
    }
    for (index, member) in members.iter().enumerate() {
        let name = match &member.name {
            Some(name) if *name != member.uri => format!("{name}: {} at {}", member.kind, member.uri),
            _ => format!("{}: {}", member.uri, member.kind),
        };
        line(if index == 0 { "members" } else { "" }, &name);
    }
    out
}
