//! Properties that hold for any bytes, called by the drivers in `fuzz_targets` and by ordinary
//! tests.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::collections::BTreeMap;

use tdb_metadata::{ConsolidatedCommits, GroupDetails, MetadataFile, MetadataValue, PathList};
use tdb_types::{ByteReader, ByteWriter, Spans};

/// A parsed `.con` file is written to the same bytes, except for the last newline, with or without
/// a record.
pub fn commits(data: &[u8]) {
    let parsed = ConsolidatedCommits::parse(&mut ByteReader::new(data));
    let spans = Spans::new();
    let recorded = ConsolidatedCommits::parse(&mut ByteReader::new(data).recording(&spans, 0));
    assert_eq!(parsed, recorded, "a record changes nothing");
    let commits = match parsed {
        Ok(commits) => commits,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for commit in commits.entries.iter().filter(|entry| entry.commit.is_some()) {
        let (bytes, start) = (commit.commit.unwrap(), usize::try_from(commit.offset).unwrap());
        assert_eq!(bytes, &data[start..start + bytes.len()]);
    }
    let mut writer = ByteWriter::new();
    commits.write(&mut writer);
    let written = writer.as_slice();
    assert!(written == data || written.strip_suffix(b"\n") == Some(data), "the same bytes again");
}

/// A parsed list of paths survives a round trip, and the target of each path is a suffix of the
/// path.
pub fn paths(data: &[u8]) {
    let spans = Spans::new();
    let list = match PathList::parse(&mut ByteReader::new(data)) {
        Ok(list) => list,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(PathList::parse(&mut ByteReader::new(data).recording(&spans, 0)).unwrap(), list);
    let mut writer = ByteWriter::new();
    list.write(&mut writer);
    assert_eq!(PathList::parse(&mut ByteReader::new(writer.as_slice())).unwrap(), list);
    assert_eq!(list.targets().count(), list.paths.len());
    assert!(list.targets().zip(&list.paths).all(|(target, path)| path.ends_with(target)));
}

/// Parsed metadata (the payload of the generic tile) are written to the same bytes. Each value can
/// be inspected, and applying the changes keeps the last change of each key.
pub fn metadata(data: &[u8]) {
    let parsed = MetadataFile::parse(&mut ByteReader::new(data));
    let spans = Spans::new();
    let recorded = MetadataFile::parse(&mut ByteReader::new(data).recording(&spans, 0));
    assert_eq!(parsed, recorded, "a record changes nothing");
    let file = match parsed {
        Ok(file) => file,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut writer = ByteWriter::new();
    file.write(&mut writer).unwrap();
    assert_eq!(writer.as_slice(), data, "the same bytes again");
    for value in file.changes.iter().filter_map(|change| change.value.as_ref()) {
        assert_eq!(MetadataValue::new(value.datatype(), value.as_bytes().to_vec()).as_ref(), Ok(value));
        assert_eq!(value.scalars().count(), value.count() as usize);
        let _ = (value.view(), value.as_text(), value.as_integers(), value.to_string());
    }
    let mut entries = BTreeMap::new();
    file.clone().apply(&mut entries);
    for (key, value) in &entries {
        let last = file.changes.iter().rfind(|change| change.key == *key).unwrap();
        assert_eq!(last.value.as_ref(), Some(value));
    }
}

/// Parsed group details (the payload of the generic tile) are written to the same bytes. Applying
/// them leaves no deleted member.
pub fn group(data: &[u8]) {
    let parsed = GroupDetails::parse(&mut ByteReader::new(data));
    let spans = Spans::new();
    let recorded = GroupDetails::parse(&mut ByteReader::new(data).recording(&spans, 0));
    assert_eq!(parsed.as_ref().ok(), recorded.as_ref().ok(), "a record changes nothing");
    let details = match parsed {
        Ok(details) => details,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut writer = ByteWriter::new();
    details.write(&mut writer);
    assert!(data.starts_with(writer.as_slice()), "the same bytes again");
    let mut members = BTreeMap::new();
    details.clone().apply(&mut members);
    assert!(members.len() <= details.members.len());
    assert!(members.iter().all(|(key, member)| !member.deleted && member.key() == key));
}
