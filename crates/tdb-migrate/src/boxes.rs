//! Which boxes of a dense array are written where its history is left out: what nobody wrote costs nothing, as far as it goes.

use tdb_array::Array;
use tdb_array::tdb_schema::ArraySchema;
use tdb_rtree::{DimRange, NdRange};

use tdb_job::Obstacle;
use tdb_job::Result;
use tdb_rtree::disjoint;

/// One box may have so many times the cells of the tiles that hold any.
const AMPLIFICATION: u128 = 2;
/// Up to so many cells one box around all is taken anyhow.
const SMALL: u128 = 1 << 20;
/// So many boxes are never too many.
const FEW: usize = 64;
/// Beyond that, they may be so many for each fragment.
const PIECES: usize = 4;
/// So many cells are never too many.
const MANY: u128 = 1 << 28;
/// Beyond that, they may be so many times those of the tiles that were stored.
const TIMES: u128 = 256;

/// Boxes of whole tiles of the new array, cut off at the ends of what there is, that hold all cells of a dense array, none twice:
/// one around all, unless most of it would be tiles that nobody wrote anything into.
pub(super) fn boxes(array: &Array, new: &ArraySchema, against: &mut Vec<Obstacle>) -> Result<Vec<NdRange>> {
    let Some(hull) = array.non_empty_domain()? else { return Ok(Vec::new()) };
    let (mut wanted, mut stored) = (Vec::new(), 0_u128);
    for fragment in array.fragments()? {
        let Some(domain) = fragment.non_empty_domain() else { continue };
        stored = stored.saturating_add(match fragment.footer().is_dense() {
            true => cells_in(&whole_tiles(array.schema(), domain)),
            false => u128::from(fragment.footer().tile_count()).saturating_mul(array.schema().capacity().into()),
        });
        wanted.push(whole_tiles(new, domain));
    }
    let mut wanted = disjoint(wanted);
    let needed = cells_in_all(&wanted);
    let whole = whole_tiles(new, &hull);
    if cells_in(&whole) <= SMALL.max(needed.saturating_mul(AMPLIFICATION)) {
        wanted = vec![whole];
    } else {
        wanted = few(&wanted, whole, array.fragments()?.len());
    }
    let cells = cells_in_all(&wanted);
    if cells > MANY.max(stored.saturating_mul(TIMES)) {
        against.push(Obstacle::Spread { cells, stored });
    }
    let cut = |one: NdRange| intersection(&one, &hull);
    Ok(wanted.into_iter().filter_map(cut).collect())
}

/// Boxes around these, none of them over another, and not many more than there were fragments: long ones that cross cut each
/// other into many. The fewer there may be, the more is written that nobody wrote before.
fn few(boxes: &[NdRange], whole: NdRange, fragments: usize) -> Vec<NdRange> {
    let mut amplification = AMPLIFICATION;
    while amplification <= TIMES {
        let joined = disjoint(joined(boxes.to_vec(), amplification));
        if joined.len() <= FEW.max(fragments.saturating_mul(PIECES)) {
            return joined;
        }
        amplification *= 2;
    }
    vec![whole]
}

/// Joins boxes that follow each other where together they have not so many times the cells.
fn joined(boxes: Vec<NdRange>, amplification: u128) -> Vec<NdRange> {
    let with_cells = |one: NdRange| (cells_in(&one), one);
    // Of each how many cells it has to have.
    let mut boxes: Vec<(u128, NdRange)> = boxes.into_iter().map(with_cells).collect();
    loop {
        let before = boxes.len();
        let mut all: Vec<(u128, NdRange)> = Vec::new();
        for (cells, next) in boxes {
            if let Some((needed, last)) = all.last_mut() {
                let mut both = last.clone();
                both.expand(&next);
                let together = needed.saturating_add(cells);
                if cells_in(&both) <= together.saturating_mul(amplification) {
                    (*needed, *last) = (together, both);
                    continue;
                }
            }
            all.push((cells, next));
        }
        boxes = all;
        if boxes.len() == before {
            return boxes.into_iter().map(|(_, one)| one).collect();
        }
    }
}

/// The tiles that a box touches, as a box that ends with the domain's last tile.
fn whole_tiles(schema: &ArraySchema, domain: &NdRange) -> NdRange {
    let along = schema.dimensions().iter().zip(&domain.0).map(|(dimension, range)| {
        let (DimRange::Fixed { lo, hi }, Some((low, _)), Some(extent)) =
            (range, dimension.domain_keys(), dimension.extent_cells())
        else {
            return range.clone();
        };
        let before = |key: u64| key.saturating_sub(low) % extent.max(1);
        let last = extent.max(1) - 1;
        DimRange::Fixed { lo: lo.saturating_sub(before(*lo)), hi: hi.saturating_add(last - before(*hi)) }
    });
    NdRange(along.collect())
}

fn intersection(a: &NdRange, b: &NdRange) -> Option<NdRange> {
    let ranges = a.0.iter().zip(&b.0).map(|(a, b)| a.intersection(b));
    Some(NdRange(ranges.collect::<Option<_>>()?))
}

fn cells_in(domain: &NdRange) -> u128 {
    let along = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => u128::from(hi.saturating_sub(*lo)) + 1,
        DimRange::Var { .. } => 0,
    };
    domain.0.iter().map(along).fold(1, u128::saturating_mul)
}

fn cells_in_all(boxes: &[NdRange]) -> u128 {
    boxes.iter().map(cells_in).fold(0, u128::saturating_add)
}
