//! Paths as people give them: plain ones and URIs.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::failure::{Exit, Failure, Result};
use crate::stores;

/// The local path that `text` means: a plain path, or a `file://` URI.
///
/// # Errors
/// A URI of another kind, or of another machine.
pub(crate) fn local(text: &OsStr) -> Result<PathBuf> {
    let uri = text.to_str().and_then(|text| text.split_once("://"));
    let Some((scheme, rest)) = uri.filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(PathBuf::from(text));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "file" => file_uri(rest),
        _ if stores::opens(scheme) => {
            let message = format!("{scheme}:// is not for this command, which works on local files");
            Err(Failure::new(Exit::Unsupported, message).with_hint("`tdb read` and others open arrays there"))
        }
        "s3" | "s3a" | "gcs" | "gs" | "azure" | "az" | "abfs" | "hdfs" | "http" | "https" | "tiledb" | "mem" => {
            let others = if stores::nothing_was_added() { "local files only" } else { "other stores" };
            let message = format!("{scheme}:// is not supported: this build of tdb reads {others}");
            Err(Failure::new(Exit::Unsupported, message)
                .with_hint(elsewhere("copy the array to a disk, whole, and give its path")))
        }
        _ => Err(unknown(scheme, rest)),
    }
}

/// Whether what stands before `://` is the scheme of a URI: `./s3` is none, and one letter is a drive of Windows.
fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.len() > 1 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(is_inner)
}

/// What is said of a URI of a kind that nobody knows. Taken for a path, `s4://bucket/new` would become a folder of this machine that
/// nobody looks for.
fn unknown(scheme: &str, rest: &str) -> Failure {
    let schemes: Vec<String> =
        ["file"].into_iter().chain(stores::schemes()).map(|scheme| format!("{scheme}://")).collect();
    let message = format!("{scheme}:// is no kind of place that can be opened: there are {}", schemes.join(", "));
    let hint = format!("a path of this machine that begins so is ./{scheme}://{rest}");
    Failure::new(Exit::Unsupported, message).with_hint(hint)
}

/// What else to do than what this build can't, with how to get the one that has more.
pub(crate) fn elsewhere(instead: &str) -> String {
    match stores::nothing_was_added() {
        true => format!("{instead}; or try the full tdb: `cargo install --path integrations/crates/tdb-full`"),
        false => instead.to_owned(),
    }
}

fn file_uri(rest: &str) -> Result<PathBuf> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(Failure::usage(format!("file://{rest}: a file URI has three slashes before an absolute path"))
            .with_hint(format!("file:///{path}, or the plain path")));
    }
    let decoded =
        percent_decode(path).ok_or_else(|| Failure::usage(format!("file://{rest}: the percent encoding is broken")))?;
    // On Windows `/C:/data` stands for `C:/data`.
    let has_drive = cfg!(windows) && decoded.as_bytes().get(2) == Some(&b':');
    Ok(PathBuf::from(if has_drive { &decoded[1..] } else { &decoded }))
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_file_uris() {
        let path = |text: &str| local(OsStr::new(text)).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(path("a/b").unwrap(), "a/b");
        assert_eq!(path("x://y").unwrap(), "x://y");
        assert_eq!(path("./s4://y").unwrap(), "./s4://y");
        assert_eq!(path("a b://y").unwrap(), "a b://y");
        assert_eq!(path("s4:y").unwrap(), "s4:y");
        assert_eq!(path("file:///tmp/a%20b").unwrap(), "/tmp/a b");
        assert_eq!(path("file://localhost/tmp").unwrap(), "/tmp");
        assert_eq!(path("file://tmp").unwrap_err().exit(), Exit::Usage);
        assert_eq!(path("file:///%4").unwrap_err().exit(), Exit::Usage);
        for refused in ["s3://bucket/array", "s4://bucket/array", "ftp://host/array", "git+ssh://host/array"] {
            assert_eq!(path(refused).unwrap_err().exit(), Exit::Unsupported, "{refused}");
        }
    }
}
