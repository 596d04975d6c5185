//! Prefetching of sections of many fragments, for remote storage.

use std::ops::Range;

use tdb_cells::{Watch, Workers};
use tdb_fragment::{FragmentField, Part, SectionId};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_storage::{CancelToken, Request, Storage};
use tdb_types::Feature;

use super::Fragment;
use super::metadata::Sections;
use crate::{ArrayError, Result};

/// Prefetches the sections for a query of these fields, unless already loaded. Has no effect on a
/// local storage. If the prefetch of a section fails, the section is read again on demand, and this
/// read reports the error.
///
/// # Errors
/// The query was cancelled.
pub fn prefetch(
    (storage, workers): (&dyn Storage, &Workers),
    schema: &ArraySchema,
    fragments: &[&Fragment],
    fields: &[FieldRef],
) -> Result<()> {
    if !storage.profile().is_remote() {
        return Ok(());
    }
    fetch_sections((storage, workers), fragments, |fragment| fragment.wanted_sections(schema, fields))
}

/// Prefetches sections of fragments. `wanted` returns section ranges and requests.
///
/// # Errors
/// The query was cancelled.
pub(super) fn fetch_sections(
    (storage, workers): (&dyn Storage, &Workers),
    fragments: &[&Fragment],
    wanted: impl Fn(&Fragment) -> Result<Vec<(Range<u64>, Request)>>,
) -> Result<()> {
    // First opens the metadata files of fragments with consolidated footers.
    workers.ask(storage.profile(), fragments.to_vec(), |fragment| {
        let _ = fragment.inner.metadata.size();
        Ok::<_, ArrayError>(())
    })?;
    let wanted = fragments.iter().flat_map(|fragment| {
        let requests = wanted(fragment).unwrap_or_default();
        requests.into_iter().map(move |(range, request)| (fragment, range, request))
    });
    let (mut places, mut requests) = (Vec::new(), Vec::new());
    for (fragment, range, request) in wanted {
        places.push((fragment, range));
        requests.push(request);
    }
    let never = CancelToken::new();
    let cancel = workers.watch().map_or(&never, Watch::cancel_token);
    storage.fetch_each(&requests, cancel, &mut |place, answer| {
        if let (Some((fragment, range)), Ok(fetched)) = (places.get(place), answer) {
            fragment.inner.metadata.file.supply(range.clone(), fetched.bytes);
        }
    });
    Ok(workers.check()?)
}

impl Fragment {
    /// Returns ranges and requests of the sections for a query of these fields.
    fn wanted_sections(&self, array: &ArraySchema, fields: &[FieldRef]) -> Result<Vec<(Range<u64>, Request)>> {
        let metadata = &self.inner.metadata;
        if !matches!(metadata.sections, Sections::Stored) {
            return Ok(Vec::new());
        }
        let header = self.footer().header();
        let mut sections = Vec::new();
        if self.inner.rtree.get().is_none() {
            sections.push(SectionId::RTree);
        }
        if header.has_delete_metadata {
            sections.push(SectionId::ProcessedConditions);
        }
        let times = header.has_timestamps.then_some(FragmentField::Timestamps);
        let deletions = header.has_delete_metadata.then_some(FragmentField::DeleteTimestamps);
        let fields = fields.iter().filter_map(|field| self.own_field(array, *field));
        for field in fields.chain(times).chain(deletions).filter(|field| !self.has_tiles_of(*field)) {
            let stored = match field {
                FragmentField::Dimension(_) if self.version().has(Feature::CombinedCoordinates) => {
                    FragmentField::Coordinates
                }
                field => field,
            };
            let parts = Part::ALL.into_iter().filter(|part| self.footer().file_size(stored, *part).is_some());
            sections.extend(parts.map(|part| SectionId::offsets_of(stored, part)));
            sections.push(SectionId::TileVarSizes(stored));
        }
        sections.sort_unstable();
        sections.dedup();
        let end = metadata.file.sections_end()?;
        let ranges = sections.into_iter().filter_map(|id| self.footer().section_range(id, end).ok());
        let mut wanted = Vec::new();
        for range in ranges.chain(self.footer().element_types_range()) {
            wanted.extend(metadata.file.request(&range)?.map(|request| (range, request)));
        }
        Ok(wanted)
    }
}
