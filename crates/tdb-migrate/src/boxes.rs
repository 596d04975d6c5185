//! Subarrays to write when the history of a dense array is dropped. Most unwritten cells are left
//! out.

use tdb_array::Array;
use tdb_array::tdb_schema::ArraySchema;

use tdb_job::{Obstacle, Result, cells_in, whole_tiles};
use tdb_rtree::{NdRange, disjoint};

/// Maximum number of cells of a merged subarray, as a multiple of the cells that must be written.
const AMPLIFICATION: u128 = 2;
/// Maximum number of cells for which a single subarray covers all tiles, even if most tiles are
/// unwritten.
const SMALL: u128 = 1 << 20;
/// Always acceptable number of subarrays.
const FEW: usize = 64;
/// Maximum number of subarrays per fragment. Up to [`FEW`] subarrays are always acceptable.
const PIECES: usize = 4;
/// Always acceptable number of cells.
const MANY: u128 = 1 << 28;
/// Maximum number of cells, as a multiple of the cells in stored tiles. Up to [`MANY`] cells are
/// always acceptable.
const TIMES: u128 = 256;

/// Returns disjoint subarrays with all cells of a dense array. Each consists of whole tiles of the
/// new array, clipped to the non-empty domain. The result is the non-empty domain, unless most
/// tiles were never written. Adds an obstacle to `against` if the subarrays contain too many cells.
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
    let cut = |one: NdRange| one.intersection(&hull);
    Ok(wanted.into_iter().filter_map(cut).collect())
}

/// Merges subarrays into a bounded number of disjoint subarrays. Long crossing subarrays would cut
/// each other into many pieces. Fewer subarrays cover more cells that were never written.
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

/// Merges consecutive subarrays within the amplification limit.
fn joined(boxes: Vec<NdRange>, amplification: u128) -> Vec<NdRange> {
    let with_cells = |one: NdRange| (cells_in(&one), one);
    // Each subarray with its number of required cells.
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

fn cells_in_all(boxes: &[NdRange]) -> u128 {
    boxes.iter().map(cells_in).fold(0, u128::saturating_add)
}
