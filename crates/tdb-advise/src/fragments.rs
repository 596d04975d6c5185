//! Advice on fragments: number, overlap, and hidden cells.

use tdb_array::Fragment;
use tdb_array::tdb_rtree::NdRange;

use crate::advice::{Advice, AdviceKind, AdvisedCommand, Figure};
use crate::costs::{PLACES, SHARE, percent};
use crate::seen::{Seen, data_bytes, middle, spread};
use tdb_job::{Bytes, Result};
use tdb_maintain::ConsolidateFragments;

/// Suggests consolidating fragments.
pub(super) fn many(seen: &Seen) -> Result<Option<Advice>> {
    let fragments = seen.fragments()?;
    let now = fragments.len() as u64;
    if now < 2 {
        return Ok(None);
    }
    let plan = ConsolidateFragments::new().plan(&seen.array)?;
    let joined: u64 = plan.steps().iter().map(|step| step.fragments.len() as u64).sum();
    let then = now.saturating_sub(joined).saturating_add(plan.steps().len() as u64);
    let rewritten = plan.steps().iter().fold(0, |sum: u64, step| sum.saturating_add(step.bytes));
    if then >= now {
        return Ok(None);
    }
    // Requests per fragment: footer, R-tree, the tile offsets of each file, and the files.
    let files: u64 = fragments.iter().map(files_of).sum();
    let opening = seen.opening_requests();
    let footers = now.min(opening);
    let requests = |of: u64| {
        let sections = if seen.schema().is_dense() { files } else { files + now };
        (opening - footers).saturating_add(super::costs::scaled(footers + sections + files, of, now))
    };
    let (before, after) = (requests(now), requests(then));
    let saves = seen.costs.of(before - after, 0);
    // If reading takes long anyway, consolidation is much work for a small saving.
    if saves < seen.costs.of(before, seen.stored) / u32::try_from(SHARE).unwrap_or(1) {
        return Ok(None);
    }
    let depth = depth(fragments);
    let mut what = format!(
        "{now} fragments of {} on average can become {then}: opening the array and reading tiles takes separate requests for each fragment",
        Bytes(seen.stored / now)
    );
    if depth > 1 {
        what.push_str(&format!(
            ". About {depth} fragments overlap at each cell, and a read of the cell fetches a tile of each"
        ));
    }
    let figures = vec![
        Figure::count("fragments", now, then),
        Figure::count("requests to open the array", opening, (opening - footers).saturating_add(footers * then / now)),
        Figure::count("requests to read the whole array", before, after),
        Figure::count("overlapping fragments", depth, 1),
        Figure::bytes("bytes written by consolidation, at most", rewritten, None),
    ];
    let remedy = vec![AdvisedCommand::plain("consolidate"), AdvisedCommand::plain("vacuum")];
    Ok(Some(seen.advice(AdviceKind::Fragments, None, what, figures, saves, remedy)))
}

fn files_of(fragment: &Fragment) -> u64 {
    fragment.footer().slots().iter().map(|field| fragment.files_of(field).len() as u64).sum()
}

/// Returns the mean number of fragments whose domain contains a point. Uses the centers of an even
/// selection of domains.
fn depth(fragments: &[Fragment]) -> u64 {
    let domains: Vec<&NdRange> = fragments.iter().filter_map(Fragment::non_empty_domain).collect();
    let places = spread(domains.len(), PLACES);
    let over = |place: &usize| {
        let at = middle(domains[*place]);
        domains.iter().filter(|domain| domain.contains(&at)).count() as u64
    };
    let sum: u64 = places.iter().map(over).sum();
    if places.is_empty() { 1 } else { (sum + places.len() as u64 / 2) / places.len() as u64 }
}

/// Returns advice on dense fragments that newer fragments overwrite completely.
pub(super) fn overwritten(seen: &Seen) -> Result<Option<Advice>> {
    let fragments = seen.fragments()?;
    if !seen.schema().is_dense() || fragments.len() < 2 {
        return Ok(None);
    }
    // The number is bounded because each fragment is compared with all newer ones.
    let chosen = spread(fragments.len(), PLACES * 16);
    let is_hidden = |number: &usize| {
        let Some(own) = fragments[*number].non_empty_domain() else { return false };
        let newer = fragments[number + 1..].iter().filter(|newer| newer.footer().is_dense());
        newer.filter_map(Fragment::non_empty_domain).any(|newer| newer.contains(own))
    };
    let hidden: Vec<usize> = chosen.into_iter().filter(is_hidden).collect();
    let bytes = hidden.iter().fold(0_u64, |sum, number| sum.saturating_add(data_bytes(&fragments[*number])));
    if bytes < seen.stored / SHARE || hidden.is_empty() {
        return Ok(None);
    }
    let plan = ConsolidateFragments::new().plan(&seen.array)?;
    if plan.steps().is_empty() {
        return Ok(None);
    }
    let what = format!(
        "{} of {} fragments ({}% of all bytes) contain only cells that newer fragments overwrite: reads still request their footers",
        hidden.len(),
        fragments.len(),
        percent(bytes, seen.stored)
    );
    let figures = vec![Figure::bytes("bytes of data", seen.stored, seen.stored - bytes)];
    let saves = seen.costs.of(hidden.len() as u64, bytes);
    let remedy = vec![AdvisedCommand::plain("consolidate"), AdvisedCommand::plain("vacuum")];
    Ok(Some(seen.advice(AdviceKind::DeadCells, None, what, figures, saves, remedy)))
}
