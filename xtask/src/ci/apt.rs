//! Programs of the distribution.

use std::process::{Command, Stdio};

/// Tries to install a package, which requires apt and root privileges. Ignores errors, because the
/// caller searches for the program again.
pub fn install(package: &str) {
    for arguments in [&["update", "--quiet"][..], &["install", "--quiet", "--yes", "--no-install-recommends", package]]
    {
        let mut apt = Command::new("apt-get");
        apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        println!("apt-get {}", arguments.join(" "));
        if !apt.status().is_ok_and(|status| status.success()) {
            println!("apt-get failed");
        }
    }
}
