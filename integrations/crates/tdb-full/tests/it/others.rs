//! Commands that the full command inherits from the core.

use crate::command::{tdb, text};
use tdb_testkit::fixtures;

#[test]
fn core_commands_are_available() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    for arguments in [&[array][..], &["schema", array], &["verify", array]] {
        assert!(tdb(arguments).status.success(), "{arguments:?}");
    }
    let help = text(&tdb(&["--help"]).stdout);
    assert!(help.contains("export") && help.contains("consolidate"), "{help}");
    let completions = text(&tdb(&["completions", "bash"]).stdout);
    assert!(completions.contains("export"));
    // The hint for the full command does not appear here.
    let refused = tdb(&["migrate", "s3://bucket/array", "--to", "22"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(!text(&refused.stderr).contains("cargo install"), "{}", text(&refused.stderr));
}
