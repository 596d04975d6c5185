use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_types::{CellValNum, Datatype, FormatVersion, Scalar};

use super::*;
use crate::field::FragmentField;
use crate::footer::FragmentFooter;
use crate::header::FooterHeader;
use crate::layout::Lists;

/// A fragment with a single tile of 10 cells, and the rules for its attribute.
fn fragment(number: u32, dense: bool, attribute: Attribute) -> (FragmentFooter, StatisticsRules) {
    fragment_of(number, dense, vec![attribute], 1)
}

/// A fragment with tiles of 10 cells, and the rules for its first attribute.
fn fragment_of(number: u32, dense: bool, attributes: Vec<Attribute>, tiles: i32) -> (FragmentFooter, StatisticsRules) {
    let version = FormatVersion::new(number).unwrap();
    let dimension = Dimension::new("d", 0i32..=99);
    let dimension = dimension.with_tile(10);
    let builder = if dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    let builder = builder.version(version).capacity(10).dimension(dimension);
    let schema: ArraySchema = attributes.into_iter().fold(builder, SchemaBuilder::attribute).build().unwrap();
    let domain = DimRange::between(Scalar::I32(0), Scalar::I32(10 * tiles - 1)).unwrap();
    let header = FooterHeader {
        non_empty_domain: Some(NdRange(vec![domain])),
        sparse_tile_count: if dense { 0 } else { u64::try_from(tiles).unwrap() },
        last_tile_cells: 10,
        ..FooterHeader::new(version, "__1_1_0", dense)
    };
    let lists = Lists::zeroed(version, &header.slots(&schema));
    let footer = FragmentFooter::new(header, lists, Vec::new(), &schema).unwrap();
    let rules = StatisticsRules::new(&footer, &schema, FragmentField::Attribute(0)).unwrap();
    (footer, rules)
}

fn statistics(min: &[u8], max: &[u8], sum: u64, null_count: u64) -> TileStatistics {
    let fixed = |bytes: &[u8]| TileValues::Fixed { size: bytes.len(), bytes: bytes.to_vec() };
    TileStatistics { mins: fixed(min), maxs: fixed(max), sums: vec![sum], null_counts: vec![null_count] }
}

fn int32() -> Attribute {
    Attribute::new("a", Datatype::Int32)
}

fn chars() -> Attribute {
    Attribute::new("a", Datatype::Char).with_cell_val_num(CellValNum::from_code(2).unwrap())
}

#[test]
fn statistics_of_numbers_are_reliable() {
    let (footer, rules) = fragment(22, false, int32().nullable(false));
    let stored = statistics(&(-5i32).to_le_bytes(), &7i32.to_le_bytes(), (-3i64).cast_unsigned(), 4);
    let found = stored.tile(0, footer.tiles(), &rules);
    assert_eq!(found.min.trusted(), Some(&(-5i32).to_le_bytes()[..]));
    assert_eq!(found.max.trusted(), Some(&7i32.to_le_bytes()[..]));
    assert_eq!(found.sum, Statistic::Present(Sum::I64(-3)));
    assert_eq!(found.null_count, Statistic::Present(4));
    let beyond = stored.tile(1, footer.tiles(), &rules);
    assert_eq!((beyond.min, beyond.sum, beyond.null_count), (Statistic::Absent, Statistic::Absent, Statistic::Absent));
}

#[test]
fn a_tile_of_nulls_has_no_minimum() {
    let (footer, rules) = fragment(22, false, int32().nullable(false));
    let found = statistics(&[0; 4], &[0; 4], 0, 10);
    let found = found.tile(0, footer.tiles(), &rules);
    assert_eq!((found.min, found.max), (Statistic::Absent, Statistic::Absent));
    let impossible = statistics(&[0; 4], &[0; 4], 0, 11);
    let impossible = impossible.tile(0, footer.tiles(), &rules);
    assert_eq!(impossible.null_count, Statistic::Untrustworthy(11, UntrustedReason::Impossible));
}

#[test]
fn fields_that_are_not_nullable_have_no_nulls() {
    let (footer, rules) = fragment(22, false, int32());
    let found = TileStatistics::default();
    assert_eq!(found.tile(0, footer.tiles(), &rules).null_count, Statistic::Present(0));
}

