//! Tests of complete pages.

use tdb_array::Group;
use tdb_report::Report;
use tdb_testkit::fixtures;

use crate::support::{HOSTILE, hostile, many_fragments, named, open};

/// Returns the part of a page after the common head.
fn body(page: &str) -> &str {
    page.split("<body>").nth(1).unwrap()
}

#[test]
fn small_pages() {
    let page = Report::new().array("rain", &named("v22-by-2.30.0-dense-2d-row-row")).unwrap();
    insta::assert_snapshot!("dense", body(&page));
    let page = Report::new().array("rain", &named("v22-by-2.30.0-sparse-2d")).unwrap();
    insta::assert_snapshot!("sparse", body(&page));
}

/// Checks that elements are closed in order, and that text contains no further tags.
fn check_markup(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag");
        let name = tag.split([' ', '\n']).next().unwrap();
        match name.strip_prefix('/') {
            _ if tag.ends_with('/') || ["!DOCTYPE", "meta"].contains(&name) => {}
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Creates a page of every fixture, including the oldest.
#[test]
fn all_fixtures_have_pages() {
    let mut made = 0;
    for fixture in fixtures::all() {
        let Ok(array) = open(&fixture) else { continue };
        let page = match Report::new().array(fixture.name(), &array) {
            Ok(page) => page,
            Err(error) => panic!("{}: {error}", fixture.name()),
        };
        assert!(page.len() < 400_000, "{}: {} bytes", fixture.name(), page.len());
        check_markup(&page);
        made += 1;
    }
    assert!(made > 120, "{made}");
}

#[test]
fn hostile_names_are_text() {
    let page = Report::new().array(HOSTILE, &hostile()).unwrap();
    check_markup(&page);
    for markup in ["<script", "<img", "onerror=alert(1)>", "\u{1b}", "\u{202e}"] {
        assert!(!page.contains(markup), "{markup:?}");
    }
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"));
}

/// The page size does not depend on the number of fragments.
#[test]
fn many_fragments_are_counted_together() {
    let array = many_fragments(1200);
    let page = Report::new().array("many", &array).unwrap();
    assert!(page.len() < 300_000, "{} bytes", page.len());
    assert!(page.contains("number of fragments that overlap each of 2160 parts"));
    assert!(
        page.contains("of 64 of 1200 fragments") || page.contains("in 64 of 1200 fragments"),
        "the page does not state the sample"
    );
    check_markup(&page);
}

#[test]
fn a_group_has_a_section_for_each_array() {
    let fixture = fixtures::named("v22-by-2.30.0-group");
    let folder = tempfile::tempdir().unwrap();
    fixture.unpack_into(folder.path());
    let group = Group::open(folder.path().join("group")).unwrap();
    let open = |node: &tdb_array::TreeNode| {
        Some(tdb_array::ArrayOptions::new().open_on(node.storage.clone()?).map_err(Into::into))
    };
    let page = Report::new().group("seasons", &group, open).unwrap();
    check_markup(&page);
    assert!(page.contains("<a href=\"#m1\">") && page.contains("<h2 id=\"m1\">"), "{page}");
}
