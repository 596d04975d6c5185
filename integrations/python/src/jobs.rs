//! Maintenance jobs.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tdb_advise::Advise;
use tdb_array::tdb_types::FormatVersion;
use tdb_array::{Array, CreateOptions};
use tdb_diff::{Diff, Difference};
use tdb_job::{Target, kind_of};
use tdb_maintain::{Consolidate, ConsolidateFragments, Plan, Vacuum};
use tdb_migrate::Migrate;
use tdb_relocate::{CopyTo, MoveTo, Remove};
use tdb_report::Report;
use tdb_schema_text::additions_from_toml;
use tdb_verify::{Doctor, Rebuild, Verify};

use crate::array::{NativeArray, Opening};
use crate::error::{Failure, Result};
use crate::run::watched;
use crate::value::times;
use crate::watch::Watch;
use crate::write::ids;

/// Runs a job. Calls `progress` with the bytes passed so far, and the expected number if `total`
/// knows it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    watch: &Watch,
    done: impl Fn() -> (u64, Option<u64>) + Send + Sync,
    job: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let progress = progress.map(|progress| progress.clone().unbind());
    let report = |py: Python<'_>| match &progress {
        Some(progress) => progress.call1(py, done()).map(drop),
        None => Ok(()),
    };
    let result = watched(py, &watch.monitor, report, job)?;
    report(py)?;
    Ok(result)
}

/// Opens the array or group of a job.
fn target(opening: &Opening, watch: &Watch) -> Result<Target> {
    let place = opening.place()?;
    let place = place.behind(watch.storage(Arc::clone(&place.storage)));
    let options = opening.options()?;
    Ok(match kind_of(&place.storage)? {
        tdb_array::MemberKind::Group => Target::Group(Box::new(place.group(&options.to_open())?)),
        _ => Target::Array(place.array(&options)?),
    })
}

fn array(opening: &Opening, watch: &Watch) -> Result<Array> {
    match target(opening, watch)? {
        Target::Array(array) => Ok(array),
        Target::Group(_) => Err(Failure::usage(format!("{}: a group; expected an array", opening.uri))),
    }
}

/// The options of a consolidation of fragments, as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FragmentOptions {
    fragments: Option<Vec<String>>,
    between: Option<(Option<u64>, Option<u64>)>,
    steps: Option<u32>,
    min_fragments: Option<usize>,
    max_fragments: Option<usize>,
    size_ratio: Option<f32>,
    amplification: Option<f64>,
    max_fragment_size: Option<u64>,
    purge_deleted: bool,
    flatten_history: bool,
    budget: Option<usize>,
    at: Option<u64>,
}

fn with<T, V>(builder: T, value: Option<V>, set: impl FnOnce(T, V) -> T) -> T {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}

impl FragmentOptions {
    fn job(self) -> ConsolidateFragments {
        let job = ConsolidateFragments::new().purge(self.purge_deleted).flatten_history(self.flatten_history);
        let job = with(job, self.fragments, ConsolidateFragments::fragments);
        let time = self.between.and_then(|(start, end)| times(start, end));
        let job = with(job, time, ConsolidateFragments::between);
        let job = with(job, self.steps, ConsolidateFragments::steps);
        let job = with(job, self.min_fragments, ConsolidateFragments::step_min_fragments);
        let job = with(job, self.max_fragments, ConsolidateFragments::step_max_fragments);
        let job = with(job, self.size_ratio, ConsolidateFragments::step_size_ratio);
        let job = with(job, self.amplification, ConsolidateFragments::amplification);
        let job = with(job, self.max_fragment_size, ConsolidateFragments::max_fragment_size);
        with(job, self.budget, ConsolidateFragments::budget).ids(ids(self.at))
    }
}

/// The replaced fragments, the new fragments, and the cells.
type FragmentStep = (Vec<String>, Vec<String>, u64);

