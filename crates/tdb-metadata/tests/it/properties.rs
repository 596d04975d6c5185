//! Written files are read back unchanged.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tdb_metadata::{
    ConsolidatedCommit, ConsolidatedCommits, DetailsVersion, GroupDetails, GroupMember, MemberKind, MetadataChange,
    MetadataFile, MetadataValue, PathList,
};
use tdb_types::{ByteReader, ByteWriter, Datatype};

fn written(write: impl FnOnce(&mut ByteWriter)) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    write(&mut writer);
    writer.into_bytes()
}

fn value() -> impl Strategy<Value = MetadataValue> {
    let datatype = proptest::sample::select(Datatype::ALL);
    (datatype, vec(any::<u8>(), 0..40)).prop_map(|(datatype, mut bytes)| {
        bytes.truncate(bytes.len() / datatype.size() * datatype.size());
        MetadataValue::new(datatype, bytes).unwrap()
    })
}

fn change() -> impl Strategy<Value = MetadataChange> {
    (vec(any::<u8>(), 0..6), option::of(value())).prop_map(|(key, value)| MetadataChange { key, value })
}

fn member(version: DetailsVersion) -> impl Strategy<Value = GroupMember> {
    let kind = prop_oneof![Just(MemberKind::Invalid), Just(MemberKind::Group), Just(MemberKind::Array)];
    (kind, any::<bool>(), any::<String>(), option::of(any::<String>()), any::<bool>()).prop_map(
        move |(kind, relative, uri, name, deleted)| GroupMember {
            kind,
            relative,
            uri,
            name,
            deleted: deleted && version == DetailsVersion::Changes,
            version,
        },
    )
}

fn details() -> impl Strategy<Value = GroupDetails> {
    prop_oneof![Just(DetailsVersion::Complete), Just(DetailsVersion::Changes)]
        .prop_flat_map(|version| vec(member(version), 0..5).prop_map(move |members| GroupDetails { version, members }))
}

proptest! {
    #[test]
    fn metadata(changes in vec(change(), 0..6)) {
        let file = MetadataFile { changes };
        let bytes = written(|writer| file.write(writer).unwrap());
        prop_assert_eq!(MetadataFile::parse(&mut ByteReader::new(&bytes)).unwrap(), file);
        // A truncated file is an error, or yields the changes before the cut.
        for len in 0..bytes.len() {
            let _ = MetadataFile::parse(&mut ByteReader::new(&bytes[..len]));
        }
    }

    #[test]
    fn groups(details in details()) {
        let bytes = written(|writer| details.write(writer));
        prop_assert_eq!(GroupDetails::parse(&mut ByteReader::new(&bytes)).unwrap(), details);
        for len in 0..bytes.len() {
            prop_assert!(GroupDetails::parse(&mut ByteReader::new(&bytes[..len])).is_err());
        }
    }

    #[test]
    fn path_lists(paths in vec("[^\n]{0,8}[^\n/]", 0..5)) {
        let list = PathList { paths };
        let bytes = written(|writer| list.write(writer));
        prop_assert_eq!(&PathList::parse(&mut ByteReader::new(&bytes)).unwrap(), &list);
        // The last newline is optional.
        let cut = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        prop_assert_eq!(PathList::parse(&mut ByteReader::new(cut)).unwrap(), list);
    }

    #[test]
    fn consolidated_commits(entries in vec(("[^\n.]{0,8}", option::of(vec(any::<u8>(), 0..20))), 0..5)) {
        let names: Vec<_> = entries.iter().map(|(name, commit)| {
            format!("__commits/{name}.{}", if commit.is_some() { "del" } else { "wrt" })
        }).collect();
        let entries = names.iter().zip(&entries);
        let entries: Vec<_> = entries.map(|(path, (_, commit))| ConsolidatedCommit {
            path,
            commit: commit.as_deref(),
            offset: 0,
        }).collect();
        let bytes = written(|writer| ConsolidatedCommits { entries: entries.clone() }.write(writer));
        let parsed = ConsolidatedCommits::parse(&mut ByteReader::new(&bytes)).unwrap();
        prop_assert_eq!(parsed.entries.len(), entries.len());
        for (parsed, entry) in parsed.entries.iter().zip(&entries) {
            prop_assert_eq!((parsed.path, parsed.commit), (entry.path, entry.commit));
        }
    }
}

#[test]
fn later_files_override_and_delete_keys() {
    let put =
        |key: &str, text: &str| MetadataChange { key: key.into(), value: Some(MetadataValue::text(text).unwrap()) };
    let mut entries = std::collections::BTreeMap::new();
    let first = vec![put("a", "1"), put("b", "2"), put("c", "3")];
    MetadataFile { changes: first }.apply(&mut entries);
    let second = vec![put("a", "4"), MetadataChange { key: b"b".to_vec(), value: None }];
    MetadataFile { changes: second }.apply(&mut entries);
    let shown: Vec<_> = entries.iter().map(|(key, value)| format!("{}={value}", key.escape_ascii())).collect();
    assert_eq!(shown, ["a=\"4\"", "c=\"3\""]);
}
