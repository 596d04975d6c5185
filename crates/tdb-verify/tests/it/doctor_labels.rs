//! Leftovers in the arrays of dimension labels are found and repaired.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{files, open};
use tdb_storage::Storage;
use tdb_testkit::fixtures;
use tdb_verify::{Diagnosis, Doctor, Remedy};

type Disk = Arc<dyn Storage>;

const LABELLED: &str = "v22-by-2.30.0-dense-labels";

/// Returns all values of all labels.
fn values(storage: &Disk) -> Vec<String> {
    let array = open(storage);
    let labels = array.schema().labels().iter();
    labels
        .map(|label| {
            let own = array.array_of_label(label).unwrap();
            let batches = own.read().budget(1 << 20).batches().unwrap();
            batches.map(|batch| format!("{:?}", batch.unwrap())).collect()
        })
        .collect()
}

fn short(found: &[Diagnosis]) -> BTreeMap<&str, String> {
    found.iter().map(|one| (one.path.as_str(), one.remedy.to_string())).collect()
}

#[test]
fn leftovers_in_labels() {
    let storage: Disk = Arc::new(support::Placed(fixtures::named(LABELLED).array_storage()));
    let sound = files(&*storage);
    let before = values(&storage);
    assert_eq!(Doctor::new().plan(&open(&storage)).unwrap().found(), []);
    let label = open(&storage).schema().labels()[0].uri.clone();
    let fragment = "__fragments/__5_5_0123456789abcdef0123456789abcdef_22";
    let gathered = "__commits/__1_2_0123456789abcdef0123456789abcdef_22.ign";
    storage.create_new(&format!("{label}/__commits/.tdb-9-0.tmp"), b"half").unwrap();
    storage.create_folder(&format!("{label}/{fragment}")).unwrap();
    storage.create_new(&format!("{label}/{fragment}/a.tdb"), b"x").unwrap();
    storage.create_new(&format!("{label}/{gathered}"), b"__commits/__1_1_a_22.wrt\n").unwrap();
    storage.create_new(".tdb-9-1.tmp", b"half").unwrap();
    storage.create_folder("__labels/other").unwrap();
    storage.create_new("__labels/other/x", b"x").unwrap();
    let ailing = files(&*storage);

    let array = open(&storage);
    let found = Doctor::new().plan(&array).unwrap().found().to_vec();
    let expected = [
        (".tdb-9-1.tmp".to_owned(), "quarantine"),
        ("__labels/other".to_owned(), "leave"),
        (format!("{label}/__commits/.tdb-9-0.tmp"), "quarantine"),
        (format!("{label}/{fragment}"), "quarantine"),
        (format!("{label}/{gathered}"), "quarantine"),
    ];
    let expected: BTreeMap<&str, String> =
        expected.iter().map(|(path, remedy)| (path.as_str(), (*remedy).to_owned())).collect();
    assert_eq!(short(&found), expected);
    let of_fragment = found.iter().find(|one| one.path.ends_with(fragment)).unwrap();
    assert_eq!(of_fragment.files, [format!("{label}/{fragment}/a.tdb")]);

    // Repairs only the requested problem, in the array or in the label.
    let one = format!("{label}/__commits/.tdb-9-0.tmp");
    let mended = Doctor::new().only([one.clone()]).plan(&array).unwrap().run().unwrap();
    assert_eq!(short(&mended.done).into_keys().collect::<Vec<_>>(), [one.as_str()]);
    assert_eq!(mended.quarantine.unwrap(), format!("{label}/.tdb-quarantine/1"));
    let found = Doctor::new().plan(&open(&storage)).unwrap().found().to_vec();
    assert_eq!(found.len(), 4);
    let mended = Doctor::new().plan(&array).unwrap().run().unwrap();
    assert_eq!(mended.done.len(), 3);
    assert!(mended.done.iter().all(|one| found.contains(one)));
    let left = Doctor::new().plan(&open(&storage)).unwrap().found().to_vec();
    assert_eq!(short(&left).into_keys().collect::<Vec<_>>(), ["__labels/other"]);
    assert_eq!(values(&storage), before);

    let undone = Doctor::new().undo(&open(&storage)).unwrap();
    assert_eq!((undone.restored.len(), undone.occupied.len()), (4, 0), "{undone:?}");
    assert!(undone.restored.contains(&one));
    assert_eq!(files(&*storage), ailing);
    assert!(sound.iter().all(|(path, bytes)| ailing[path] == *bytes));
}

/// Readers of a label fail on the commit of a missing fragment until an ignore file is requested.
#[test]
fn commits_of_labels_without_their_fragments() {
    let storage: Disk = Arc::new(support::Placed(fixtures::named(LABELLED).array_storage()));
    let label = open(&storage).schema().labels()[0].clone();
    let own = open(&storage).array_of_label(&label).unwrap();
    let lost = own.fragments().unwrap()[0].folder().to_owned();
    storage.remove_folder(&format!("{}/{lost}", label.uri)).unwrap();
    let array = open(&storage);
    let found = Doctor::new().plan(&array).unwrap().found().to_vec();
    let one = found.iter().find(|one| one.path.starts_with(&format!("{}/__commits/", label.uri))).unwrap();
    assert!(one.remedy.changes_what_is_read(), "{one}");
    assert_eq!(Doctor::new().plan(&array).unwrap().run().unwrap().done, []);
    let mended = Doctor::new().only([one.path.clone()]).plan(&array).unwrap().run().unwrap();
    assert_eq!(mended.done, std::slice::from_ref(one));
    assert_eq!(Doctor::new().plan(&open(&storage)).unwrap().found(), []);
    assert_eq!(open(&storage).array_of_label(&label).unwrap().fragments().unwrap().len(), 0);
}

/// A label without its array is reported, and the doctor continues.
#[test]
fn a_label_without_its_array() {
    let storage: Disk = Arc::new(support::Placed(fixtures::named(LABELLED).array_storage()));
    let label = open(&storage).schema().labels()[0].clone();
    storage.remove_folder(&label.uri).unwrap();
    let found = Doctor::new().plan(&open(&storage)).unwrap().found().to_vec();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].path.as_str(), &found[0].remedy), (label.uri.as_str(), &Remedy::None));
    assert!(found[0].why.contains(&label.name), "{}", found[0]);
    assert_eq!(Doctor::new().plan(&open(&storage)).unwrap().run().unwrap().done, []);
}
