//! `tdb migrate`.

mod support;

use insta::assert_snapshot;
use support::{Copy, run};

#[test]
fn what_cannot_be_said_is_told_at_once() {
    assert_snapshot!(run("migrate v22-by-2.30.0-dense-enumerations/array --to 9 --plan").to_string());
    assert_snapshot!(run("migrate v22-by-2.30.0-sparse-2d/array --at 2024-01-01 --plan").to_string());
    assert_snapshot!(run("migrate v22-by-2.30.0-sparse-2d/array --to 24").to_string());
    assert_snapshot!(run("migrate v22-by-2.30.0-sparse-2d/array --filters a=nothing").to_string());
    assert_snapshot!(run("migrate v22-by-2.30.0-sparse-2d/array --to 5 --plan --format csv").to_string());
}

#[test]
fn in_place_and_to_another_folder() {
    let copy = Copy::of("v22-by-2.30.0-sparse-2d");
    assert_snapshot!(copy.run("migrate", "array", "--to 4 --format csv").to_string());
    let other = copy.path().join("other");
    assert_snapshot!(
        copy.run(&format!("migrate --out {}", other.display()), "array", "--flatten --format csv").to_string()
    );
    for (snapshot, name) in [("same_as_old", "array.before-migration"), ("same_as_other", "other")] {
        let word = copy.path().join(name);
        assert_snapshot!(snapshot, copy.run(&format!("diff {}", word.display()), "array", "--format csv").to_string());
    }
    assert_snapshot!(copy.run("migrate", "array", "--to 5").to_string());
}
