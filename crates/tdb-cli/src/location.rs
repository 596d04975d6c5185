//! Paths on the command line: plain paths and URIs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::failure::{Exit, Failure, Result};
use crate::stores;

/// Resolves a plain path or a `file://` URI to a local path. Like the reference library, takes each
/// character of a URI literally: `%`, `#` and `?` are part of a name.
///
/// # Errors
/// Fails for a URI of another scheme or host.
pub(crate) fn local(text: &OsStr) -> Result<PathBuf> {
    // For a name that is not UTF-8, only the scheme is examined.
    let shown = text.to_string_lossy();
    let Some((scheme, rest)) = shown.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(PathBuf::from(text));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "file" => file_uri(text, rest),
        _ if stores::opens(scheme) => {
            let message = format!("{scheme}:// is not supported by this command, which needs local files");
            Err(Failure::new(Exit::Unsupported, message)
                .with_hint("use `tdb read` or another command that opens arrays there"))
        }
        "s3" | "s3a" | "gcs" | "gs" | "azure" | "az" | "abfs" | "hdfs" | "http" | "https" | "tiledb" | "mem" => {
            let others = if stores::nothing_was_added() { "local files only" } else { "other stores" };
            let message = format!("{scheme}:// is not supported: this build of tdb reads {others}");
            Err(Failure::new(Exit::Unsupported, message)
                .with_hint(elsewhere("copy the complete array to a disk, and give its path")))
        }
        _ => Err(unknown(scheme, rest)),
    }
}

/// Returns `true` if the text before `://` is a URI scheme. `./s3` is not, and a single letter is a
/// Windows drive.
fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.len() > 1 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(is_inner)
}

/// Returns the failure for a URI with an unknown scheme. As a path, `s4://bucket/new` would
/// silently become a local folder.
fn unknown(scheme: &str, rest: &str) -> Failure {
    let schemes: Vec<String> =
        ["file"].into_iter().chain(stores::schemes()).map(|scheme| format!("{scheme}://")).collect();
    let message = format!("{scheme}:// is not a known scheme; known schemes are {}", schemes.join(", "));
    let hint = format!("write ./{scheme}://{rest} for a local path");
    Failure::new(Exit::Unsupported, message).with_hint(hint)
}

/// Appends a hint to install the full build, if this build has no extensions.
pub(crate) fn elsewhere(instead: &str) -> String {
    match stores::nothing_was_added() {
        true => format!("{instead}; or try the full tdb: `cargo install --path integrations/crates/tdb-full`"),
        false => instead.to_owned(),
    }
}

/// Returns the path of a file URI, byte for byte. `rest` is the text after `file://`, for checks
/// and messages.
fn file_uri(uri: &OsStr, rest: &str) -> Result<PathBuf> {
    let has_host = rest.starts_with("localhost/");
    if !has_host && !rest.starts_with('/') {
        return Err(Failure::usage(format!("file://{rest}: expected three slashes before an absolute path"))
            .with_hint(format!("write file:///{rest}, or the plain path")));
    }
    // The scheme is the first component, the host the second.
    let mut components = Path::new(uri).components();
    components.next();
    if has_host {
        components.next();
    }
    // On Windows, `/C:/data` means `C:/data`, which replaces the root.
    Ok(Path::new("/").join(components.as_path()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_and_file_uris() {
        let path = |text: &str| local(OsStr::new(text)).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(path("a/b").unwrap(), "a/b");
        assert_eq!(path("x://y").unwrap(), "x://y");
        assert_eq!(path("./s4://y").unwrap(), "./s4://y");
        assert_eq!(path("a b://y").unwrap(), "a b://y");
        assert_eq!(path("s4:y").unwrap(), "s4:y");
        assert_eq!(path("file://localhost/tmp").unwrap(), "/tmp");
        assert_eq!(path("FILE:///tmp/a/").unwrap(), "/tmp/a");
        assert_eq!(path("file://tmp").unwrap_err().exit(), Exit::Usage);
        assert_eq!(path("file://localhosts/tmp").unwrap_err().exit(), Exit::Usage);
        for refused in ["s3://bucket/array", "s4://bucket/array", "ftp://host/array", "git+ssh://host/array"] {
            assert_eq!(path(refused).unwrap_err().exit(), Exit::Unsupported, "{refused}");
        }
    }

    proptest! {
        #[test]
        fn names_in_file_uris_are_taken_byte_for_byte(name in "[ -.0-~é語]{1,12}|%[0-9A-Fa-f+]{2}|[0-9]%") {
            prop_assume!(name != "." && name != "..");
            let path = format!("/folder/{name}");
            for text in [format!("file://{path}"), path.clone()] {
                prop_assert_eq!(local(OsStr::new(&text)).unwrap().into_os_string(), OsStr::new(&path));
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_are_taken_byte_for_byte() {
        use std::os::unix::ffi::OsStrExt;

        let path = local(OsStr::from_bytes(b"file:///a/%20\xff")).unwrap();
        assert_eq!(path.as_os_str().as_bytes(), b"/a/%20\xff");
    }
}
