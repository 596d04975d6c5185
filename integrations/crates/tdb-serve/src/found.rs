//! The content at a path of the server.

use std::fs::File;
use std::time::SystemTime;

/// The content at a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A file of an array, a group, or the viewer.
    File(FoundFile),
    /// A text, a page, or an embedded file.
    Text(Text),
    /// A path without the slash at the end.
    Redirect(String),
}

/// An open file.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) file: File,
    pub(crate) size: u64,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) media_type: &'static str,
    /// `true` for a file of the viewer.
    pub(crate) is_page: bool,
}

/// A response in memory.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) bytes: bytes::Bytes,
    pub(crate) media_type: &'static str,
    /// `true` for a file of the viewer.
    pub(crate) is_page: bool,
}
