//! The history file.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustyline::Editor;
use rustyline::history::FileHistory;

use super::completion::WriteIds;

/// Returns `TDB_SQL_HISTORY`, or a file in the user's state folder. `None` if the variable is empty
/// or the folder is unknown.
pub(super) fn file() -> Option<PathBuf> {
    if let Some(file) = env::var_os("TDB_SQL_HISTORY") {
        return (!file.is_empty()).then(|| file.into());
    }
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME").or_else(|| folder("LOCALAPPDATA"));
    Some(state.or_else(|| Some(folder("HOME")?.join(".local/state")))?.join("tdb/sql_history"))
}

/// Saves the history. Ignores errors.
pub(super) fn keep(editor: &mut Editor<WriteIds, FileHistory>, file: &Path) {
    if let Some(folder) = file.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = editor.append_history(file);
}
