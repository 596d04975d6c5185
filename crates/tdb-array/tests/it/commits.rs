//! Commit files that contradict each other or the files next to them. Each case reads as in release
//! 2.30.0, the source of the expected values, or fails with an error naming the file.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, ErrorCategory};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::fixtures;
use tdb_types::Limits;

/// Two fragments of format 22 with 50 and 20 cells. Two cells are overwritten.
const PLAIN: &str = "v22-by-2.30.0-sparse-2d";
/// Deletes in a consolidated commits file, and one in a separate file.
const DELETES: &str = "v22-by-2.30.0-sparse-deletes-in-commits";
/// Two fragments of format 8 in the array's root.
const OLD: &str = "v8-by-2.2.9-sparse";

/// Number of cells and sum of `a`, for both fragments. The next constants are for the second
/// fragment alone, and with and without the delete in the separate file.
const BOTH: (usize, i64) = (68, 22209);
const SECOND: (usize, i64) = (20, 6501);
const DELETED: (usize, i64) = (11, 875);
const UNDELETED: (usize, i64) = (13, 1102);

const FIRST_NAME: &str = "__1700000000000_1700000000000_36e52f8dde87923033e39f1520f8cc0d_22";
const SECOND_NAME: &str = "__1700000001000_1700000001000_028b175bee8d1c904714d10425c0e256_22";
/// A missing fragment.
const GONE: &str = "__1700000002000_1700000002000_00000000000000000000000000000abc_22";
const GATHERED: &str = "__commits/__1700000000000_1700000001000_00000000000000000000000000000abc_22.con";
const IGNORED: &str = "__commits/__1700000000000_1700000001000_00000000000000000000000000000abc_22.ign";

struct Case(Arc<MemoryStorage>);

impl Case {
    fn of(fixture: &str) -> Self {
        Self(fixtures::named(fixture).array_storage())
    }

    fn with(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.0.insert(path, bytes.as_ref().to_vec()).unwrap();
        self
    }

    fn without(self, path: &str) -> Self {
        self.0.remove_file(path).unwrap();
        self
    }

    /// Removes the separate commit of the first fragment.
    fn gone(self) -> Self {
        self.without(&format!("__commits/{FIRST_NAME}.wrt"))
    }

    /// Removes all files of the first fragment.
    fn without_first(self) -> Self {
        let folder = format!("__fragments/{FIRST_NAME}");
        let files = self.0.list(&folder).unwrap();
        files.into_iter().fold(self, |case, file| case.without(&format!("{folder}/{}", file.name)))
    }

    /// Path and bytes of the delete in a separate file.
    fn own_delete(&self) -> (String, Vec<u8>) {
        let mut names = self.0.list("__commits").unwrap().into_iter().map(|entry| entry.name);
        let path = format!("__commits/{}", names.find(|name| name.ends_with(".del")).unwrap());
        let bytes = self.0.read(&path).unwrap();
        (path, bytes)
    }

    fn open(&self) -> Result<Array, ArrayError> {
        ArrayOptions::new().threads(1).open_on(self.0.clone())
    }

    fn read(&self) -> Result<(usize, i64), ArrayError> {
        let (mut cells, mut sum) = (0, 0);
        for batch in self.open()?.read().select(["a"])?.batches()? {
            let batch = batch?;
            let values: &[i32] = batch.column("a")?.values()?;
            cells += values.len();
            sum += values.iter().map(|value| i64::from(*value)).sum::<i64>();
        }
        Ok((cells, sum))
    }

    fn gives(&self, expected: (usize, i64), what: &str) {
        let found = self.read().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found, expected, "{what}");
    }

    fn fails(&self, category: ErrorCategory, words: &[&str]) {
        let error = self.read().unwrap_err();
        assert_eq!(error.category(), category, "{error}");
        words.iter().for_each(|word| assert!(error.to_string().contains(word), "{error}: no {word}"));
    }
}

/// An entry of a `.con`, `.ign` or `.vac` file for the first fragment's commit.
fn entry(before: &str) -> String {
    format!("{before}{FIRST_NAME}.wrt\n")
}

/// An entry of a `.con` file with the bytes of a delete.
fn delete_entry(path: &str, length: usize, bytes: &[u8]) -> Vec<u8> {
    [format!("{path}\n").as_bytes(), &(length as u64).to_le_bytes(), bytes].concat()
}

