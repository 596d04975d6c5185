//! Advice on commit, footer and metadata files and on superseded files, from plans of consolidation
//! and vacuum.

use std::collections::BTreeMap;

use tdb_array::{Fragment, Group};

use crate::advice::{Advice, AdviceKind, AdviceLevel, AdvisedCommand, Figure};
use crate::costs::{Costs, NAMES_PER_LIST, SHARE};
use crate::seen::Seen;
use tdb_job::{Bytes, MaintainError, Result};
use tdb_maintain::Action;
use tdb_maintain::Consolidate;
use tdb_maintain::Plan;
use tdb_maintain::Savings;
use tdb_maintain::Vacuum;

/// Returns a plan that has steps. Returns `None` if the plan is empty, the format does not support
/// the operation, or another process is performing the operation. Returns an error only if reading
/// fails.
fn possible(plan: Result<Plan>) -> Result<Option<Plan>> {
    match plan {
        Ok(plan) if plan.is_empty() => Ok(None),
        Ok(plan) => Ok(Some(plan)),
        Err(error @ (MaintainError::Array(_) | MaintainError::Storage(_))) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns the number of saved requests: reads and listing responses.
fn requests(savings: Savings) -> u64 {
    savings.reads.saturating_add(savings.names / NAMES_PER_LIST)
}

fn consolidation(
    seen: &Seen,
    kind: AdviceKind,
    plan: Option<Plan>,
    what: impl Fn(Savings) -> String,
) -> Option<Advice> {
    let savings = plan?.savings();
    let figures = vec![
        Figure::count("files read one by one", savings.reads, 0),
        Figure::count("names in listings", savings.names, 0),
    ];
    let remedy = vec![AdvisedCommand::new("consolidate", ["--what", kind.name()]), AdvisedCommand::plain("vacuum")];
    Some(seen.advice(kind, None, what(savings), figures, seen.costs.of(requests(savings), 0), remedy))
}

/// Returns advice on commits, footers and metadata.
pub(super) fn small_files(seen: &Seen, has_many_fragments: bool) -> Result<Vec<Advice>> {
    let array = &seen.array;
    let mut advice = Vec::new();
    let plan = possible(Consolidate::commits().plan(array))?;
    advice.extend(consolidation(seen, AdviceKind::Commits, plan, |savings| {
        format!(
            "each commit has a separate file: opening the array lists {} more names and reads {} more files than necessary",
            savings.names, savings.reads
        )
    }));
    // Fewer fragments help more than consolidated footers.
    if !has_many_fragments {
        let plan = possible(Consolidate::footers().plan(array))?;
        advice.extend(consolidation(seen, AdviceKind::Footers, plan, |savings| {
            format!("each fragment footer is read separately: {} more reads than necessary", savings.reads)
        }));
    }
    let plan = possible(Consolidate::metadata().plan(array))?;
    advice.extend(consolidation(seen, AdviceKind::Metadata, plan, |savings| {
        format!("each metadata file is read separately: {} more reads than necessary", savings.reads)
    }));
    Ok(advice)
}

/// Returns `true` if a vacuum may have to count cells to check that no cell is missing. This is the
/// case if a replacement has fewer cells than the superseded fragments and does not end with a
/// partial tile.
fn needs_cells(seen: &Seen) -> Result<bool> {
    if seen.schema().is_dense() || seen.array.directory().replaced.is_empty() {
        return Ok(false);
    }
    let (replaced, _) = seen.array.superseded_fragments()?;
    let times = |fragment: &Fragment| (fragment.name().start(), fragment.name().end());
    let mut together: BTreeMap<(u64, u64), Vec<&Fragment>> = BTreeMap::new();
    for fragment in seen.fragments()?.iter().chain(&replaced) {
        together.entry(times(fragment)).or_default().push(fragment);
    }
    let cells = |sum: u64, fragment: &Fragment| sum.saturating_add(fragment.cell_count());
    let is_in_doubt = |(&(start, end), new): (&(u64, u64), &Vec<&Fragment>)| {
        let is_older = |fragment: &&Fragment| {
            let (from, to) = times(fragment);
            start <= from && to <= end && (from, to) != (start, end)
        };
        let older = replaced.iter().filter(is_older).fold(0, cells);
        let ends_early = |fragment: &Fragment| {
            let last = fragment.tile_count().checked_sub(1).and_then(|last| fragment.cells_in_tile(last));
            last.is_some_and(|cells| cells < fragment.schema().capacity())
        };
        let is_whole = matches!(new[..], [only] if ends_early(only));
        !is_whole && new.iter().copied().fold(0, cells) < older
    };
    Ok(together.iter().any(is_in_doubt))
}

/// Returns advice on files that a vacuum would delete. Unless `may_read_cells` is `true`, returns
/// `None` if the plan of the vacuum might read cells.
pub(super) fn replaced(seen: &Seen, may_read_cells: bool) -> Result<Option<Advice>> {
    if !may_read_cells && needs_cells(seen)? {
        return Ok(None);
    }
    let Some(plan) = possible(Vacuum::all().plan(&seen.array))? else { return Ok(None) };
    let steps = plan.steps().filter(|step| step.action == Action::Remove);
    let (files, bytes) = steps.fold((0, 0), |(files, bytes): (u64, u64), step| (files + 1, bytes + step.bytes));
    let live = seen.stored.saturating_add(seen.metadata);
    let share = live / SHARE;
    if bytes < share && files < NAMES_PER_LIST {
        return Ok(None);
    }
    let mut what = format!(
        "{files} superseded files and folders take {}: readers ignore them, but copies and listings include them",
        Bytes(bytes)
    );
    if plan.past().next().is_some() {
        what.push_str(". A vacuum also ends reads at times before the consolidation");
    }
    let figures =
        vec![Figure::bytes("superseded bytes", bytes, 0), Figure::count("superseded files and folders", files, 0)];
    let saves = seen.costs.of(files, bytes);
    Ok(Some(seen.advice(AdviceKind::Replaced, None, what, figures, saves, vec![AdvisedCommand::plain("vacuum")])))
}

/// Returns advice on a group, which has only metadata.
pub(super) fn of_group(group: &Group, costs: Costs) -> Result<Vec<Advice>> {
    let mut advice = Vec::new();
    if let Some(plan) = possible(Consolidate::metadata().plan(group))? {
        let savings = plan.savings();
        let what = format!("each metadata file is read separately: {} more reads than necessary", savings.reads);
        let figures = vec![Figure::count("files read one by one", savings.reads, 0)];
        let saves = costs.of(requests(savings), 0);
        let remedy = vec![AdvisedCommand::new("consolidate", ["--what", "metadata"]), AdvisedCommand::plain("vacuum")];
        advice.push(Advice {
            kind: AdviceKind::Metadata,
            level: costs.level(saves),
            field: None,
            what,
            figures,
            saves,
            remedy,
        });
    }
    advice.retain(|advice| advice.level != AdviceLevel::Note);
    Ok(advice)
}