fn names<T: ToString>(names: &[T]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Consolidates fragments, or plans it. Returns the steps, and the remaining fragments.
#[pyfunction]
pub(crate) fn consolidate_fragments(
    py: Python<'_>,
    opening: Opening,
    options: FragmentOptions,
    plan: bool,
    take_over: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(Vec<FragmentStep>, Vec<String>)> {
    let (watch, total) = (Watch::new(), AtomicU64::new(0));
    let done = || (watch.bytes(), Some(total.load(Relaxed)).filter(|total| *total > 0));
    run(py, progress.as_ref(), &watch, done, || {
        let planned = options.job().plan(&array(&opening, &watch)?)?.take_over(take_over);
        let steps = planned.steps().iter();
        if plan {
            let steps = steps.map(|step| (names(&step.fragments), Vec::new(), 0)).collect();
            return Ok((steps, names(planned.remaining())));
        }
        // Every byte is read once, and about as many are written.
        total.store(watch.bytes() + 2 * steps.map(|step| step.bytes).sum::<u64>(), Relaxed);
        let report = planned.run()?;
        total.store(watch.bytes(), Relaxed);
        let steps = report.steps.iter().map(|step| (names(&step.replaced), names(&step.fragments), step.cells));
        Ok((steps.collect(), names(&report.left)))
    })
}

/// The action, the path, the description, and the bytes of a step.
type FileStep = (String, String, String, u64);

/// Consolidates commits, footers or metadata, or vacuums. Returns the steps, and the retained files
/// with the reasons.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of the package
pub(crate) fn change_files(
    py: Python<'_>,
    opening: Opening,
    job: &str,
    what: &str,
    delete_files: bool,
    plan: bool,
    take_over: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(Vec<FileStep>, Vec<(String, String)>)> {
    let watch = Watch::new();
    run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || {
            let target = target(&opening, &watch)?;
            let vacuum = |vacuum: Vacuum| vacuum.delete_files(delete_files);
            let planned: Plan = match (job, what) {
                ("consolidate", "commits") => Consolidate::commits().plan(target)?,
                ("consolidate", "footers") => Consolidate::footers().plan(target)?,
                ("consolidate", "metadata") => Consolidate::metadata().plan(target)?,
                ("vacuum", "fragments") => vacuum(Vacuum::fragments()).plan(target)?,
                ("vacuum", "commits") => vacuum(Vacuum::commits()).plan(target)?,
                ("vacuum", "footers") => vacuum(Vacuum::footers()).plan(target)?,
                ("vacuum", "metadata") => vacuum(Vacuum::metadata()).plan(target)?,
                ("vacuum", "all") => vacuum(Vacuum::all()).plan(target)?,
                (job, what) => return Err(Failure::usage(format!("cannot {job} {what:?}"))),
            };
            let step = |step: &tdb_maintain::Step| {
                (step.action.to_string(), step.path.clone(), step.what.to_owned(), step.bytes)
            };
            let left = |left: &tdb_maintain::Retained| (left.path.clone(), left.why.to_string());
            if plan {
                return Ok((planned.steps().map(step).collect(), planned.retained().map(left).collect()));
            }
            let report = planned.take_over(take_over).run()?;
            Ok((report.steps.iter().map(step).collect(), report.left.iter().map(left).collect()))
        },
    )
}

/// The kind, the severity, the file, the field, the tile, and the description of a finding.
type Finding = (String, String, String, Option<String>, Option<u64>, String);

/// Verifies an array or group. Returns the counts and the findings.
#[pyfunction]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    opening: Opening,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<(Bound<'py, PyDict>, Vec<Finding>)> {
    let watch = Watch::new();
    let done = || {
        let progress = watch.monitor.progress();
        (progress.bytes, Some(progress.planned_bytes).filter(|total| *total > 0))
    };
    let report = run(py, progress.as_ref(), &watch, done, || {
        let place = opening.place()?;
        let job = Verify::new().key(opening.key()?).monitor(&watch.monitor);
        Ok(job.storage(watch.storage(place.storage))?)
    })?;
    let counts = PyDict::new(py);
    for (name, count) in [
        ("groups", report.groups),
        ("arrays", report.arrays),
        ("fragments", report.fragments),
        ("tiles", report.tiles),
        ("cells", report.cells),
        ("bytes", report.bytes),
    ] {
        counts.set_item(name, count)?;
    }
    let findings = report.findings.into_iter().map(|finding| {
        let (kind, severity) = (finding.kind.name().to_owned(), finding.severity.name().to_owned());
        (kind, severity, finding.file, finding.field, finding.tile, finding.what)
    });
    Ok((counts, findings.collect()))
}

/// The path, the description, the cause, the remedy, the severity, and the bytes of a diagnosis.
type Diagnosis = (String, String, String, String, String, u64);

/// Finds the problems of a folder, and repairs them.
#[pyfunction]
pub(crate) fn doctor(
    py: Python<'_>,
    opening: Opening,
    fix: bool,
    only: Option<Vec<String>>,
    take_over: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(Vec<Diagnosis>, Option<String>)> {
    let watch = Watch::new();
    run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || {
            let doctor = with(Doctor::new().take_over(take_over), only, Doctor::only);
            let plan = doctor.plan(target(&opening, &watch)?)?;
            let shown = |found: &tdb_verify::Diagnosis| {
                let (remedy, severity) = (found.remedy.to_string(), found.severity.name().to_owned());
                (found.path.clone(), found.what.to_owned(), found.why.clone(), remedy, severity, found.bytes)
            };
            if !fix {
                return Ok((plan.found().iter().map(shown).collect(), None));
            }
            let repaired = plan.run()?;
            Ok((repaired.done.iter().map(shown).collect(), repaired.quarantine))
        },
    )
}

/// Rebuilds the metadata of a fragment. Returns the cells and the tiles, and the lost cells.
#[pyfunction]
pub(crate) fn rebuild(
    py: Python<'_>,
    opening: Opening,
    fragment: &str,
    salvage: bool,
    plan: bool,
    take_over: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(u64, u64, Option<String>)> {
    let watch = Watch::new();
    run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || {
            let planned = Rebuild::new().salvage(salvage).plan(&array(&opening, &watch)?, fragment)?;
            let shown = |rebuilt: &tdb_verify::Rebuilt| (rebuilt.cells, rebuilt.tiles, rebuilt.lost.clone());
            if plan {
                return Ok(shown(planned.rebuilt()));
            }
            Ok(shown(&planned.take_over(take_over).run()?))
        },
    )
}

/// The kind, the level, the field, the description, and the commands of an advice.
type Advice = (String, String, Option<String>, String, Vec<String>);

#[pyfunction]
pub(crate) fn advise(py: Python<'_>, opening: Opening, progress: Option<Bound<'_, PyAny>>) -> Result<Vec<Advice>> {
    let watch = Watch::new();
    let report = run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || Ok(Advise::new().monitor(&watch.monitor).run(target(&opening, &watch)?)?),
    )?;
    let advice = report.advice.into_iter().map(|advice| {
        let lines = advice.remedy.iter().map(|command| command.line(&opening.uri)).collect();
        (advice.kind.name().to_owned(), advice.level.name().to_owned(), advice.field, advice.what, lines)
    });
    Ok(advice.collect())
}