#[test]
fn ignored_commits_count_where_their_own_file_is() {
    let own = entry("__commits/");
    Case::of(PLAIN).gives(BOTH, "unchanged");
    Case::of(PLAIN).with(IGNORED, &own).gives(BOTH, "ignored, but not consolidated");
    Case::of(PLAIN).with(GATHERED, &own).with(IGNORED, &own).gives(BOTH, "ignored, with a separate commit");
    Case::of(PLAIN).with(GATHERED, &own).with(IGNORED, &own).gone().gives(SECOND, "ignored, without a separate commit");
    let elsewhere = entry("other/__commits/");
    Case::of(PLAIN).with(GATHERED, &own).with(IGNORED, &elsewhere).gone().gives(BOTH, "another path is ignored");
    Case::of(PLAIN).with(GATHERED, &elsewhere).with(IGNORED, &elsewhere).gone().gives(SECOND, "the same other path");
    Case::of(PLAIN).with(IGNORED, format!("__commits/{GONE}.wrt\n")).gives(BOTH, "a missing fragment is ignored");
    // Deletes cannot be ignored.
    let case = Case::of(DELETES);
    let (path, bytes) = case.own_delete();
    case.gives(DELETED, "unchanged");
    let case = case.with(IGNORED, format!("{path}\n"));
    case.gives(DELETED, "a delete in a separate file");
    let case = case.with(GATHERED, delete_entry(&path, bytes.len(), &bytes)).without(&path);
    case.gives(DELETED, "a consolidated delete");
    case.without(GATHERED).gives(UNDELETED, "no delete");
}

#[test]
fn commits_that_come_twice_count_once() {
    let own = entry("__commits/");
    Case::of(PLAIN).with(GATHERED, own.repeat(2)).gives(BOTH, "twice in a file, and in a separate file");
    Case::of(PLAIN).with(GATHERED, &own).with(&GATHERED.replace("abc", "abd"), &own).gone().gives(BOTH, "in two files");
    Case::of(PLAIN).with(&format!("__commits/{FIRST_NAME}.wrt"), "bytes").gives(BOTH, "a commit that is not empty");
    // The consolidated copy takes precedence over the separate file of the delete.
    let case = Case::of(DELETES);
    let (path, bytes) = case.own_delete();
    let same = delete_entry(&path, bytes.len(), &bytes);
    case.with(GATHERED, same).gives(DELETED, "a delete in both places");
    let gathered =
        Case::of(DELETES).open().unwrap().directory().embedded_deletes.values().next().unwrap().bytes.clone();
    let other = delete_entry(&path, gathered.len(), &gathered);
    Case::of(DELETES).with(GATHERED, other).gives(UNDELETED, "another condition of the same name");
}

#[test]
fn commits_of_fragments_that_are_not_there_are_errors() {
    let words = &[GONE, "not found"];
    Case::of(PLAIN).with(&format!("__commits/{GONE}.wrt"), "").fails(ErrorCategory::Unavailable, words);
    let gathered = format!("__commits/{GONE}.wrt\n");
    Case::of(PLAIN).with(GATHERED, &gathered).fails(ErrorCategory::Unavailable, words);
    Case::of(PLAIN).with(GATHERED, &gathered).with(IGNORED, &gathered).gives(BOTH, "consolidated and ignored");
    Case::of(PLAIN).without_first().fails(ErrorCategory::Unavailable, &[FIRST_NAME, "not found"]);
    // In older formats, a commit is in effect only if the fragment folder exists.
    let gone = GONE.replace("_22", "_8");
    let all = Case::of(OLD).read().unwrap();
    Case::of(OLD).with(&format!("{gone}.ok"), "").gives(all, "no such folder");
    Case::of(OLD).with(GATHERED, format!("{gone}.ok\n")).gives(all, "consolidated, no such folder");
    let empty = Case::of(OLD).with(&format!("{gone}.ok"), "").with(&format!("{gone}/a0.tdb"), "");
    empty.fails(ErrorCategory::Unavailable, &[&gone, "not found"]);
}

#[test]
fn replaced_fragments_do_not_count_whoever_commits_them() {
    let replaced = format!("__fragments/{FIRST_NAME}\n");
    for vacuum in [SECOND_NAME, FIRST_NAME, &GONE.replace("1700000002000", "1700000001000")] {
        let vacuum = format!("__commits/{vacuum}.vac");
        Case::of(PLAIN).with(&vacuum, &replaced).gives(SECOND, "with a separate commit");
        let gathered = Case::of(PLAIN).with(&vacuum, &replaced).with(GATHERED, entry("__commits/")).gone();
        gathered.gives(SECOND, "consolidated");
        gathered.without_first().gives(SECOND, "consolidated, without files");
        Case::of(PLAIN).with(&vacuum, format!("../other/{replaced}")).gives(SECOND, "listed by another path");
    }
}

