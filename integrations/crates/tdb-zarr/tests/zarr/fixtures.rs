//! Round trips of the dense arrays in the fixtures.

use tdb_array::{Array, ArrayOptions};
use tdb_testkit::fixtures;
use tdb_zarr::{Error, Export, Import};

use crate::support::{cells, domain_cells};

#[test]
fn arrays_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let (mut same, mut refused) = (0, Vec::new());
    for fixture in fixtures::all().into_iter().chain(fixtures::of_older_releases()) {
        if fixture.expected().key().is_some() {
            continue;
        }
        let Ok(array) = ArrayOptions::new().open_on(fixture.array_storage()) else { continue };
        if !array.schema().is_dense() || domain_cells(&array) > 1_000_000 {
            continue;
        }
        let [zarr, copy] = ["zarr", "copy"].map(|ending| folder.path().join(format!("{}.{ending}", fixture.name())));
        // Alternates between boxes of a few chunks and one box.
        match Export::new().budget(if same % 2 == 0 { 4096 } else { 1 << 26 }).array(&array, &zarr) {
            Ok(_) => {}
            Err(error @ (Error::Refused { .. } | Error::Cell { .. })) => {
                assert!(!zarr.exists());
                refused.push(format!("{}: {error}", fixture.name()));
                continue;
            }
            // Unreadable arrays are covered elsewhere.
            Err(Error::Array(error)) => {
                println!("{}: {error}", fixture.name());
                continue;
            }
            Err(error) => panic!("{}: {error}", fixture.name()),
        }
        let imported = Import::new().budget(if same % 2 == 0 { 1 << 26 } else { 4096 }).to_folder(&zarr, &copy);
        // Lossy images change with each round trip, and some builds cannot write them.
        if format!("{:?}", array.schema().attributes()).contains("lossless: false") {
            continue;
        }
        let imported = imported.unwrap();
        assert_eq!(imported.notes, [""; 0], "{}", fixture.name());
        let copy = Array::open(&copy).unwrap();
        let (was, is) = (array.schema(), copy.schema());
        assert_eq!((was.dimensions(), was.attributes()), (is.dimensions(), is.attributes()), "{}", fixture.name());
        assert_eq!((was.tile_order(), was.cell_order()), (is.tile_order(), is.cell_order()));
        assert_eq!(copy.metadata().unwrap().entries(), array.metadata().unwrap().entries(), "{}", fixture.name());
        assert_eq!(cells(&copy), cells(&array), "{}", fixture.name());
        same += 1;
    }
    println!("{same} the same, {} refused:\n{}", refused.len(), refused.join("\n"));
    assert!(same >= 120, "{same}");
    let known = ["with a variable number of", "labels", "the values of its fill value differ"];
    assert!(refused.iter().all(|why| known.iter().any(|known| why.contains(known))), "{refused:?}");
}
