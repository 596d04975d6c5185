//! Compares instruction counts of key paths with the counts in the repository.

use std::process::{Command, Stdio};

use tdb_speed::count::{self, Counted};

use super::report::Outcome;
use crate::cargo::{has_program, show};

/// Counts and compares. Prints a prominent message if no comparison is possible, because a disabled
/// check must not look like a passed check.
pub fn run() -> Outcome {
    if !has_program("valgrind") {
        install_valgrind();
    }
    match count::compare(None) {
        Ok(Counted::Passed) => Outcome::Passed,
        // The cargo alias builds this program with optimizations.
        Ok(Counted::Unoptimised) => show(&["xtask", "ci", "counts"], &[]).into(),
        Ok(Counted::Skipped(why)) => {
            println!("NOTHING WAS COMPARED: {why}");
            Outcome::Skipped(format!("NOTHING WAS COMPARED: {why}"))
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Tries to install Valgrind, which requires apt and root privileges. Ignores errors, because the
/// next step fails without Valgrind.
fn install_valgrind() {
    for arguments in
        [&["update", "--quiet"][..], &["install", "--quiet", "--yes", "--no-install-recommends", "valgrind"]]
    {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        println!("apt-get {}", arguments.join(" "));
        if !apt.status().is_ok_and(|status| status.success()) {
            println!("apt-get failed");
        }
    }
}