#[test]
fn initial_values_are_absent() {
    let (footer, rules) = fragment(22, false, int32());
    let totals = FieldTotals {
        min: i32::MAX.to_le_bytes().to_vec(),
        max: i32::MIN.to_le_bytes().to_vec(),
        ..FieldTotals::default()
    };
    assert_eq!(totals.judge(footer.tiles(), &rules).min, Statistic::Absent);
}

#[test]
fn a_nan_makes_bounds_unreliable() {
    let (footer, rules) = fragment(22, false, Attribute::new("a", Datatype::Float64));
    let bounds = |sum: f64| {
        let stored = statistics(&1f64.to_le_bytes(), &2f64.to_le_bytes(), sum.to_bits(), 0);
        let found = stored.tile(0, footer.tiles(), &rules);
        (found.min.trusted().is_some(), found.sum.trusted().is_some())
    };
    assert_eq!(bounds(3.0), (true, true));
    assert_eq!(bounds(f64::NAN), (false, true));
    assert_eq!(bounds(f64::MAX), (false, false));
    assert_eq!(bounds(f64::NEG_INFINITY), (false, false));
}

#[test]
fn saturated_sums() {
    for (datatype, sum) in [(Datatype::Int8, i64::MIN.cast_unsigned()), (Datatype::UInt8, u64::MAX)] {
        let (footer, rules) = fragment(22, false, Attribute::new("a", datatype));
        let stored = statistics(&[1], &[2], sum, 0);
        let found = stored.tile(0, footer.tiles(), &rules);
        assert!(matches!(found.sum, Statistic::Untrustworthy(_, UntrustedReason::Saturated)), "{datatype}: {found:?}");
        assert_eq!(found.min, Statistic::Present(&[1][..]));
    }
}

