//! `tdb tree`: the members of a group and its subgroups.

use std::ffi::OsString;

use tdb_array::{Array, GroupTree, MemberPlace, NodeKind, TreeNode};
use tdb_exchange::range;

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::session;
use crate::setter::with;
use crate::target::{self, Kind};
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet};

/// Show the members of a group and its subgroups
///
/// Shows the type and domain of arrays. Members outside the folder of the group are listed, but
/// opened only with --outside. Groups that were shown before are not shown again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb tree GROUP
  tdb tree GROUP --depth 1
  tdb tree GROUP --format jsonl | jq -r 'select(.kind == \"array\") | .path'")]
pub(crate) struct Args {
    /// Path of the group
    path: OsString,

    /// Maximum depth: 0 shows the group alone, 1 also its members
    #[arg(long, value_name = "LEVELS")]
    depth: Option<usize>,

    /// Also open members outside the folder of their group
    #[arg(long)]
    outside: bool,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

const COLUMNS: [(&str, bool); 7] = [
    ("name", false),
    ("kind", false),
    ("type", false),
    ("domain", false),
    ("depth", true),
    ("path", false),
    ("note", false),
];

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (path, kind) = target::find(&args.path)?;
    if kind != Kind::Group {
        let failure = Failure::new(Exit::Unavailable, format!("{}: not a group, but {}", path.display(), kind.a()));
        return Err(failure.with_hint(format!("run `tdb {}` for a summary", path.display())));
    }
    let group = target::open_group(&path, &args.time, key)?;
    let tree = with(group.tree().follow_outside(args.outside), args.depth, GroupTree::depth);
    let mut sheet = Sheet::new(&COLUMNS);
    for node in tree.nodes() {
        sheet.push(row(&node, args, key));
    }
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

fn row(node: &TreeNode, args: &Args, key: &Key) -> Vec<Entry> {
    let (kind, mut note) = kind_and_note(node);
    if matches!(node.kind, NodeKind::Missing | NodeKind::Failed(_)) {
        session::found();
    }
    let mut tell = |why: String| {
        session::found();
        note = Some(why);
    };
    let array = match (&node.kind, &node.storage) {
        (NodeKind::Array, Some(storage)) => target::options(1, &args.time, key).open_on(storage.clone()).map(Some),
        _ => Ok(None),
    };
    let array = array.inspect_err(|error| tell(error.to_string())).ok().flatten();
    if let Some(array) = &array {
        if let Err(error) = array.fragments() {
            tell(error.to_string());
        }
        let left_out: Vec<&str> = array.damaged().iter().map(|damaged| damaged.path.as_str()).collect();
        if !left_out.is_empty() {
            tell(format!("without {}", left_out.join(", ")));
        }
    }
    let text = |text: Option<String>| text.map_or_else(Entry::none, Entry::from);
    vec![
        Entry::shown(format!("{}{}", "  ".repeat(node.depth), node.name), node.name.clone()),
        kind.into(),
        text(array.as_ref().map(|array| array.schema().array_type().to_string())),
        text(array.as_ref().map(domain)),
        (node.depth as u64).into(),
        place(node).into(),
        text(note),
    ]
}

/// Returns the kind of a node, and a remark if something is unusual.
fn kind_and_note(node: &TreeNode) -> (&'static str, Option<String>) {
    let stated = node.member.as_ref().map_or("group", |member| member.kind.name());
    match &node.kind {
        NodeKind::Array => ("array", None),
        NodeKind::Group => ("group", None),
        NodeKind::Cycle => ("group", Some("contains itself, see above".to_owned())),
        NodeKind::Repeated => ("group", Some("shown above".to_owned())),
        NodeKind::TooDeep => ("group", Some("deeper than --depth".to_owned())),
        NodeKind::Missing => ("missing", Some(format!("missing, recorded as {stated}"))),
        NodeKind::Outside => (stated, Some("outside of the group's folder; pass --outside to open it".to_owned())),
        NodeKind::Failed(error) => (stated, Some(error.to_string())),
        _ => (stated, None),
    }
}

/// Returns the path of a node, or the URI of a node without a path.
fn place(node: &TreeNode) -> String {
    match (&node.storage, &node.member) {
        (Some(storage), _) => storage.describe(""),
        (None, Some(member)) => match &member.place {
            MemberPlace::Outside(path) => path.clone(),
            _ => member.uri.clone(),
        },
        (None, None) => node.name.clone(),
    }
}

fn domain(array: &Array) -> String {
    let dimensions = array.schema().dimensions().iter();
    let sides = dimensions.map(|dimension| match range::domain(dimension) {
        Some(domain) => format!("{}={domain}", dimension.name()),
        None => dimension.name().to_owned(),
    });
    sides.collect::<Vec<_>>().join(", ")
}
