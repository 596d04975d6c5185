//! Round trips of arrays with random shapes.

use proptest::prelude::*;
use tdb_array::Array;
use tdb_zarr::{Compression, Export, Import};

use crate::support::{cells, counted, places};

fn shapes() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
    proptest::collection::vec((1_u64..12, 1_u64..12, 1_u64..14), 1..4).prop_map(|all| {
        let extents = all.iter().map(|(len, extent, _)| *extent.min(len)).collect();
        (all.iter().map(|(len, ..)| *len).collect(), extents, all.iter().map(|(.., chunk)| *chunk).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn cells_survive_a_round_trip(
        (lengths, extents, chunks) in shapes(),
        (out, back) in (1_usize..5000, 1_usize..5000),
        gzip in proptest::option::of(0_u8..10),
        single in any::<bool>(),
    ) {
        let (_folder, [path, zarr, copy]) = places(["array", "array.zarr", "copy"]);
        let array = counted(&path, &lengths, &extents);
        let packed = gzip.map_or(Compression::Same, Compression::Gzip);
        let threads = usize::from(single);
        Export::new().chunks(chunks).compression(packed).threads(threads).budget(out).array(&array, &zarr).unwrap();
        let imported = Import::new().threads(threads).budget(back).to_folder(&zarr, &copy).unwrap();
        prop_assert_eq!(imported.cells, lengths.iter().product::<u64>());
        let copy = Array::open(&copy).unwrap();
        prop_assert_eq!(copy.schema().dimensions(), array.schema().dimensions());
        prop_assert_eq!(cells(&copy), cells(&array));
    }
}
