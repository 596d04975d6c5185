//! Compares the public API of the published crates with the baselines in the repository.
//!
//! The baseline of a crate is the file `api.txt` next to the manifest. Each line is a public item.
//! The step `documentation` writes the items as JSON. Therefore the comparison compiles nothing.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::LazyLock;

use public_api::{Builder, PublicItem};
use regex::Regex;
use tdb_api::{Changes, PublicPaths};

use super::report::Outcome;
use crate::Result;
use crate::cargo::{show, workspace};
use crate::published::{CORE, Package, published};

/// Advice of the messages.
const ACCEPT: &str = "to accept the changes, run `cargo xtask api`";

/// Environment variable that makes this program run rustdoc. Contains the path of rustdoc.
const RUSTDOC: &str = "XTASK_RUSTDOC";

/// An implementation of an auto trait, derived from the private fields by the compiler.
static AUTO: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r" !?core::(?:marker|panic::unwind_safe)::(?:Freeze|Send|Sync|\w*Unpin|\w*UnwindSafe|StructuralPartialEq) for ",
    )
    .expect("a regular expression")
});

/// Runs rustdoc on all crates, with warnings as errors. The output is JSON instead of HTML. The
/// warnings are equal.
pub fn document() -> Result {
    let rustdoc = env::var("RUSTDOC").unwrap_or_else(|_| "rustdoc".to_owned());
    let wrapper = env::current_exe()?;
    let wrapper = wrapper.to_str().ok_or("the path of this program is not UTF-8")?;
    let flags = "-D warnings -Z unstable-options --output-format json";
    let variables = [("RUSTDOC", wrapper), (RUSTDOC, &rustdoc), ("RUSTDOCFLAGS", flags)];
    show(&["doc", "--workspace", "--no-deps"], &variables)
}

/// Runs rustdoc with unstable options, if [`document`] has started this program.
///
/// Only rustdoc gets the variable `RUSTC_BOOTSTRAP`. If cargo had the variable, cargo would run the
/// build scripts of dependencies again, and compile most crates twice.
pub fn serve() -> Option<ExitCode> {
    let rustdoc = env::var_os(RUSTDOC)?;
    Some(match run_rustdoc(&rustdoc) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot run rustdoc: {error}");
            ExitCode::FAILURE
        }
    })
}

/// Runs rustdoc with the arguments of this program. Returns `true` if rustdoc succeeds.
fn run_rustdoc(rustdoc: &OsStr) -> io::Result<bool> {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let is_done = Command::new(rustdoc).args(&arguments).env("RUSTC_BOOTSTRAP", "1").status()?.success();
    let after = |option: &str| arguments.iter().skip_while(|argument| *argument != option).nth(1);
    if let (true, Some(folder), Some(name)) = (is_done, after("-o"), after("--crate-name")) {
        // Without this page, cargo would run rustdoc again even if no file has changed.
        let folder = Path::new(folder).join(name);
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("index.html"),
            "The documentation of this crate was written as JSON. Run `cargo doc`.\n",
        )?;
    }
    Ok(is_done)
}

/// Compares the public API with the baselines.
pub fn check() -> Outcome {
    match compare(false) {
        Err(error) if matches!(error.downcast_ref(), Some(public_api::Error::SerdeJsonError(_))) => {
            let reason = format!("NOTHING WAS COMPARED: `public-api` cannot read the output of this rustdoc: {error}");
            println!("{reason}");
            Outcome::Skipped(reason)
        }
        result => result.into(),
    }
}

/// Prints the changes, and stores the new baselines.
///
/// # Errors
/// Fails if rustdoc reports a warning, if the output is unreadable, or if a baseline cannot be written.
pub fn store() -> Result {
    compare(true)
}

fn compare(store: bool) -> Result {
    document()?;
    let packages = published(CORE)?;
    let apis = packages.iter().map(items).collect::<Result<Vec<_>>>()?;
    let paths = PublicPaths::of(apis.iter().flatten());
    let (mut breaking, mut changed) = (Vec::new(), 0);
    for (package, items) in packages.iter().zip(&apis) {
        let baseline = package.manifest_path.with_file_name("api.txt");
        let old = if baseline.exists() { fs::read_to_string(&baseline)? } else { String::new() };
        let new: String = items.iter().map(|item| paths.shorten(item) + "\n").collect();
        let changes = Changes::between(&old, &new);
        if !changes.breaking.is_empty() {
            breaking.push(package.name.as_str());
        }
        if changes != Changes::default() {
            changed += 1;
            println!("{}:\n{}", package.name, changes.text());
        }
        if store {
            fs::write(baseline, new)?;
        }
    }
    match (changed, breaking.is_empty()) {
        _ if store => println!("stored the baselines of {} crates, {changed} with changes", packages.len()),
        (0, _) => println!("the public API of {} crates has not changed", packages.len()),
        (_, true) => return Err(format!("additions to the public API, which break no user; {ACCEPT}").into()),
        _ => {
            let crates = breaking.join(", ");
            let rule = "needs a new major version (docs/reference/stability.md) and an entry in CHANGELOG.md";
            return Err(format!("changes that can break users of {crates}; a break {rule}; {ACCEPT}").into());
        }
    }
    Ok(())
}

/// Returns the public items of a crate, from the output of [`document`].
///
/// Omits methods of implemented traits, and automatic implementations except `!Send` and `!Sync`.
fn items(package: &Package) -> Result<Vec<String>> {
    let json = workspace().join("target/doc").join(package.library()?).with_extension("json");
    let api = Builder::from_rustdoc_json(json).omit_blanket_impls(true).build()?;
    let of_traits = api.items().filter(|item| item.to_string().contains(" for ")).map(PublicItem::id);
    let of_traits: HashSet<_> = of_traits.collect();
    let is_listed = |item: &PublicItem| {
        let text = item.to_string();
        let is_method = item.parent_id().is_some_and(|id| of_traits.contains(&id)) && text.contains("fn ");
        let is_auto = AUTO.is_match(&text) && !text.contains(" !core::marker::S");
        !is_method && !is_auto
    };
    let mut seen = HashSet::new();
    let items = api.items().filter(|item| is_listed(item)).map(ToString::to_string);
    Ok(items.filter(|item| seen.insert(item.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::AUTO;

    #[test]
    fn automatic_implementations_are_found() {
        for item in [
            "impl core::marker::Send for a::B",
            "impl<T> !core::marker::Sync for a::C<T>",
            "impl core::panic::unwind_safe::RefUnwindSafe for a::B",
        ] {
            assert!(AUTO.is_match(item), "{item}");
        }
        assert!(!AUTO.is_match("impl core::marker::Copy for a::B"));
    }
}
