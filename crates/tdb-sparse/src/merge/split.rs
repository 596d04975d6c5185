//! Division of a merge into parts for several threads.

use tdb_cells::order::key::Key;

use super::lane::{Lane, Place};

/// Parameters of a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Approximate maximum number of cells of all parts together.
    pub(super) most: usize,
    /// Number of parts.
    pub(super) parts: usize,
    /// Minimum number of cells. Fewer are not divided.
    pub(super) least: usize,
}

/// Number of keys sampled per part to find the boundaries.
const SAMPLES: usize = 128;

/// Returns the start of each part in each lane, followed by the end of the last part. Returns
/// `None` if a division is not worthwhile.
///
/// Cells with equal keys are in the same part. All cells of the parts have keys below `gate`,
/// because unloaded cells may come from `gate` on.
pub(super) fn split<K: Key>(lanes: &[Lane<'_, K>], gate: Option<K>, cut: Cut) -> Option<Vec<Vec<Place>>> {
    let place = |lane: &Lane<'_, K>| match gate {
        Some(gate) => lane.place_of(gate, lane.at),
        None => lane.last_place().max(lane.at),
    };
    let mut ends: Vec<Place> = lanes.iter().map(place).collect();
    let ready = lanes.iter().zip(&ends).flat_map(|(lane, end)| lane.keys_until(*end)).map(<[K]>::len).sum::<usize>();
    if ready.min(cut.most) < cut.least.max(1) || cut.parts < 2 {
        return None;
    }
    let step = (ready / (cut.parts * SAMPLES)).max(1);
    let mut samples = sample(lanes, &ends, step);
    samples.sort_unstable();
    if ready > cut.most.saturating_add(cut.most / 8) {
        samples.truncate((cut.most / step).max(1));
        let end = samples.pop()?;
        ends = lanes.iter().zip(&ends).map(|(lane, most)| lane.place_of(end, lane.at).min(*most)).collect();
    }
    if lanes.iter().zip(&ends).all(|(lane, end)| lane.at >= *end) {
        return None;
    }
    let mut places = vec![lanes.iter().map(|lane| lane.at).collect::<Vec<_>>()];
    for part in 1..cut.parts {
        let Some(key) = samples.get(part * samples.len() / cut.parts) else { continue };
        let begins = places.last().into_iter().flatten();
        let next = begins.zip(lanes).zip(&ends).map(|((begin, lane), end)| lane.place_of(*key, *begin).min(*end));
        let next = next.collect();
        places.push(next);
    }
    let begins = places.last().into_iter().flatten();
    let ends = begins.zip(&ends).map(|(begin, end)| *begin.max(end)).collect();
    places.push(ends);
    Some(places)
}

/// Samples every `step`-th key.
fn sample<K: Key>(lanes: &[Lane<'_, K>], ends: &[Place], step: usize) -> Vec<K> {
    let mut samples = Vec::new();
    // The remainder carries over to the next lane. Otherwise short lanes would not contribute.
    let mut skip = step / 2;
    for keys in lanes.iter().zip(ends).flat_map(|(lane, end)| lane.keys_until(*end)) {
        samples.extend(keys.iter().skip(skip).step_by(step));
        let taken = keys.len().saturating_sub(skip).div_ceil(step);
        skip = skip + taken * step - keys.len();
    }
    samples
}
