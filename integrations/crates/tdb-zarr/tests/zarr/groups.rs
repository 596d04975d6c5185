//! Round trips of groups.

use serde_json::json;
use tdb_array::tdb_types::Datatype;
use tdb_array::{Array, Group, MetadataValue};
use tdb_zarr::{Error, Export, Import};

use crate::support::{cells, counted, metadata, places};

#[test]
fn groups_survive_a_round_trip() {
    let (_folder, [path, zarr, copy]) = places(["group", "group.zarr", "copy"]);
    Group::create(&path).unwrap();
    Group::create(path.join("inner")).unwrap();
    counted(&path.join("inner/a"), &[5], &[2]);
    let array = counted(&path.join("b"), &[3, 3], &[2, 2]);
    let value = |datatype, bytes: &[u8]| MetadataValue::new(datatype, bytes.to_vec()).unwrap();
    let put = Group::open(&path).unwrap().write_metadata();
    let put = put.put("title", MetadataValue::text("Rain").unwrap()).put("days", value(Datatype::Int16, &[1, 0, 2, 0]));
    let put = put.put("tdb", value(Datatype::Int64, &[7; 8])).put(vec![0xff], value(Datatype::Blob, &[1, 2]));
    let put = put.put("nan", value(Datatype::Float64, &f64::NAN.to_le_bytes()));
    put.put("zarr.json:list", MetadataValue::text("[\"a\", null]").unwrap()).commit().unwrap();
    Group::open(&path)
        .unwrap()
        .change()
        .add("b", true, Some("a/b"))
        .add("inner", true, Some("inner"))
        .commit()
        .unwrap();
    Group::open(path.join("inner")).unwrap().change().add("a", true, None).commit().unwrap();

    assert_eq!(Export::new().group(&Group::open(&path).unwrap(), &zarr).unwrap().arrays, 2);
    let told = &metadata(&zarr)["attributes"];
    assert_eq!((&told["title"], &told["days"], &told["list"]), (&json!("Rain"), &json!([1, 2]), &json!(["a", null])));
    assert_eq!(told["tdb"]["members"], json!({ "member-1": "a/b" }));

    let imported = Import::new().to_folder(&zarr, &copy).unwrap();
    assert_eq!((imported.arrays, imported.groups, imported.notes), (2, 2, Vec::new()));
    let (was, is) = (Group::open(&path).unwrap(), Group::open(&copy).unwrap());
    let names = |group: &Group| group.members().iter().map(|member| member.key().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&is), names(&was));
    assert_eq!(is.metadata().unwrap().entries().len(), was.metadata().unwrap().entries().len());
    for (key, value) in was.metadata().unwrap().entries() {
        // Parsed JSON is formatted again.
        if !key.starts_with(b"zarr.json:") {
            assert_eq!(is.metadata().unwrap().entries().get(key), Some(value));
        }
    }
    assert_eq!(cells(&Array::open(copy.join("member-1")).unwrap()), cells(&array));
}

#[test]
fn outside_members_and_cycles_are_refused() {
    let (folder, [path, zarr]) = places(["group", "group.zarr"]);
    Group::create(&path).unwrap();
    let outside = folder.path().join("outside");
    counted(&outside, &[5], &[2]);
    Group::open(&path).unwrap().change().add(outside.to_str().unwrap(), false, Some("a")).commit().unwrap();
    let refused = Export::new().group(&Group::open(&path).unwrap(), &zarr).unwrap_err();
    assert!(refused.to_string().contains("outside of the group's folder"), "{refused}");
    Export::new().follow_outside(true).group(&Group::open(&path).unwrap(), &zarr).unwrap();
    assert!(zarr.join("a/zarr.json").exists());

    Group::open(&path).unwrap().change().remove("a").commit().unwrap();
    Group::create(path.join("inner")).unwrap();
    Group::open(&path).unwrap().change().add("inner", true, Some("inner")).commit().unwrap();
    let inner = Group::open(path.join("inner")).unwrap();
    inner.change().add(path.to_str().unwrap(), false, Some("above")).commit().unwrap();
    let refused = Export::new().follow_outside(true).group(&Group::open(&path).unwrap(), folder.path().join("z"));
    assert!(matches!(&refused, Err(Error::Refused { why, .. }) if why.contains("contains itself")), "{refused:?}");
    assert!(!folder.path().join("z").exists());
}
