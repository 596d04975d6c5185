#![doc = include_str!("../README.md")]

mod array;
mod axis;
mod cells;
mod fields;
mod fragments;
mod grid;
mod markup;
mod options;
mod page;
mod picture;
mod tiles;

use tdb_advise::{Advise, Costs, Sample};
use tdb_array::{Array, Group, Monitor, NodeKind, TreeNode};
use tdb_job::{Result, read_anew};

use options::Options;
use page::Page;

// Re-exported because their types appear in signatures of this crate.
pub use {tdb_advise, tdb_array};

/// Maximum number of arrays of a group with a section.
const SECTIONS: usize = 40;
/// Maximum number of listed members of a group.
const MEMBERS: usize = 1000;
/// Bytes of a group page after which no further section is added.
const FULL: usize = 1 << 20;

/// A report generator. By default it samples eight tiles of each field.
///
/// A page is a single file of less than 2 MB, for arrays of any size. If an array has many
/// fragments or tiles, the page shows a sample or totals, and states the total number.
#[derive(Clone, Debug)]
#[must_use = "has no effect until `array` or `group`"]
pub struct Report {
    options: Options,
}

impl Default for Report {
    fn default() -> Self {
        let advise = Advise::new().sample(Sample::Tiles(8));
        Self { options: Options { advise, dimensions: Vec::new(), attribute: None, monitor: Monitor::new() } }
    }
}

impl Report {
    /// Creates a generator that draws the first two dimensions and the first numeric attribute.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the read costs of the storage.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.options.advise = self.options.advise.costs(costs);
        self
    }

    /// Sets the number of tiles to sample.
    pub fn sample(mut self, sample: Sample) -> Self {
        self.options.advise = self.options.advise.sample(sample);
        self
    }

    /// Sets the horizontal and vertical dimension of pictures. Names that an array does not have
    /// are ignored.
    pub fn dimensions<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.options.dimensions = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the attribute to draw for dense arrays. If an array has no numeric attribute with this
    /// name, its first numeric attribute is drawn.
    pub fn attribute(mut self, name: impl Into<String>) -> Self {
        self.options.attribute = Some(name.into());
        self
    }

    /// Sets the monitor for canceling the report.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.options.advise = self.options.advise.monitor(monitor);
        self.options.monitor = monitor.clone();
        self
    }

    /// Creates the page of an array, as HTML. `path` is the name of the array in commands on the
    /// page.
    ///
    /// # Errors
    /// Fails if the array cannot be read, or if the [monitor](Self::monitor) has canceled the
    /// report.
    pub fn array(&self, path: &str, array: &Array) -> Result<String> {
        read_anew(array, |array| {
            let mut page = Page::new();
            page.body.element("h1", &[], path).raw("\n");
            array::array(&mut page, path, array, &self.options)?;
            Ok(page.finish(path))
        })
    }

    /// Creates the page of a group: its members, and a section for each array up to a size limit.
    /// `open` opens the array of a member. If it returns `None`, the member is listed without a
    /// section.
    ///
    /// # Errors
    /// Fails if `open` fails, or if an array cannot be read.
    pub fn group(
        &self,
        path: &str,
        group: &Group,
        open: impl Fn(&TreeNode) -> Option<Result<Array>>,
    ) -> Result<String> {
        let mut page = Page::new();
        page.is_part = true;
        page.body.element("h1", &[], path).raw("\n");
        let nodes: Vec<TreeNode> = group.tree().nodes().skip(1).take(MEMBERS + 1).collect();
        let arrays = nodes.iter().filter(|node| matches!(node.kind, NodeKind::Array)).count();
        page::facts(&mut page.body, &[("group with arrays", arrays.to_string())]);
        let (mut sections, mut number) = (Page::new(), 0);
        sections.is_part = true;
        page.body.raw("<h2>Members</h2>\n<ul>\n");
        for node in nodes.iter().take(MEMBERS) {
            let name = format!("{}{}", "\u{2003}".repeat(node.depth.saturating_sub(1).min(20)), node.name);
            let has_room = number < SECTIONS && sections.body.len() < FULL;
            let opened = match node.kind {
                NodeKind::Array if has_room => open(node).transpose()?,
                _ => None,
            };
            page.body.raw("<li>");
            match &opened {
                Some(array) => {
                    number += 1;
                    let place = format!("m{number}");
                    page.body.element("a", &[("href", &format!("#{place}"))], &name);
                    sections.body.element("h2", &[("id", &place)], &node.name).raw("\n");
                    let own = node.storage.as_ref().map_or(String::new(), |storage| storage.describe(""));
                    array::array(&mut sections, own.trim_end_matches('/'), array, &self.options)?;
                }
                None => {
                    page.body.text(&name).text(match node.kind {
                        NodeKind::Array => ", an array without a section on this page",
                        NodeKind::Group => ", a group",
                        _ => ", not examined",
                    });
                }
            }
            page.body.raw("</li>\n");
        }
        page.body.raw("</ul>\n");
        if nodes.len() > MEMBERS {
            page.body.element("p", &[], &format!("Only the first {MEMBERS} members are shown."));
        }
        page.body.append(&sections.body);
        Ok(page.finish(path))
    }
}