/// Returns a page about an array or group in HTML.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, opening: Opening, progress: Option<Bound<'_, PyAny>>) -> Result<String> {
    let watch = Watch::new();
    run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || match target(&opening, &watch)? {
            Target::Array(array) => Ok(Report::new().monitor(&watch.monitor).array(&opening.uri, &array)?),
            Target::Group(group) => {
                let options = opening.options()?;
                Ok(Report::new().monitor(&watch.monitor).group(&opening.uri, &group, |node| {
                    Some(options.open_on(node.storage.clone()?).map_err(Into::into))
                })?)
            }
        },
    )
}

/// Compares two arrays. Returns whether they are equal, the counts, and the first differences.
#[pyfunction]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    first: &NativeArray,
    second: &NativeArray,
    physical: bool,
    limit: usize,
) -> Result<(bool, Bound<'py, PyDict>, Vec<String>)> {
    let watch = Watch::new();
    let (found, counts) = run(
        py,
        None,
        &watch,
        || (0, None),
        || {
            let mut found = Vec::new();
            // Queries stop at a cancellation, also between differences.
            let [first, second] = [first, second].map(|side| Array::from(side.array.watched(&watch.monitor)));
            let diff = Diff::new(&first, &second);
            let diff = if physical { diff.physical() } else { diff };
            let counts = diff.run(|difference| {
                if found.len() < limit {
                    found.push(described(&difference));
                }
                if watch.monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            Ok((found, counts))
        },
    )?;
    let dict = PyDict::new(py);
    for (name, count) in [
        ("schema", counts.schema),
        ("metadata", counts.metadata),
        ("fragments", counts.fragments),
        ("equal_cells", counts.equal_cells),
        ("differing_cells", counts.differing_cells),
        ("cells_only_in_first", counts.cells_only_in_a),
        ("cells_only_in_second", counts.cells_only_in_b),
    ] {
        dict.set_item(name, count)?;
    }
    Ok((counts.is_same(), dict, found))
}

fn described(difference: &Difference) -> String {
    let side = |in_first: bool| if in_first { "only in the first array" } else { "only in the second array" };
    match difference {
        Difference::Schema { key, a, b } => {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
            format!("schema {key}: {} and {}", shown(a), shown(b))
        }
        Difference::Metadata { key, a, b } => {
            let shown = |value: &Option<tdb_array::MetadataValue>| {
                value.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
            };
            format!("metadata {:?}: {} and {}", String::from_utf8_lossy(key), shown(a), shown(b))
        }
        Difference::Cell { a: Some(_), b: Some(_), fields } => format!("a cell differs in {}", fields.join(", ")),
        Difference::Cell { a, .. } => format!("a cell is {}", side(a.is_some())),
        Difference::Fragment { name, in_a } => format!("fragment {name} is {}", side(*in_a)),
        _ => "another difference".to_owned(),
    }
}

/// The progress of a copy, and an observer that stops it.
fn copying(watch: &Watch) -> (Arc<[AtomicU64; 2]>, impl Fn(u64, u64) -> bool + Send + Sync + 'static) {
    let progress = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let (own, monitor) = (Arc::clone(&progress), watch.monitor.clone());
    let observer = move |done, total| {
        own[0].store(done, Relaxed);
        own[1].store(total, Relaxed);
        !monitor.is_cancelled()
    };
    (progress, observer)
}

/// Copies an array or group. Returns the files and the bytes.
#[pyfunction]
pub(crate) fn copy(
    py: Python<'_>,
    source: Opening,
    to: Opening,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(u64, u64)> {
    let watch = Watch::new();
    let (state, observer) = copying(&watch);
    let done = || (state[0].load(Relaxed), Some(state[1].load(Relaxed)));
    run(py, progress.as_ref(), &watch, done, || {
        let (found, place) = (source.place()?, to.place()?);
        let job = CopyTo::new().observer(observer);
        let copied = match (&found.folder, &place.folder) {
            (Some(found), Some(place)) => job.folder(found, place)?,
            _ => {
                let (parent, name) = place.parent(&to.uri, &to.storage_options)?;
                job.run(&found.storage, &parent, &name)?
            }
        };
        Ok((copied.files, copied.bytes))
    })
}

/// Moves an array or group. Returns the paths that remain at the old place.
#[pyfunction]
pub(crate) fn relocate(
    py: Python<'_>,
    source: Opening,
    to: Opening,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<Vec<String>> {
    let watch = Watch::new();
    let (state, observer) = copying(&watch);
    let done = || (state[0].load(Relaxed), Some(state[1].load(Relaxed)));
    run(py, progress.as_ref(), &watch, done, || {
        let (found, place) = (source.place()?, to.place()?);
        let job = MoveTo::new().observer(observer);
        let moved = match (&found.folder, &place.folder) {
            (Some(found), Some(place)) => job.folder(found, place)?,
            _ => {
                let (old, old_name) = found.parent(&source.uri, &source.storage_options)?;
                let (new, new_name) = place.parent(&to.uri, &to.storage_options)?;
                job.between((&old, &old_name), (&new, &new_name))?
            }
        };
        Ok(moved.left)
    })
}

/// Removes an array or group. Returns the removed objects.
#[pyfunction]
pub(crate) fn remove(py: Python<'_>, opening: Opening, recursive: bool) -> Result<Vec<String>> {
    let watch = Watch::new();
    run(
        py,
        None,
        &watch,
        || (0, None),
        || {
            let (place, job) = (opening.place()?, Remove::new().recursive(recursive));
            let plan = match &place.folder {
                Some(folder) => job.plan_folder(folder)?,
                None => {
                    let (parent, name) = place.parent(&opening.uri, &opening.storage_options)?;
                    job.plan(&parent, &name)?
                }
            };
            Ok(plan.run()?.objects.into_iter().map(|(path, _)| path).collect())
        },
    )
}

/// The settings of a migration, as the package passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Migration {
    to: Option<u32>,
    capacity: Option<u64>,
    /// Attributes with the filters, in TOML.
    filters: String,
    flatten: bool,
    budget: Option<usize>,
    remove_old: bool,
}

/// Rewrites an array, in place without `out`. Returns the fragments and the cells.
#[pyfunction]
pub(crate) fn migrate(
    py: Python<'_>,
    opening: Opening,
    out: Option<Opening>,
    settings: Migration,
    progress: Option<Bound<'_, PyAny>>,
) -> Result<(u64, u64)> {
    let watch = Watch::new();
    run(
        py,
        progress.as_ref(),
        &watch,
        || (watch.bytes(), None),
        || {
            let mut job = with(Migrate::new(), settings.capacity, Migrate::capacity);
            if let Some(version) = settings.to {
                job = job.to(FormatVersion::new(version).map_err(Failure::usage)?);
            }
            for attribute in additions_from_toml(&settings.filters)?.0 {
                job = job.filters(attribute.name(), attribute.filters().clone());
            }
            let job = with(if settings.flatten { job.flatten() } else { job }, settings.budget, Migrate::budget);
            let migration = job.plan(&array(&opening, &watch)?)?;
            let options = CreateOptions::new().key(opening.key()?);
            let report = match out {
                Some(out) => match out.place()?.folder {
                    Some(folder) => migration.into_folder(&folder, &options)?,
                    None => {
                        let (parent, name) = out.place()?.parent(&out.uri, &out.storage_options)?;
                        migration.into_place(&parent, &name, &options)?
                    }
                },
                None => match opening.place()?.folder {
                    Some(folder) => migration.in_place(&folder, &options, settings.remove_old)?,
                    None => return Err(Failure::usage("a store cannot migrate in place; give out")),
                },
            };
            Ok((report.fragments, report.cells))
        },
    )
}