#[test]
fn strings() {
    let min = |number, dense, attribute: Attribute, value: &[u8]| {
        let (footer, rules) = fragment(number, dense, attribute);
        match statistics(value, b"zz", 0, 1).tile(0, footer.tiles(), &rules).min {
            Statistic::Untrustworthy(_, why) => Some(why),
            Statistic::Present(_) => None,
            Statistic::Absent => panic!("absent"),
        }
    };
    assert_eq!(min(22, false, chars(), b"ab"), None);
    assert_eq!(min(22, false, chars(), b"a\0"), Some(UntrustedReason::ComparedUpToNul));
    assert_eq!(min(21, false, chars().nullable(false), b"ab"), None);
    assert_eq!(min(20, false, chars().nullable(false), b"ab"), Some(UntrustedReason::FixedStringsBefore21));
    assert_eq!(min(20, false, chars(), b"ab"), Some(UntrustedReason::FixedStringsBefore21));
    let var = || Attribute::new("a", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    assert_eq!(min(20, false, var(), b"ab"), None);
    assert_eq!(min(22, false, var().nullable(false), b"ab"), None);
    assert_eq!(min(22, true, var().nullable(false), b"ab"), Some(UntrustedReason::DenseNullable));
    assert_eq!(min(22, true, var(), b"ab"), None);
}

#[test]
fn totals_of_strings() {
    let totals =
        |min: &[u8], max: &[u8]| FieldTotals { min: min.to_vec(), max: max.to_vec(), ..FieldTotals::default() };
    let var = Attribute::new("a", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let (footer, rules) = fragment(22, false, var);
    assert_eq!(totals(b"", b"b").judge(footer.tiles(), &rules).min, Statistic::Present(&b""[..]));
    assert_eq!(totals(b"", b"").judge(footer.tiles(), &rules).min, Statistic::Absent);
    let (footer, rules) = fragment_of(22, false, vec![chars().nullable(false)], 2);
    let why = UntrustedReason::NullableStringTotals;
    assert_eq!(totals(b"aa", b"bb").judge(footer.tiles(), &rules).min, Statistic::Untrustworthy(&b"aa"[..], why));
}

#[test]
fn sums_may_return_from_the_end_of_their_range() {
    let sum = |dense, tiles, datatype, max: u64| {
        let (footer, rules) = fragment_of(22, dense, vec![Attribute::new("a", datatype)], tiles);
        let max = max.to_le_bytes()[..datatype.size()].to_vec();
        let totals = FieldTotals { min: vec![0; datatype.size()], max, sum: 5, null_count: 0 };
        let judged = totals.judge(footer.tiles(), &rules);
        (judged.sum.trusted().is_some(), judged.max.trusted().is_some())
    };
    let large = i64::MAX.cast_unsigned();
    assert_eq!(sum(false, 1, Datatype::Int64, large), (true, true), "one pass shows the overflow");
    assert_eq!(sum(true, 1, Datatype::Int64, large), (false, true), "slabs");
    assert_eq!(sum(false, 2, Datatype::Int64, large), (false, true), "tiles");
    assert_eq!(sum(true, 2, Datatype::Int64, large / 20), (true, true), "too small to reach the end");
    assert_eq!(sum(true, 2, Datatype::UInt64, large / 10), (true, true), "too small to reach the end");
    assert_eq!(sum(true, 2, Datatype::Int32, 1), (true, true), "too narrow to reach the end");
    assert_eq!(sum(true, 1, Datatype::Float64, 1e280f64.to_bits()), (true, true), "far from the end");
    assert_eq!(sum(true, 1, Datatype::Float64, 1e300f64.to_bits()), (false, false), "near the end");
    assert_eq!(sum(false, 2, Datatype::Float64, 1f64.to_bits()), (false, false), "NaNs of two tiles");
}

#[test]
fn edge_tiles_have_only_bounds() {
    let (_, rules) = fragment(22, true, int32());
    let (footer, _) = fragment_of(22, true, vec![int32()], 3);
    let mut header = footer.header().clone();
    header.non_empty_domain = Some(NdRange(vec![DimRange::between(Scalar::I32(5), Scalar::I32(29)).unwrap()]));
    let dimension = Dimension::new("d", 0i32..=99);
    let dimension = dimension.with_tile(10);
    let schema = SchemaBuilder::dense().dimension(dimension).attribute(int32()).build().unwrap();
    let footer = FragmentFooter::new(header, footer.lists().clone(), Vec::new(), &schema).unwrap();
    let stored = TileStatistics {
        mins: TileValues::Fixed { size: 4, bytes: vec![1; 12] },
        maxs: TileValues::Fixed { size: 4, bytes: vec![2; 12] },
        sums: vec![3; 3],
        null_counts: Vec::new(),
    };
    let first = stored.tile(0, footer.tiles(), &rules);
    assert_eq!((first.min.trusted(), first.min.bound()), (None, Some(&[1; 4][..])));
    assert_eq!(first.sum, Statistic::Untrustworthy(Sum::I64(3), UntrustedReason::EdgeTile));
    assert_eq!(stored.tile(1, footer.tiles(), &rules).min, Statistic::Present(&[1; 4][..]));
}

#[test]
fn values_of_other_tiles() {
    let var = || Attribute::new("a", Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let distrust = |dense, attributes: usize, tiles| {
        let attributes = (0..attributes).map(|index| match index {
            0 => var(),
            _ => Attribute::new(format!("b{index}"), Datatype::Int32),
        });
        let (footer, rules) = fragment_of(22, dense, attributes.collect(), tiles);
        let totals = FieldTotals { min: b"a".to_vec(), max: b"b".to_vec(), ..FieldTotals::default() };
        totals.judge(footer.tiles(), &rules).min.trusted().is_none()
    };
    assert!(distrust(true, 3, 2));
    assert!(!distrust(true, 2, 2) && !distrust(true, 3, 1) && !distrust(false, 3, 2));
}

#[test]
fn uncounted_nulls() {
    let wide = |cell_val_num| Attribute::new("a", Datatype::StringUtf8).with_cell_val_num(cell_val_num).nullable(false);
    for attribute in [wide(CellValNum::ONE), wide(CellValNum::Var)] {
        let (footer, rules) = fragment(22, false, attribute);
        let found = FieldTotals::default().judge(footer.tiles(), &rules).null_count;
        assert_eq!(found, Statistic::Untrustworthy(0, UntrustedReason::NeverCounted));
    }
}

#[test]
fn a_value_of_another_size_is_impossible() {
    let (footer, rules) = fragment(22, false, int32());
    let totals = FieldTotals { min: vec![1, 2], max: vec![3, 4], ..FieldTotals::default() };
    assert!(matches!(
        totals.judge(footer.tiles(), &rules).min,
        Statistic::Untrustworthy(_, UntrustedReason::Impossible)
    ));
}
