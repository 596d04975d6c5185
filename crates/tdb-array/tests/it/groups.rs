//! Groups without a recipe: cycles, external members, details files of both versions, and groups
//! from before release 2.8.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_metadata::tdb_generic_tile::{GenericTile, GenericTileDecoder};
use tdb_array::tdb_metadata::{DetailsVersion, GroupDetails, GroupMember};
use tdb_array::{Array, ArrayError, Group, GroupOptions, MemberKind, MemberPlace, NodeKind};
use tdb_storage::{LocalStorage, MemoryStorage, Storage};
use tdb_types::{ByteWriter, Limits};

pub(crate) fn member(uri: &str, relative: bool, name: Option<&str>) -> GroupMember {
    GroupMember {
        kind: MemberKind::Group,
        relative,
        uri: uri.to_owned(),
        name: name.map(str::to_owned),
        deleted: false,
        version: DetailsVersion::Changes,
    }
}

/// Returns a details file.
pub(crate) fn details(version: DetailsVersion, members: Vec<GroupMember>) -> Vec<u8> {
    let (mut payload, mut file) = (ByteWriter::new(), ByteWriter::new());
    GroupDetails { version, members }.write(&mut payload);
    GenericTile::write(payload.as_slice(), &mut file).unwrap();
    file.into_bytes()
}

/// Writes a details file with a timestamp into the group at the root of the storage.
fn write(group: &dyn Storage, time: u64, version: DetailsVersion, members: Vec<GroupMember>) {
    let members = members.into_iter().map(|member| GroupMember { version, ..member }).collect();
    let suffix = if version == DetailsVersion::Changes { "_2" } else { "" };
    group.create_folder("__group").unwrap();
    group.create_new(&format!("__group/__{time}_{time}_{time:032}{suffix}"), &details(version, members)).unwrap();
    if !group.exists("__tiledb_group.tdb").unwrap() {
        group.create_new("__tiledb_group.tdb", b"").unwrap();
    }
}

/// Creates a group with these members in a folder.
fn make(folder: &Path, members: Vec<GroupMember>) {
    fs::create_dir_all(folder).unwrap();
    write(&LocalStorage::new(folder), 1, DetailsVersion::Changes, members);
}

fn array_at(folder: &Path) {
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-1d");
    for path in fixture.array_files() {
        let target = folder.join(path);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, fixture.read(path)).unwrap();
    }
}

/// Returns the walk as lines of depth, name and kind.
fn walked(tree: tdb_array::GroupTree) -> Vec<String> {
    let kind = |kind: &NodeKind| match kind {
        NodeKind::Array => "array",
        NodeKind::Group => "group",
        NodeKind::Cycle => "cycle",
        NodeKind::Repeated => "repeated",
        NodeKind::TooDeep => "too deep",
        NodeKind::Missing => "missing",
        NodeKind::Outside => "outside",
        NodeKind::Failed(ArrayError::Member { .. }) => "unreachable",
        NodeKind::Failed(ArrayError::GenericTile { .. }) => "damaged",
        other => panic!("{other:?}"),
    };
    let nodes = tree.nodes().skip(1);
    nodes.map(|node| format!("{} {} {}", node.depth, node.name, kind(&node.kind))).collect()
}

#[test]
fn walks_always_end() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let absolute = format!("file://{}", fs::canonicalize(folder.path()).unwrap().join("root").display());
    make(&root.join("a"), vec![member(&absolute, false, Some("up")), member("b", true, None)]);
    make(&root.join("a/b"), vec![member(".", true, Some("self")), member("../../../root", true, Some("round"))]);
    make(&root, vec![member("a", true, None), member("a/b", true, Some("z again")), member("nothing", true, None)]);
    array_at(&root.join("a/b/array"));
    write(&LocalStorage::new(root.join("a/b")), 2, DetailsVersion::Changes, vec![member("array", true, None)]);

    let group = Group::open(&root).unwrap();
    let lines = [
        "1 a group",
        "2 b group",
        "3 array array",
        "3 round outside",
        "3 self cycle",
        "2 up outside",
        "1 nothing missing",
        "1 z again repeated",
    ];
    assert_eq!(walked(group.tree()), lines);
    let followed = [
        "1 a group",
        "2 b group",
        "3 array array",
        "3 round cycle",
        "3 self cycle",
        "2 up cycle",
        "1 nothing missing",
        "1 z again repeated",
    ];
    assert_eq!(walked(group.tree().follow_outside(true)), followed);
    assert_eq!(walked(group.tree().depth(1)), ["1 a too deep", "1 nothing missing", "1 z again too deep"]);
}

#[test]
fn outside_members_are_followed_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(folder.path()).unwrap();
    array_at(&real.join("elsewhere"));
    let absolute = format!("file://{}/elsewhere", real.display());
    let inside = format!("file://{}/group/own", real.display());
    array_at(&real.join("group/own"));
    let members = vec![
        member("../elsewhere", true, Some("by dots")),
        member(&absolute, false, Some("by path")),
        member(&inside, false, Some("inside")),
        member("s3://bucket/array", false, Some("remote")),
    ];
    make(&real.join("group"), members);
    let group = Group::open(real.join("group")).unwrap();
    let place = |name: &str| group.member(name).unwrap().place.clone();
    assert_eq!(place("by dots"), MemberPlace::Outside(format!("{}/group/../elsewhere", real.display())));
    assert_eq!(place("by path"), MemberPlace::Outside(format!("{}/elsewhere", real.display())));
    assert_eq!(place("inside"), MemberPlace::Inside("own".to_owned()));
    assert_eq!(place("remote"), MemberPlace::Elsewhere);
    assert_eq!(walked(group.tree()), ["1 by dots outside", "1 by path outside", "1 inside array", "1 remote outside"]);
    let followed = ["1 by dots array", "1 by path array", "1 inside array", "1 remote unreachable"];
    assert_eq!(walked(group.tree().follow_outside(true)), followed);
    assert!(group.open_member::<Array>(group.member("by path").unwrap()).is_ok());

    // A storage that is not a local folder has no outside.
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(real.join("group")));
    let group = GroupOptions::new().open_on(storage).unwrap();
    let error = group.open_member::<Array>(group.member("by dots").unwrap()).unwrap_err();
    assert!(matches!(error, ArrayError::Member { .. }), "{error}");
    assert!(!group.member("by path").unwrap().place.is_inside());
}