#[test]
fn a_fragment_lies_where_its_version_says_and_so_does_its_commit() {
    let ok = format!("{FIRST_NAME}.ok");
    Case::of(PLAIN).with(&ok, "").gives(BOTH, "commits of both layouts");
    Case::of(PLAIN).with(&format!("__commits/{ok}"), "").gives(BOTH, "commits of both layouts, in one folder");
    Case::of(PLAIN).with(&ok, "").gone().gives(SECOND, "old layout");
    Case::of(PLAIN).with(GATHERED, format!("{ok}\n__commits/{ok}\n")).gone().gives(SECOND, "old layout, consolidated");
    // In format 8, only commits in the root are in effect.
    let case = Case::of(OLD);
    let all = case.read().unwrap();
    let ok = case.0.list("").unwrap().into_iter().map(|entry| entry.name).rfind(|name| name.ends_with(".ok")).unwrap();
    let fewer = case.without(&ok);
    let part = fewer.read().unwrap();
    assert!(part.0 < all.0, "{part:?} of {all:?}");
    let fewer = fewer.with(GATHERED, format!("other/{ok}\n/{ok}\n__commits/{ok}\n"));
    fewer.gives(part, "consolidated, with other folders");
    fewer.with(GATHERED, format!("{ok}\n")).gives(all, "consolidated");
    let newer = ok.replace(".ok", ".wrt");
    Case::of(OLD).with(&format!("__commits/{newer}"), "").fails(ErrorCategory::Corrupt, &[&newer, "format version 8"]);
    // Not commits: a folder, and a name that is not a fragment's.
    Case::of(PLAIN).gone().with(&format!("__commits/{FIRST_NAME}.wrt/file"), "").gives(SECOND, "a folder");
    Case::of(PLAIN).with("__commits/nonsense.wrt", "").gives(BOTH, "not a fragment name");
}

#[test]
fn entries_that_name_another_array_mean_this_one() {
    for before in ["", "../other/__commits/", "other/__commits/", "file:///nowhere/array/__commits/"] {
        Case::of(PLAIN).with(GATHERED, entry(before)).gives(BOTH, before);
        Case::of(PLAIN).with(GATHERED, entry(before)).gone().gives(BOTH, before);
        let gone = format!("{before}{GONE}.wrt\n");
        let path = format!("__fragments/{GONE}");
        Case::of(PLAIN).with(GATHERED, gone).fails(ErrorCategory::Unavailable, &[&path, "not found"]);
        let case = Case::of(DELETES);
        let (path, bytes) = case.own_delete();
        let path = path.replace("__commits/", before);
        let gathered = delete_entry(&path, bytes.len(), &bytes);
        let case = case.with(GATHERED, gathered);
        let own = case.own_delete().0;
        case.without(&own).gives(DELETED, before);
    }
    for nonsense in ["__commits/nonsense\n", "\n", "", "__commits/nonsense.xyz"] {
        Case::of(PLAIN).with(GATHERED, nonsense).gives(BOTH, nonsense);
    }
    Case::of(PLAIN).with(GATHERED, entry("__commits/").trim_end()).gone().gives(BOTH, "no newline at the end");
}

#[test]
fn deletes_without_their_bytes_are_errors_that_name_the_file() {
    let path = format!("__commits/{GONE}").replace("_22", "_22.del");
    let missing = format!("{path}\n");
    Case::of(PLAIN).with(GATHERED, missing).fails(ErrorCategory::Corrupt, &[GATHERED, "length of the commit"]);
    let short = delete_entry(&path, 100, b"abc");
    Case::of(PLAIN).with(GATHERED, short).fails(ErrorCategory::Corrupt, &[GATHERED, "expected 100 bytes"]);
    let empty = delete_entry(&path, 0, b"");
    Case::of(PLAIN).with(GATHERED, empty).fails(ErrorCategory::Corrupt, &[GATHERED, &path, "generic tile"]);
    let nonsense = delete_entry(&path, 3, b"abc");
    Case::of(PLAIN).with(GATHERED, nonsense).fails(ErrorCategory::Corrupt, &[GATHERED, &path, "generic tile"]);
    Case::of(PLAIN).with(&path, "").fails(ErrorCategory::Corrupt, &[&path, "generic tile"]);
    // The rest remains readable.
    let case = Case::of(PLAIN).with(GATHERED, format!("{path}\n"));
    let array = ArrayOptions::new().threads(1).skip_damaged(true).open_on(case.0.clone()).unwrap();
    assert_eq!((array.fragments().unwrap().len(), array.damaged().len()), (2, 1));
}

#[test]
fn commit_lists_obey_the_limit() {
    let open = |case: &Case, bytes| {
        let limits = Limits::default().with_commit_bytes(bytes);
        ArrayOptions::new().limits(limits).open_on(case.0.clone())
    };
    let lines = "a\n".repeat(1000);
    let case = Case::of(PLAIN).with(GATHERED, &lines).with(IGNORED, &lines);
    let error = open(&case, 3999).unwrap_err();
    assert!(error.to_string().contains("exceeds the limit"), "{error}");
    assert!(open(&case, 4000).is_ok());
}
