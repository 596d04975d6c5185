//! Tests of names that a URL would encode, decode or truncate. Each name refers to the folder with
//! exactly that name.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::support::good as done;

const NAMES: &[&str] = &[
    "a b", "a%20b", "a+b", "a%+fb", "50%", "%", "%2F", "x", "x#y", "x?y", "x?", "é", "%C3%A9", "'q'", "a&b;c=d", "~",
    "[a]", "{a}", "a|b", "<a>", "\"a\"", "a:b", "a@2024", "a*", "$a", "!a", "a,b", "(a)", "^`",
];

const SCHEMA: &str = "array_type = \"sparse\"\n[[dimension]]\nname = \"d\"\ndatatype = \"int32\"\ndomain = [0, 99]\n";

/// Creates an array in each place, with a distinct number.
fn fill(folder: &Path, place: impl Fn(&str) -> String) {
    fs::write(folder.join("schema"), SCHEMA).unwrap();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (number, name) in NAMES.iter().enumerate() {
        done(["create", &place(name), "--schema", &file("schema")]);
        fs::write(folder.join("cells.csv"), format!("d\n{number}\n")).unwrap();
        done(["import", &place(name), &file("cells.csv")]);
    }
}

#[test]
fn a_file_uri_leads_to_the_folder_of_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let arrays = folder.path().join("arrays%20of");
    fs::create_dir(&arrays).unwrap();
    let path = |name: &str| arrays.join(name).to_str().unwrap().to_owned();
    let uri = |name: &str| format!("file://{}", path(name));
    fill(folder.path(), uri);
    let mut made: Vec<_> = arrays.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    made.sort();
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    assert_eq!(made, names);
    for (number, name) in NAMES.iter().enumerate() {
        for place in [path(name), uri(name)] {
            assert_eq!(done(["read", &place, "--format", "csv"]), format!("d\n{number}\n"), "{place}");
        }
    }
    // The other name of each pair is not affected.
    done(["delete", &uri("a%20b"), "--where", "d >= 0"]);
    done(["copy", &uri("x#y"), &uri("x%23y")]);
    done(["move", &uri("%2F"), &uri("%252F")]);
    done(["remove", &uri("x?y"), "--yes"]);
    assert_eq!(done(["read", &path("a%20b"), "--format", "csv"]), "d\n");
    assert_eq!(done(["read", &path("a b"), "--format", "csv"]), "d\n0\n");
    assert!(arrays.join("x%23y").is_dir() && arrays.join("%252F").is_dir() && arrays.join("x").is_dir());
    assert!(!arrays.join("%2F").exists() && !arrays.join("x?y").exists());
}

#[test]
fn a_member_of_a_group_is_the_folder_of_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("group%20a");
    let path = group.to_str().unwrap();
    done(["group", "create", path]);
    fill(folder.path(), |name| format!("{path}/{name}"));
    for name in NAMES {
        done(["group", "add", path, name]);
        done(["group", "add", path, &format!("{path}/{name}"), "--absolute", "--name", &format!("whole {name}")]);
    }
    let tree = done(["tree", path, "--format", "jsonl"]);
    for name in NAMES {
        let shown = serde_json::to_string(name).unwrap();
        assert!(tree.contains(shown.trim_matches('"')), "{name}: {tree}");
    }
    done(["verify", path]);
    let moved = folder.path().join("moved%25");
    done(["move", path, moved.to_str().unwrap()]);
    done(["verify", moved.to_str().unwrap()]);
    for (number, name) in NAMES.iter().enumerate() {
        let place = moved.join(name);
        assert_eq!(done(["read", place.to_str().unwrap(), "--format", "csv"]), format!("d\n{number}\n"), "{name}");
    }
}
