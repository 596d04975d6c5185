//! The pages of the viewer.

use std::fmt::Write;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::folder::{Folder, SEARCHED};
use crate::found::{Found, FoundFile, Text};

/// Paths and contents of the embedded files of the viewer.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

/// Marks a page of a server with a list of arrays.
const MARK: &str = "<head><meta name=\"tdb-serve\" content=\"1\">";

/// The source of the pages.
#[derive(Debug)]
pub(crate) enum Viewer {
    /// A folder with the built files of the viewer.
    Folder(Folder),
    /// The embedded files, or a plain page if the build has no viewer.
    Embedded,
}

impl Viewer {
    /// Opens a folder with the built files of the viewer.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let folder = Folder::open(folder)?;
        match folder.file("index.html")? {
            Some(_) => Ok(Self::Folder(folder)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Returns `true` if the server has a viewer.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self, Self::Folder(_)) || !EMBEDDED.is_empty()
    }

    /// Returns the page or file at a decoded path.
    pub(crate) fn find(&self, path: &str, list: impl FnOnce() -> String) -> io::Result<Option<Found>> {
        let path = if path.is_empty() { "index.html" } else { path };
        match self {
            Self::Folder(folder) if path == "index.html" => {
                let Some((mut file, _)) = folder.file(path)? else { return Ok(None) };
                let mut text = Vec::new();
                io::Read::read_to_end(&mut file, &mut text)?;
                Ok(Some(index(&text)))
            }
            Self::Folder(folder) => match folder.file(path) {
                Ok(Some((file, metadata))) => Ok(Some(Found::File(FoundFile {
                    file,
                    size: metadata.len(),
                    modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
                    media_type: media_type(path),
                    is_page: true,
                }))),
                _ => Ok(None),
            },
            Self::Embedded if EMBEDDED.is_empty() => match path {
                "index.html" => Ok(Some(text(list().into(), "text/html; charset=utf-8"))),
                _ => Ok(None),
            },
            Self::Embedded => {
                let found = EMBEDDED.iter().find(|(name, _)| *name == path);
                Ok(found.map(|(name, bytes)| match *name {
                    "index.html" => index(bytes),
                    name => text(Bytes::from_static(bytes), media_type(name)),
                }))
            }
        }
    }
}

fn text(bytes: Bytes, media_type: &'static str) -> Found {
    Found::Text(Text { bytes, media_type, is_page: true })
}

fn index(bytes: &[u8]) -> Found {
    let page = String::from_utf8_lossy(bytes).replacen("<head>", MARK, 1);
    text(page.into(), "text/html; charset=utf-8")
}

/// Returns the media type of a file of the viewer.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/vnd.microsoft.icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Writes the page of a server without a viewer. The objects have a URL, a name and a kind. The
/// list of the folders in `incomplete` is incomplete.
pub(crate) fn page(objects: impl Iterator<Item = (String, String, &'static str)>, incomplete: &[&str]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>tdb serve</title>\n</head>\n\
         <body>\n<h1>Arrays and groups</h1>\n<ul>\n",
    );
    for (url, name, kind) in objects {
        // Writing to a string does not fail.
        let _ = writeln!(page, "<li>{kind} <a href=\"{}\">{}</a></li>", escaped(&url), escaped(&name));
    }
    page.push_str("</ul>\n");
    for name in incomplete {
        let name = escaped(name);
        let _ = writeln!(
            page,
            "<p>The list is incomplete: {name} has more than {SEARCHED} folders. Serve a folder in it instead.</p>"
        );
    }
    page.push_str(
        "<p>This build of tdb has no viewer. Build the viewer in the folder integrations/web/viewer with \
         <code>npm ci &amp;&amp; npm run build</code>. Then run <code>tdb serve PATH --viewer \
         integrations/web/viewer/dist</code>, or build tdb with the environment variable TDB_VIEWER set to this \
         folder.</p>\n</body>\n</html>\n",
    );
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
