//! The summary of a group.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use tdb_array::{Group, Member};

use tdb_print::{Paint, printable};

/// Returns the summary as JSON.
pub(super) fn json(path: &Path, group: &Group) -> Value {
    let member = |member: &Member| {
        json!({
            "name": member.name,
            "kind": member.kind.to_string(),
            "uri": member.uri,
            "relative": member.relative,
            "inside": member.place.is_inside(),
        })
    };
    json!({
        "path": path.display().to_string(),
        "kind": "group",
        "members": group.members().iter().map(member).collect::<Vec<_>>(),
    })
}

/// Returns the summary as text.
pub(super) fn text(path: &Path, group: &Group, paint: Paint) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{} {}", paint.bold(&format!("{name:<16}")), printable(text));
    };
    line("group", &path.display().to_string());
    if group.members().is_empty() {
        line("members", "none");
    }
    for (index, member) in group.members().iter().enumerate() {
        let name = match &member.name {
            Some(name) if *name != member.uri => format!("{name}: {} at {}", member.kind, member.uri),
            _ => format!("{}: {}", member.uri, member.kind),
        };
        let outside = if member.place.is_inside() { "" } else { ", outside of the group's folder" };
        line(if index == 0 { "members" } else { "" }, &format!("{name}{outside}"));
    }
    if group.is_legacy() && !group.members().is_empty() {
        line("", "(a group from before release 2.8: all arrays and groups in its folder are members)");
    }
    out
}
