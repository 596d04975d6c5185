//! The program, as `cargo test` builds it. `.ci/run` runs the steps with this program, because a
//! build of one package would compile the crates again, with other features.

use std::path::Path;
use std::process::Command;

#[test]
fn documentation_names_all_steps() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["ci", "--list"]).output().expect("the program starts");
    let steps = String::from_utf8(output.stdout).expect("steps are text");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/internals/development.md");
    let page = std::fs::read_to_string(page).expect("the page is readable");
    let names = steps.lines().filter_map(|line| line.split_whitespace().next());
    let missing: Vec<&str> = names.filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(steps.lines().count() > 10, "{steps}");
    assert!(missing.is_empty(), "development.md lacks the steps {missing:?}");
}