#[test]
fn details_of_both_versions_apply_in_order_of_time() {
    let storage = MemoryStorage::new();
    let removed = |uri: &str| GroupMember { deleted: true, ..member(uri, true, None) };
    write(&storage, 10, DetailsVersion::Complete, vec![member("a", true, None), member("b", true, None)]);
    write(&storage, 20, DetailsVersion::Complete, vec![member("b", true, None)]);
    write(&storage, 30, DetailsVersion::Changes, vec![member("c", true, None), member("d", true, Some("named"))]);
    write(&storage, 9, DetailsVersion::Changes, vec![member("too early", true, None)]);
    write(&storage, 40, DetailsVersion::Changes, vec![removed("b"), removed("never there")]);
    let storage: Arc<dyn Storage> = Arc::new(storage);
    let keys = |end| {
        let group = GroupOptions::new().at(end).open_on(storage.clone()).unwrap();
        group.members().iter().map(|member| member.key().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(8), [""; 0]);
    assert_eq!(keys(9), ["too early"]);
    assert_eq!(keys(10), ["a", "b"]);
    assert_eq!(keys(20), ["b"]);
    assert_eq!(keys(30), ["b", "c", "named"]);
    assert_eq!(keys(40), ["c", "named"]);
}

/// Returns the member keys in the newest details file of a group. Deleted members have a minus
/// sign.
fn newest_details(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder.join("__group")).unwrap();
    let newest = files.map(|file| file.unwrap().path()).max().unwrap();
    let mut decoder = GenericTileDecoder::new(Limits::default());
    let details = GroupDetails::parse_file(&fs::read(newest).unwrap(), &mut decoder, None).unwrap();
    let told = |member: &GroupMember| format!("{}{}", if member.deleted { "-" } else { "" }, member.key());
    details.members.iter().map(told).collect()
}

/// Releases 2.15 to 2.17 list a member twice if a details file repeats it.
#[test]
fn changes_contain_only_changed_members() {
    let folder = tempfile::tempdir().unwrap();
    Group::create(folder.path()).unwrap();
    for name in ["a", "b", "c"] {
        Group::create(folder.path().join(name)).unwrap();
    }
    let change = || Group::open(folder.path()).unwrap().change();
    change().add("b", true, None).add("a", true, None).commit().unwrap();
    assert_eq!(newest_details(folder.path()), ["a", "b"]);
    change().add("c", true, None).remove("a").commit().unwrap();
    assert_eq!(newest_details(folder.path()), ["-a", "c"]);
    // A name to be reused is first removed from its current member.
    change().remove("b").add("a", true, Some("b")).commit().unwrap();
    assert_eq!(newest_details(folder.path()), ["-b", "b"]);
    let group = Group::open(folder.path()).unwrap();
    let members: Vec<_> = group.members().iter().map(|member| (member.key(), member.uri.as_str())).collect();
    assert_eq!(members, [("b", "a"), ("c", "c")]);
}

#[test]
fn first_changes_of_legacy_groups_list_all_members() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("__tiledb_group.tdb"), b"").unwrap();
    for name in ["a", "b"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("__tiledb_group.tdb"), b"").unwrap();
    }
    Group::open(folder.path()).unwrap().change().remove("a").commit().unwrap();
    assert_eq!(newest_details(folder.path()), ["b"]);
}

#[test]
fn legacy_groups_contain_the_objects_of_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("__tiledb_group.tdb"), b"").unwrap();
    array_at(&folder.path().join("array"));
    fs::create_dir_all(folder.path().join("inner")).unwrap();
    fs::write(folder.path().join("inner/__tiledb_group.tdb"), b"").unwrap();
    fs::create_dir_all(folder.path().join("notes")).unwrap();
    let group = Group::open(folder.path()).unwrap();
    assert!(group.is_legacy() && group.metadata().unwrap().is_empty());
    assert_eq!(walked(group.tree()), ["1 array array", "1 inner group"]);
}

#[test]
fn other_objects_are_not_groups() {
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-1d");
    let array = fixture.array_dir();
    let error = Group::open(array).unwrap_err();
    assert!(
        matches!(error, ArrayError::NotAGroup { .. }) && error.to_string().contains("the folder is an array"),
        "{error}"
    );
    assert!(matches!(Group::open(array.join("nothing")), Err(ArrayError::NotFound { .. })));
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), vec![member("a", true, None)]);
    make(&folder.path().join("a"), Vec::new());
    let details = fs::read_dir(folder.path().join("a/__group")).unwrap().next().unwrap().unwrap().path();
    fs::write(details, b"not a tile").unwrap();
    // The walk continues after an unreadable group.
    assert_eq!(walked(Group::open(folder.path()).unwrap().tree()), ["1 a damaged"]);
}
