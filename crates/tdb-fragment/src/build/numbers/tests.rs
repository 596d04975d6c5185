use proptest::prelude::*;

use super::*;

fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn none(physical: PhysicalType) -> Numbers {
    let (min, max) = no_bounds(physical);
    Numbers { min, max, sum: 0 }
}

fn all(physical: PhysicalType, values: &[u8], run: Range<usize>, overflow: Overflow) -> Numbers {
    let mut numbers = none(physical);
    add(physical, &Cells::fixed(values, physical.size()), run, &mut numbers, overflow);
    numbers
}

#[test]
fn sums_stop_at_the_end() {
    let sum = |physical, values: &[u8], run, overflow| all(physical, values, run, overflow).sum;
    let values: Vec<u8> = [i64::MAX - 1, 5, -10].iter().flat_map(|value: &i64| value.to_le_bytes()).collect();
    assert_eq!(sum(PhysicalType::I64, &values, 0..3, Overflow::Stops).cast_signed(), i64::MAX);
    assert_eq!(sum(PhysicalType::I64, &values, 1..3, Overflow::Stops).cast_signed(), -5);
    let each = sum(PhysicalType::I64, &values, 0..3, Overflow::GoesOn);
    assert_eq!(each.cast_signed(), i64::MAX - 10);
    assert_eq!(sum(PhysicalType::U64, &[0xff; 16], 0..2, Overflow::Stops), u64::MAX);
    let values = f64s(&[f64::MAX, f64::MAX, f64::MIN]);
    assert_eq!(f64::from_bits(sum(PhysicalType::F64, &values, 0..3, Overflow::Stops)), f64::MAX);
    assert_eq!(sum(PhysicalType::I8, &[0xff, 0xfe], 0..2, Overflow::Stops).cast_signed(), -3);
}

#[test]
fn a_nan_replaces_the_bounds_and_is_replaced_by_the_next_number() {
    let values = f64s(&[1.0, 9.0, f64::NAN, 4.0, 5.0]);
    let Numbers { min, max, .. } = all(PhysicalType::F64, &values, 0..5, Overflow::Stops);
    assert_eq!((f64::from_le_bytes(min), f64::from_le_bytes(max)), (4.0, 5.0));
}

/// Does the same as [`add`] number by number, like the reference library.
fn plain<T: Number>(cells: &Cells<'_>, run: Range<usize>, to: &mut Numbers, overflow: Overflow) {
    let size = size_of::<T>();
    let (mut min, mut max) = (T::read(&to.min[..size]), T::read(&to.max[..size]));
    let (mut sum, mut stopped) = (T::Sum::from_bits(to.sum), false);
    for cell in run.filter(|cell| cells.is_valid(*cell)) {
        let value = T::read(cells.cell(cell));
        min = if min < value { min } else { value };
        max = if max > value { max } else { value };
        if !stopped {
            let next = sum.plus(value.widen());
            stopped = next.is_err() && overflow == Overflow::Stops;
            sum = next.unwrap_or_else(|end| end);
        }
    }
    *to = Numbers { min: min.write(), max: max.write(), sum: sum.bits() };
}

fn plain_of(physical: PhysicalType, cells: &Cells<'_>, run: Range<usize>, to: &mut Numbers, overflow: Overflow) {
    with_physical!(physical, T => plain::<T>(cells, run, to, overflow));
}

/// Generates the bytes of one number per seed: many of one kind, and a few special values.
fn numbers_of(physical: PhysicalType, kind: u8, seeds: &[(u64, u8)]) -> Vec<u8> {
    let float = |seed: u64, special: u8| match (special, kind) {
        (0, _) => f64::NAN,
        (1, _) => f64::INFINITY,
        (2, _) => -f64::MAX,
        (3, _) => f64::MAX,
        (4, _) => -0.0,
        (5, _) => 0.0,
        (_, 0) => (seed % 1000) as f64,
        (_, 1) => -0.25 * (seed % 7) as f64,
        (_, 2) => f64::from_bits(seed),
        _ => 1e307 * (seed % 100) as f64,
    };
    // Keeps special values rare, for blocks without any.
    let special = |special: u8| if special < 240 { u8::MAX } else { special - 240 };
    let bytes = seeds.iter().flat_map(|(seed, rare)| {
        let bytes: [u8; 8] = match physical {
            PhysicalType::F64 => float(*seed, special(*rare)).to_le_bytes(),
            PhysicalType::F32 => {
                let [a, b, c, d] = (float(*seed, special(*rare)) as f32).to_le_bytes();
                [a, b, c, d, 0, 0, 0, 0]
            }
            _ if kind == 0 => (seed % 100).to_le_bytes(),
            _ if kind == 1 => (seed | 1 << 62).to_le_bytes(),
            _ => seed.to_le_bytes(),
        };
        bytes.into_iter().take(physical.size())
    });
    bytes.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_match_single_numbers(
        kind in 0u8..4,
        before in any::<(u64, u64, u64)>(),
        is_first: bool,
        goes_on: bool,
        seeds in prop::collection::vec(any::<(u64, u8)>(), 0..1200),
        nulls in prop::option::of(0usize..50),
        (from, to) in (0usize..20, 0usize..20),
    ) {
        for physical in PhysicalType::ALL {
            let bytes = numbers_of(physical, kind, &seeds);
            // At most one of the last cells is null.
            let valid: Vec<u8> = (0..seeds.len()).map(|cell| u8::from(Some(seeds.len() - cell) != nulls)).collect();
            let cells = Cells::fixed(&bytes, physical.size()).with_validity(nulls.map(|_| Validity::Bytes(&valid)));
            let run = from.min(seeds.len())..seeds.len().saturating_sub(to).max(from.min(seeds.len()));
            let overflow = if goes_on { Overflow::GoesOn } else { Overflow::Stops };
            let mut found = none(physical);
            if !is_first {
                let word = |bits: u64| {
                    let mut bytes = bits.to_le_bytes();
                    bytes[physical.size()..].fill(0);
                    bytes
                };
                found = Numbers { min: word(before.0), max: word(before.1), sum: before.2 };
            }
            let mut wanted = found;
            add(physical, &cells, run.clone(), &mut found, overflow);
            plain_of(physical, &cells, run, &mut wanted, overflow);
            prop_assert_eq!(found, wanted, "{:?}", physical);
        }
    }
}
