//! Replay of committed fuzz corpora, which keeps past findings tested.

use std::fs;
use std::path::Path;

use crate::case;
use crate::fixtures::paths_below;
use crate::hostile::{seeded_mutations, single_byte_changes, truncations};

/// Calls `body` with the bytes of every file below `dir`, sorted by path, and returns the number of
/// files. A missing folder counts as empty. If a test needs files, it must assert a nonzero count.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn replay(dir: impl AsRef<Path>, mut body: impl FnMut(&[u8])) -> usize {
    let dir = dir.as_ref();
    let files = paths_below(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    for path in files.iter().map(|path| dir.join(path)) {
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        case::run(|| path.display(), || body(&bytes));
    }
    files.len()
}

/// Calls `body` with every file below `fuzz/corpus/<target>` and `fuzz/regressions/<target>` of the
/// crate in `crate_dir`, and returns the number of files. A test passes
/// `env!("CARGO_MANIFEST_DIR")`.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn replay_target(crate_dir: impl AsRef<Path>, target: &str, mut body: impl FnMut(&[u8])) -> usize {
    let fuzz = crate_dir.as_ref().join("fuzz");
    ["corpus", "regressions"].map(|kind| replay(fuzz.join(kind).join(target), &mut body)).iter().sum()
}

/// Calls `body` with the same files as [`replay_target`], and with `count` random mutations of each
/// file.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn replay_mutated(crate_dir: impl AsRef<Path>, target: &str, count: usize, body: fn(&[u8])) -> usize {
    replay_target(crate_dir, target, |data| {
        body(data);
        seeded_mutations(1, data, count, body);
    })
}

/// Calls `body` with the same bytes as [`replay_mutated`], and with further corrupted versions of
/// each file: truncated at every length, and with every byte set to several wrong values.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn replay_damaged(crate_dir: impl AsRef<Path>, target: &str, count: usize, body: fn(&[u8])) -> usize {
    replay_target(crate_dir, target, |data| {
        body(data);
        truncations(data).for_each(body);
        single_byte_changes(data, body);
        seeded_mutations(1, data, count, body);
    })
}

#[cfg(test)]
mod tests {
    use super::{replay, replay_target};
    use std::fs;

    #[test]
    fn both_folders_are_replayed_in_order() {
        let root = std::env::temp_dir().join(format!("tdb-testkit-replay-{}", std::process::id()));
        for (path, bytes) in [
            ("fuzz/corpus/t/b", "2"),
            ("fuzz/corpus/t/a/x", "1"),
            ("fuzz/regressions/t/c", "3"),
            ("fuzz/corpus/other/d", "no"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folder made");
            fs::write(path, bytes).expect("file written");
        }
        let mut seen = String::new();
        let count = replay_target(&root, "t", |bytes| {
            seen.push_str(str::from_utf8(bytes).expect("UTF-8"));
        });
        assert_eq!((count, seen.as_str()), (3, "123"));
        assert_eq!(replay(root.join("absent"), |_| ()), 0);
        fs::remove_dir_all(root).expect("folder removed");
    }
}
