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
use tdb_array::{Array, Group, NodeKind, TreeNode};
use tdb_job::{Result, read_anew};

use options::Options;
use page::Page;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {tdb_advise, tdb_array};

/// Most arrays of a group that have a section of their own.
const SECTIONS: usize = 40;
/// Most members of a group that are named.
const MEMBERS: usize = 1000;
/// Bytes of a page of a group after which no section begins.
const FULL: usize = 1 << 20;

/// How a page is to be: by default with what a sample of eight tiles of each field shows.
///
/// The page is one file of less than two megabytes, whatever the array: of many fragments and tiles some are chosen or counted
/// together, and it says so.
#[derive(Clone, Debug)]
#[must_use = "nothing is done before `array` or `group`"]
pub struct Report {
    options: Options,
}

impl Default for Report {
    fn default() -> Self {
        let advise = Advise::new().sample(Sample::Tiles(8));
        Self { options: Options { advise, dimensions: Vec::new(), attribute: None } }
    }
}

impl Report {
    /// With the first two dimensions in pictures, and the first attribute of numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// What reading costs where the array lies.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.options.advise = self.options.advise.costs(costs);
        self
    }

    /// How much of the tiles is tried out.
    pub fn sample(mut self, sample: Sample) -> Self {
        self.options.advise = self.options.advise.sample(sample);
        self
    }

    /// The dimensions of the pictures: the one across, and the one down. Those that an array doesn't have are left out.
    pub fn dimensions<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.options.dimensions = names.into_iter().map(Into::into).collect();
        self
    }

    /// The attribute whose values are shown of dense arrays.
    pub fn attribute(mut self, name: impl Into<String>) -> Self {
        self.options.attribute = Some(name.into());
        self
    }

    /// The page of an array, as HTML; `path` is what commands on the page call it.
    ///
    /// # Errors
    /// The array can't be read.
    pub fn array(&self, path: &str, array: &Array) -> Result<String> {
        read_anew(array, |array| {
            let mut page = Page::new();
            page.body.element("h1", &[], path).raw("\n");
            array::array(&mut page, path, array, &self.options)?;
            Ok(page.finish(path))
        })
    }

    /// The page of a group: its members, and a section for each array as far as there is room. `open` opens the array of a member.
    ///
    /// # Errors
    /// What `open` gives, unless it is `None`: then the member is named, and has no section.
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
                        NodeKind::Array => ", an array without a section here",
                        NodeKind::Group => ", a group",
                        _ => ", not looked into",
                    });
                }
            }
            page.body.raw("</li>\n");
        }
        page.body.raw("</ul>\n");
        if nodes.len() > MEMBERS {
            page.body.element("p", &[], &format!("There are more than these {MEMBERS} members."));
        }
        page.body.append(&sections.body);
        Ok(page.finish(path))
    }
}
