//! Trees written by the reference library (`tests/trees/README.md`): parsing, writing and
//! rebuilding gives the same bytes.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tdb_rtree::{Coverage, DimRange, DimensionKind, NdRange, RTree};
use tdb_types::{ByteReader, ByteWriter, Datatype, Feature, FormatVersion, Scalar, Spans};

/// Name, dimensions and bytes of every tree.
fn trees() -> Vec<(String, Vec<DimensionKind>, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees");
    let mut trees = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rtree") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let kinds = name.split('-').map_while(kind).collect();
            trees.push((name, kinds, fs::read(&path).unwrap()));
        }
    }
    trees.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(trees.len(), 18);
    trees
}

fn kind(word: &str) -> Option<DimensionKind> {
    match word {
        "string" => Some(DimensionKind::var(Datatype::StringAscii)),
        name => Datatype::from_name(name).map(DimensionKind::fixed),
    }
}

fn tree(name: &str) -> (RTree, Vec<DimensionKind>) {
    let (_, kinds, bytes) = trees().into_iter().find(|tree| tree.0 == name).unwrap();
    (RTree::parse(&mut ByteReader::new(&bytes), &kinds, FormatVersion::DEFAULT).unwrap(), kinds)
}

fn written(tree: &RTree, version: FormatVersion) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    tree.write(&mut writer, version);
    writer.into_bytes()
}

#[test]
fn read_and_written_again() {
    for (name, kinds, bytes) in trees() {
        let mut reader = ByteReader::new(&bytes);
        let tree = RTree::parse(&mut reader, &kinds, FormatVersion::DEFAULT).unwrap();
        reader.finish("tree").unwrap();
        assert_eq!(written(&tree, FormatVersion::DEFAULT), bytes, "{name}");
    }
}

#[test]
fn built_anew_from_the_tiles() {
    for (name, kinds, bytes) in trees() {
        let parsed = RTree::parse(&mut ByteReader::new(&bytes), &kinds, FormatVersion::DEFAULT).unwrap();
        let tiles: Vec<NdRange> = (0..parsed.leaf_count()).map(|tile| parsed.mbr(tile).unwrap()).collect();
        let built = RTree::build(&kinds, &tiles, RTree::FANOUT).unwrap();
        assert_eq!(written(&built, FormatVersion::DEFAULT), bytes, "{name}");
        assert_eq!(built, parsed, "{name}");
        // Fragments of the oldest versions store only the MBRs of tiles.
        let mut writer = ByteWriter::new();
        parsed.write_mbrs(&mut writer);
        assert_eq!(RTree::parse_mbrs(&mut ByteReader::new(writer.as_slice()), &kinds).unwrap(), parsed, "{name}");
    }
}

#[test]
fn levels_grow_at_powers_of_the_fanout() {
    let levels = |tiles: usize| {
        let name = format!("int32-{tiles}");
        let (tree, _) = tree(&name);
        assert_eq!(tree.leaf_count(), tiles as u64);
        tree.level_count()
    };
    assert_eq!([1, 9, 10, 11, 99, 100, 101, 1000].map(levels), [1, 2, 2, 3, 3, 3, 4, 4]);
}

#[test]
fn a_dense_fragment_has_a_tree_without_levels() {
    let kinds = [DimensionKind::fixed(Datatype::Int32)];
    let bytes = [10, 0, 0, 0, 0, 0, 0, 0];
    let tree = RTree::parse(&mut ByteReader::new(&bytes), &kinds, FormatVersion::DEFAULT).unwrap();
    assert_eq!((tree.level_count(), tree.leaf_count(), tree.mbr(0)), (0, 0, None));
    assert_eq!(tree.search(&[vec![DimRange::everything(kinds[0])]]).unwrap().count(), 0);
    assert_eq!(written(&tree, FormatVersion::DEFAULT), bytes);
    assert_eq!(RTree::build(&kinds, &[], RTree::FANOUT).unwrap(), tree);
}

