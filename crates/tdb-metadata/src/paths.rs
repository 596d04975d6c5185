//! Files with one path per line.

use std::borrow::Cow;

use tdb_types::names::{self, FRAGMENTS_FOLDER, METADATA_FOLDER};
use tdb_types::{ByteReader, ByteWriter, DecodeError};

/// A `.vac` or `.ign` file: one path per line.
///
/// Paths in `.ign` files, and in `.vac` files from format 19 on, are relative to the array. Older
/// `.vac` files, and the `.vac` files of groups, contain absolute URIs. [`targets`](Self::targets)
/// reduces absolute URIs to the part that stays valid when the array or group is moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathList {
    /// The paths as stored, without trailing slashes or empty lines. U+FFFD replaces invalid UTF-8,
    /// which may occur only in the names of parent folders.
    pub paths: Vec<String>,
}

impl PathList {
    /// Reads the paths from all remaining bytes. The last newline is optional, as in the reference
    /// library.
    ///
    /// # Errors
    /// Fails if the last component of a path is not UTF-8. Parent folders may have arbitrary names.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let mut paths = Vec::new();
        Self::for_each(reader, |path| paths.push(path.into_owned()))?;
        Ok(Self { paths })
    }

    /// Reads all remaining bytes and passes each path to `take`, in the form of
    /// [`paths`](Self::paths). This saves memory compared with [`parse`](Self::parse), because a
    /// short line takes much more space in memory than in the file. Paths are borrowed unless they
    /// contain invalid UTF-8.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn for_each<'a>(reader: &mut ByteReader<'a>, mut take: impl FnMut(Cow<'a, str>)) -> Result<(), DecodeError> {
        while reader.remaining() > 0 {
            let start = reader.offset();
            let path = line(reader)?;
            let last = path.rsplit(|byte| *byte == b'/').find(|component| !component.is_empty());
            if std::str::from_utf8(last.unwrap_or_default()).is_err() {
                return Err(DecodeError::invalid("path", start, "invalid UTF-8", "UTF-8"));
            }
            let path = match String::from_utf8_lossy(path) {
                Cow::Borrowed(path) => Cow::Borrowed(path.trim_end_matches('/')),
                Cow::Owned(path) => Cow::Owned(path.trim_end_matches('/').to_owned()),
            };
            if !path.is_empty() {
                take(path);
            }
        }
        Ok(())
    }

    /// Writes the paths, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        for path in &self.paths {
            writer.bytes(path.as_bytes());
            writer.u8(b'\n');
        }
    }

    /// Iterates over the fragments and files that a `.vac` file lists, relative to the folder of
    /// the array or group.
    ///
    /// If the path contains the folder of fragments or of metadata, the relative path starts there.
    /// Otherwise the relative path is the last component, because before format 12 fragments are
    /// stored in the array's folder.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| Self::target(path))
    }

    /// Returns the relative path of a single path of a `.vac` file.
    #[must_use]
    pub fn target(path: &str) -> &str {
        let starts = [FRAGMENTS_FOLDER, METADATA_FOLDER].into_iter().find_map(|folder| {
            // The last occurrence as an entire component, because the array may be inside a folder
            // of the same name.
            path.rmatch_indices(folder).map(|(start, _)| start).find(|start| is_component(path, *start, folder))
        });
        starts.map_or_else(|| names::file_name(path), |start| &path[start..])
    }
}

/// Returns `true` if the `name` at `start` of a path is an entire component, followed by another
/// component.
fn is_component(path: &str, start: usize, name: &str) -> bool {
    (start == 0 || path[..start].ends_with('/')) && path[start + name.len()..].starts_with('/')
}

/// Reads a line and its newline, and returns the line without the newline. The last line may lack
/// the newline.
pub(crate) fn line<'a>(reader: &mut ByteReader<'a>) -> Result<&'a [u8], DecodeError> {
    let rest = reader.rest();
    let len = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let line = reader.bytes("path", len as u64)?;
    reader.explain(|| String::from_utf8_lossy(line).into_owned());
    if reader.remaining() > 0 {
        reader.u8("end of the line")?;
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &[u8]) -> PathList {
        PathList::parse(&mut ByteReader::new(text)).unwrap()
    }

    #[test]
    fn targets_are_independent_of_the_array_location() {
        let paths = list(
            b"/__fragments/__1_1_a_22\nfile:///home/x/__fragments/b/__fragments/__2_2_b_14/\n\nfile:///x/__meta/__3_3_c\n\
              file:///x/__4_4_d_10\n/__meta/__5_5_e",
        );
        let targets: Vec<_> = paths.targets().collect();
        let expected =
            ["__fragments/__1_1_a_22", "__fragments/__2_2_b_14", "__meta/__3_3_c", "__4_4_d_10", "__meta/__5_5_e"];
        assert_eq!(targets, expected);
    }

    #[test]
    fn a_folder_far_above_may_have_any_name() {
        assert_eq!(list(b"file:///caf\xe9/__1_1_a_10\n").targets().next(), Some("__1_1_a_10"));
    }
}
