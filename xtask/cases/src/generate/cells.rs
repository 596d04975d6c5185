//! Random cells of attributes.

use tdb_types::{Datatype, PhysicalType};

use super::super::random::Random;
use super::filters;
use crate::scalars::float_bytes;
use tdb_reference::model::{AttributeSpec, Bytes, Column};

/// The distribution of a column's values.
#[derive(Clone, Copy)]
enum Style {
    AnyBits,
    Small,
    Runs,
    Constant,
    Extreme,
}

/// Generates a column of `cells` cells. If `full` is `true`, no cell is empty.
pub fn column(random: &mut Random, attribute: &AttributeSpec, cells: usize, full: bool) -> Column {
    let mut source = Source::new(random, attribute);
    source.needs_bytes |= full;
    let size = attribute.datatype.size();
    let mut values = Vec::new();
    let offsets = match attribute.cell_val_num {
        Some(number) => {
            (0..cells * number as usize).for_each(|_| source.push(random, &mut values));
            None
        }
        None => {
            let mut offsets = vec![0];
            let huge = (cells > 0 && source.may_be_huge && random.percent(2)).then(|| random.below(cells));
            for cell in 0..cells {
                let count =
                    if huge == Some(cell) { random.between(60_000, 200_000) / size } else { source.length(random) };
                (0..count).for_each(|_| source.push(random, &mut values));
                offsets.push(values.len() as u64);
            }
            Some(offsets)
        }
    };
    let validity = attribute.nullable.then(|| validity(random, cells));
    Column { name: attribute.name.clone(), values: Bytes(values), offsets, validity }
}

/// Generates single nulls or runs of nulls. Some tiles contain only nulls.
fn validity(random: &mut Random, cells: usize) -> Bytes {
    let (nulls, run) = (*random.pick(&[0, 10, 50, 100]), *random.pick(&[1, 1, 10, 100]));
    let mut validity = Vec::with_capacity(cells);
    while validity.len() < cells {
        let valid = u8::from(!random.percent(nulls));
        let run = random.between(1, run);
        validity.extend(std::iter::repeat_n(valid, run.min(cells - validity.len())));
    }
    Bytes(validity)
}

/// Generates a fill value that the attribute's filters accept.
pub fn fill_value(random: &mut Random, attribute: &AttributeSpec, fill: &mut [u8]) {
    let mut source = Source::new(random, attribute);
    let mut values = Vec::new();
    while values.len() < fill.len() {
        source.push(random, &mut values);
    }
    fill.copy_from_slice(&values);
}

/// Generates the limits of the type and numbers next to zero. For floats, these include zeros of
/// both signs and NaNs.
pub fn extreme(random: &mut Random, size: usize) -> Vec<u8> {
    let mut bytes = vec![*random.pick(&[0, 0xff]); size];
    bytes[size - 1] = *random.pick(&[0, 0x7f, 0x80, 0xff]);
    bytes
}

struct Source {
    datatype: Datatype,
    style: Style,
    scale: Option<(f64, f64)>,
    run: Vec<u8>,
    needs_bytes: bool,
    may_be_huge: bool,
    longest: usize,
}

impl Source {
    fn new(random: &mut Random, attribute: &AttributeSpec) -> Self {
        let filters = &attribute.filters;
        let style = if filters::needs_order(filters) {
            Style::Constant
        } else if filters::needs_small_steps(filters) {
            *random.pick(&[Style::Small, Style::Runs])
        } else {
            *random.pick(&[Style::AnyBits, Style::AnyBits, Style::Small, Style::Runs, Style::Constant, Style::Extreme])
        };
        let needs_bytes = filters::needs_bytes(filters);
        let mut source = Self {
            datatype: attribute.datatype,
            style,
            scale: filters::scale_of(filters),
            run: Vec::new(),
            needs_bytes,
            // The library's string encodings assume lengths up to 255.
            may_be_huge: filters.filters.is_empty(),
            longest: *random.pick(&[1, 4, 4, 30]),
        };
        // All fragments use the same constant, because merged cells must be constant too.
        source.run = vec![b'7'; source.datatype.size()];
        if attribute.datatype.is_float() || attribute.datatype == Datatype::Bool {
            source.run = vec![0; source.datatype.size()];
        }
        source
    }

    fn length(&self, random: &mut Random) -> usize {
        random.between(usize::from(self.needs_bytes), self.longest)
    }

    fn push(&mut self, random: &mut Random, values: &mut Vec<u8>) {
        match self.style {
            Style::Constant => {}
            Style::Runs if random.percent(80) => {}
            _ => self.run = self.value(random),
        }
        values.extend_from_slice(&self.run);
    }

    fn value(&self, random: &mut Random) -> Vec<u8> {
        if let Some((factor, offset)) = self.scale {
            let value = (random.below(200) as f64 - 100.0) * factor * 0.75 + offset;
            return float_bytes(self.datatype, value).0;
        }
        if self.datatype == Datatype::Bool {
            return vec![u8::from(random.percent(50))];
        }
        let size = self.datatype.size();
        match self.style {
            Style::Small | Style::Runs if self.datatype.is_float() => {
                float_bytes(self.datatype, random.below(1000) as f64 / 8.0).0
            }
            Style::Small | Style::Runs => {
                let value = random.integer(-50, 100);
                let unsigned =
                    matches!(self.datatype.physical(), PhysicalType::U16 | PhysicalType::U32 | PhysicalType::U64);
                let value = if unsigned { value.abs() } else { value };
                value.to_le_bytes()[..size].to_vec()
            }
            Style::Extreme => extreme(random, size),
            _ => random.bits().to_le_bytes()[..size].to_vec(),
        }
    }
}