#[test]
fn combined_coordinates_have_a_longer_header() {
    let (tree, kinds) = tree("int32-11");
    let version = FormatVersion::new(4).unwrap();
    let bytes = written(&tree, version);
    assert_eq!(bytes[..17], [1, 0, 0, 0, 10, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(RTree::parse(&mut ByteReader::new(&bytes), &kinds, version).unwrap(), tree);
}

#[test]
fn searched() {
    let (tree, _) = tree("int32-1000");
    let between = |lo, hi| vec![vec![DimRange::between(Scalar::I32(lo), Scalar::I32(hi)).unwrap()]];
    let found = |query: &[Vec<DimRange>]| tree.search(query).unwrap().collect::<Vec<_>>();
    assert_eq!(found(&between(31, 32)), []);
    assert_eq!(found(&between(30, 36)), [(10, Coverage::Full), (11, Coverage::Full), (12, Coverage::Full)]);
    assert_eq!(found(&between(i32::MIN, i32::MAX)).len(), 1000);
}

/// A NaN bound is meaningless, because a writer's comparisons with NaN are always false. Tiles with
/// such MBRs are always candidates. The inner nodes of the reference library's tree do not contain
/// them, but must not hide them.
#[test]
fn tiles_with_nan_are_always_candidates() {
    let (tree, kinds) = tree("float64-nan");
    let nan = |tile: &u64| format!("{}", tree.mbr(*tile).unwrap().display(&kinds)).contains("NaN");
    let with_nan: Vec<u64> = (0..tree.leaf_count()).filter(nan).collect();
    assert_eq!(with_nan.len(), 6);
    let far = [vec![DimRange::between(Scalar::F64(8.0), Scalar::F64(9.0)).unwrap()]];
    let found: Vec<_> = tree.search(&far).unwrap().collect();
    assert_eq!(found, with_nan.iter().map(|tile| (*tile, Coverage::Partial)).collect::<Vec<_>>());
}

#[test]
fn zeros_are_equal() {
    let (tree, _) = tree("float32-zeros-0");
    for (lo, hi) in [(0.0, 1.0), (-1.0, -0.0), (0.0, -0.0), (-0.0, 0.0)] {
        let query = [vec![DimRange::between(Scalar::F32(lo), Scalar::F32(hi)).unwrap()]];
        let found: Vec<_> = tree.search(&query).unwrap().collect();
        assert!(found.len() == 30 && found.iter().all(|tile| tile.1 == Coverage::Full), "{lo} {hi}: {found:?}");
    }
    let query = [vec![DimRange::between(Scalar::F32(f32::MIN_POSITIVE), Scalar::F32(1.0)).unwrap()]];
    assert_eq!(tree.search(&query).unwrap().count(), 0);
}

#[test]
fn wrong_inner_nodes_hide_no_tiles() {
    let (tree, kinds) = tree("int32-101");
    assert!(tree.is_covering());
    let mut bytes = written(&tree, FormatVersion::DEFAULT);
    // The root's upper bound, after header, number of MBRs and lower bound.
    bytes[20..24].copy_from_slice(&5i32.to_le_bytes());
    let lying = RTree::parse(&mut ByteReader::new(&bytes), &kinds, FormatVersion::DEFAULT).unwrap();
    assert!(!lying.is_covering());
    let query = [vec![DimRange::between(Scalar::I32(100), Scalar::I32(250)).unwrap()]];
    let found: Vec<_> = lying.search(&query).unwrap().collect();
    assert_eq!((found.len(), &found), (50, &tree.search(&query).unwrap().collect()));
    assert_eq!(written(&lying, FormatVersion::DEFAULT), bytes);
}

#[test]
fn recorded() {
    let mut text = String::new();
    for name in ["string-empty-12", "int16-string-30"] {
        let (_, kinds, bytes) = trees().into_iter().find(|tree| tree.0 == name).unwrap();
        let spans = Spans::new();
        let mut reader = ByteReader::new(&bytes).recording(&spans, 0);
        RTree::parse(&mut reader, &kinds, FormatVersion::DEFAULT).unwrap();
        let spans = spans.into_spans();
        assert!(
            spans.iter().filter(|span| !span.value.is_empty()).map(|span| span.len).sum::<u64>() == bytes.len() as u64
        );
        writeln!(text, "{name}").unwrap();
        for span in spans.iter().take(40) {
            let indent = usize::try_from(span.depth).unwrap() * 2 + 2;
            let value = [&*span.name, &span.value, &span.meaning].join(" ");
            writeln!(text, "{:>#6x} {:>4}{:indent$}{}", span.offset, span.len, "", value.trim()).unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn ranges_of_empty_strings_by_old_writers_tell_nothing() {
    let kinds = [DimensionKind::var(Datatype::StringAscii)];
    let mbrs = [("a", "c"), ("", ""), ("d", "e")].map(|(lo, hi)| NdRange(vec![DimRange::strings(lo, hi)]));
    let tree = RTree::build(&kinds, &mbrs, RTree::FANOUT).unwrap();
    for version in FormatVersion::all().filter(|version| !version.has(Feature::CombinedCoordinates)) {
        let bytes = written(&tree, version);
        let read = RTree::parse(&mut ByteReader::new(&bytes), &kinds, version).unwrap();
        let query = [vec![DimRange::strings("d", "d")]];
        let found: Vec<_> = read.search(&query).unwrap().map(|(tile, _)| tile).collect();
        let old = version.has(Feature::UncertainStringRanges);
        assert_eq!(found, if old { vec![1, 2] } else { vec![2] }, "version {version}");
        let everything = [vec![DimRange::strings_from("")]];
        assert_eq!(read.search(&everything).unwrap().count(), 3);
        let end = if old { DimRange::strings_from("") } else { DimRange::strings("", "") };
        assert_eq!(read.bounds(1), Some(NdRange(vec![end])));
        assert_eq!(written(&read, version), bytes);
    }
}

/// A parent of several nodes that begin at the empty string ends where its last child ends, or at
/// the empty string.
#[test]
fn ranges_that_begin_at_the_empty_string_by_old_writers_have_no_end() {
    let kinds = [DimensionKind::var(Datatype::StringAscii)];
    let mbrs = [("", "b"), ("c", "e")].map(|(lo, hi)| NdRange(vec![DimRange::strings(lo, hi)]));
    let tree = RTree::build(&kinds, &mbrs, RTree::FANOUT).unwrap();
    for version in FormatVersion::all().filter(|version| !version.has(Feature::CombinedCoordinates)) {
        let mut bytes = written(&tree, version);
        // The root's end precedes the tiles' ends.
        let end = bytes.iter().position(|byte| *byte == b'e').unwrap();
        bytes[end] = b'b';
        let Ok(read) = RTree::parse(&mut ByteReader::new(&bytes), &kinds, version) else { panic!("{version}") };
        let found = |at: &str| {
            let query = [vec![DimRange::strings(at, at)]];
            read.search(&query).unwrap().map(|(tile, _)| tile).collect::<Vec<_>>()
        };
        let old = version.has(Feature::UncertainStringRanges);
        assert_eq!(found("d"), if old { vec![0, 1] } else { vec![1] }, "version {version}");
        assert_eq!(found("a"), [0]);
        assert_eq!((read.is_covering(), read.bounds(1)), (old, Some(mbrs[1].clone())));
        assert_eq!(written(&read, version), bytes);
    }
}

#[test]
fn ranges_of_dates_that_nobody_computed_tell_nothing() {
    let dates = [DimensionKind::fixed(Datatype::DatetimeDay)];
    let bytes_of = |ranges: &[[i64; 2]]| {
        let mut writer = ByteWriter::new();
        writer.u32(1);
        writer.u32(RTree::FANOUT);
        Datatype::DatetimeDay.write(&mut writer);
        writer.u32(1);
        writer.u64(ranges.len() as u64);
        ranges.as_flattened().iter().for_each(|end| writer.bytes(&end.to_le_bytes()));
        writer.into_bytes()
    };
    let version = FormatVersion::new(4).unwrap();
    let bytes = bytes_of(&[[0, -1], [5, 9]]);
    let tree = RTree::parse(&mut ByteReader::new(&bytes), &dates, version).unwrap();
    let found = |tree: &RTree, lo, hi| {
        let query = [vec![DimRange::between(Scalar::I64(lo), Scalar::I64(hi)).unwrap()]];
        tree.search(&query).unwrap().collect::<Vec<_>>()
    };
    assert_eq!(found(&tree, -100, -50), [(0, Coverage::Partial), (1, Coverage::Partial)]);
    assert_eq!(tree.bounds(1), Some(NdRange(vec![DimRange::everything(dates[0])])));
    assert_eq!(written(&tree, version), bytes);
    // Later versions are trusted.
    let later = FormatVersion::new(5).unwrap();
    let bytes = written(&RTree::build(&dates, &[tree.mbr(1).unwrap()], RTree::FANOUT).unwrap(), later);
    let tree = RTree::parse(&mut ByteReader::new(&bytes), &dates, later).unwrap();
    assert_eq!(found(&tree, -100, -50), []);
    assert_eq!(found(&tree, 0, 9), [(0, Coverage::Full)]);
}
