//! Tests of the comparison.

use super::{Changes, PublicPaths, parts};

const OLD: &str = "\
pub mod a
pub enum a::Open
#[non_exhaustive] pub enum a::Growing
pub a::Growing::Named
pub struct a::Batch<'a>
pub a::Batch::rows: usize
impl core::clone::Clone for a::Batch<'_>
pub fn a::Batch<'a>::len(&self) -> usize
pub trait a::Sink
pub fn a::Sink::put(&mut self, u8)
";

/// Compares the items with [`OLD`].
fn changes(new: &str) -> ([Vec<String>; 2], String) {
    let changes = Changes::between(OLD, new);
    let text = changes.text();
    ([changes.breaking, changes.additions], text)
}

fn added(item: &str) -> [Vec<String>; 2] {
    changes(&format!("{OLD}{item}\n")).0
}

#[test]
fn changed_and_removed_items_break() {
    let new = OLD
        .replace("len(&self) -> usize", "len(&self) -> u64")
        .replace("impl core::clone::Clone for a::Batch<'_>\n", "");
    let ([breaking, additions], text) = changes(&format!("{new}pub fn a::Batch<'a>::width(&self) -> usize\n"));
    assert_eq!(
        breaking,
        [
            "- impl core::clone::Clone for a::Batch<'_>",
            "- pub fn a::Batch<'a>::len(&self) -> usize",
            "+ pub fn a::Batch<'a>::len(&self) -> u64",
        ]
    );
    assert_eq!(additions, ["+ pub fn a::Batch<'a>::width(&self) -> usize"]);
    assert!(
        text.starts_with("  can break users:\n    - impl core") && text.contains("  additions:\n    + pub fn"),
        "{text}"
    );
    assert_eq!(Changes::between(OLD, OLD), Changes::default());
}

#[test]
fn additions_break_only_exhaustive_types_traits_and_auto_traits() {
    for item in [
        "pub a::Open::New(u8)",
        "pub a::Batch::new: u8",
        "pub fn a::Sink::flush(&mut self)",
        "impl !core::marker::Send for a::Batch<'_>",
    ] {
        assert_eq!(added(item), [vec![format!("+ {item}")], vec![]]);
    }
    for item in [
        "pub a::Growing::New",
        "pub fn a::Open::is_new(&self) -> bool",
        "pub enum a::Other",
        "impl a::Sink for a::Open",
    ] {
        assert_eq!(added(item), [vec![], vec![format!("+ {item}")]]);
    }
    // A new type may have any variants.
    let [breaking, additions] = added("pub enum a::Other\npub a::Other::One");
    assert_eq!((breaking.len(), additions.len()), (0, 2));
}

#[test]
fn private_modules_are_no_part_of_a_path() {
    let items = ["pub struct a::Batch<'a>", "pub struct a::x::Twice", "pub struct a::y::Twice", "pub a::Kind::Batch"]
        .map(str::to_owned);
    let paths = PublicPaths::of(items.iter());
    let shorten = |item: &str| paths.shorten(item);
    assert_eq!(
        shorten("pub fn b::read(&a::memory::batch::Batch<'_>) -> a::Other"),
        "pub fn b::read(&a::Batch<'_>) -> a::Other"
    );
    assert_eq!(
        shorten("pub fn b::f(a::z::Twice, a::Kind::Batch, c::d::Batch)"),
        "pub fn b::f(a::z::Twice, a::Kind::Batch, c::d::Batch)"
    );
}

#[test]
fn paths_have_no_generic_parameters() {
    let of = |item| parts(item).map(|(keywords, path)| format!("{keywords}{path}"));
    assert_eq!(
        of("pub const fn a::B<alloc::vec::Vec<T>>::c<F: Fn(u8)>(&self, F)").as_deref(),
        Some("const fn a::B::c")
    );
    assert_eq!(of("#[non_exhaustive] #[repr(u8)] pub enum a::B<'a>").as_deref(), Some("enum a::B"));
    assert_eq!(of("pub a::B::c: u8").as_deref(), Some("a::B::c"));
    assert_eq!(of("impl a::B for a::C"), None);
}
