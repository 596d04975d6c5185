//! Verification of one fragment: files, metadata and tiles.

use std::ops::Range;

use tdb_array::tdb_fragment::{FragmentField, FragmentStatistics, Part, Tiles};
use tdb_array::tdb_schema::{Attribute, Dimension};
use tdb_array::{Array, Fragment, TileWorkers};
use tdb_types::names::FRAGMENT_METADATA;

use super::finding::{Finding, FindingKind, unreadable};
use super::report::{Found, VerifyReport};
use tdb_job::Result;

/// A fragment that is being verified, and the findings so far.
pub(super) struct Checked<'a> {
    pub(super) array: &'a Array,
    pub(super) fragment: &'a Fragment,
    pub(super) workers: &'a TileWorkers,
    pub(super) totals: Option<FragmentStatistics>,
    pub(super) report: &'a mut VerifyReport,
    pub(super) found: Found,
}

/// Verifies a fragment.
///
/// # Errors
/// [`Cancelled`](tdb_array::ArrayError::Cancelled) if the verification was canceled. Also fails if
/// the schema has no global order. Other problems are findings.
pub(super) fn check_fragment(
    array: &Array,
    fragment: &Fragment,
    workers: &TileWorkers,
    report: &mut VerifyReport,
) -> Result<()> {
    let folder = array.storage().describe(fragment.folder());
    report.fragments += 1;
    workers.check()?;
    // The fragment's own metadata file is authoritative, and the footer from a consolidated file
    // must agree with it.
    let own = fragment.reread().inspect_err(|error| report.push(unreadable(&folder, error)));
    let Ok(own) = own else { return Ok(()) };
    let mut checked = Checked { array, fragment: &own, workers, totals: None, report, found: Found::default() };
    if own.footer() != fragment.footer() && !differs_in_places_only(&own, fragment) {
        let what = "the footer differs from the copy in consolidated fragment metadata";
        checked.found.push(Finding::wrong(FindingKind::Copies, checked.metadata_file(), what));
    }
    checked.check_all()?;
    let found = std::mem::take(&mut checked.found);
    report.take(found, &folder);
    Ok(())
}

/// Returns `true` if the footers differ only in file offsets.
fn differs_in_places_only(own: &Fragment, copy: &Fragment) -> bool {
    let (own, copy) = (own.footer(), copy.footer());
    own.header() == copy.header() && own.lists() == copy.lists() && own.optional_sections() == copy.optional_sections()
}

/// Number of tiles that are compared at a time, to bound memory.
const STRETCH: u64 = 1024;

/// Splits the indices of tiles into consecutive ranges.
pub(super) fn stretches(tiles: u64) -> impl Iterator<Item = Range<u64>> {
    (0..tiles.div_ceil(STRETCH)).map(move |stretch| stretch * STRETCH..tiles.min((stretch + 1) * STRETCH))
}

impl Checked<'_> {
    /// Returns the full path of the fragment's folder.
    pub(super) fn folder(&self) -> String {
        self.array.storage().describe(self.fragment.folder())
    }

    /// Returns the full path of the fragment's metadata file.
    pub(super) fn metadata_file(&self) -> String {
        self.array.storage().describe(&format!("{}/{FRAGMENT_METADATA}", self.fragment.folder()))
    }

    /// Returns the display name of a field.
    pub(super) fn name_of(&self, field: FragmentField) -> String {
        let schema = self.fragment.schema();
        let name = match field {
            FragmentField::Attribute(index) => schema.attributes().get(index).map(Attribute::name),
            FragmentField::Dimension(index) => schema.dimensions().get(index).map(Dimension::name),
            _ => None,
        };
        name.map_or_else(|| field.to_string(), str::to_owned)
    }

    fn check_all(&mut self) -> Result<()> {
        let file = self.metadata_file();
        let damaged = self.fragment.damaged_sections();
        damaged.iter().for_each(|(_, error)| self.found.push(unreadable(&file, error)));
        // Unreadable totals are already reported.
        self.totals = self.fragment.stored_totals().ok().flatten();
        self.check_files();
        self.check_counts();
        if !self.fragment.footer().is_dense() {
            self.check_coordinates()?;
        }
        let fields: Vec<FragmentField> = self.fragment.footer().slots().iter().collect();
        for field in fields {
            match field {
                FragmentField::Dimension(_) if !self.fragment.footer().is_dense() => {}
                FragmentField::Dimension(_) | FragmentField::Coordinates => self.check_empty(field),
                field => self.check_field(field)?,
            }
        }
        Ok(())
    }

    /// Checks the stored numbers of tiles and cells against the non-empty domain of a dense
    /// fragment.
    fn check_counts(&mut self) {
        let (footer, header) = (self.fragment.footer(), self.fragment.footer().header());
        let Tiles::Dense(grid) = footer.tiles() else { return };
        let (file, found) = (self.metadata_file(), &mut self.found);
        let mut expect = |what: &str, stored: u64, expected: u64| {
            if stored != expected {
                let what = format!("{what} is {stored}, expected {expected} in a dense fragment");
                found.push(Finding::wrong(FindingKind::Counts, file.as_str(), what));
            }
        };
        expect("the number of sparse tiles", header.sparse_tile_count, 0);
        expect("the number of cells of the last tile", header.last_tile_cells, grid.cells_per_tile());
    }

    /// Checks the sizes of data files, and looks for additional files.
    fn check_files(&mut self) {
        let entries = match self.array.storage().list(self.fragment.folder()) {
            Ok(entries) => entries,
            Err(error) => return self.found.push(unreadable(&self.folder(), &error)),
        };
        let fields = self.fragment.footer().slots().iter();
        let files: Vec<(Part, String, u64)> = fields.flat_map(|field| self.fragment.files_of(field)).collect();
        for (_, path, expected) in &files {
            self.report.bytes = self.report.bytes.saturating_add(*expected);
            let name = path.rsplit('/').next().unwrap_or(path);
            let whole = self.array.storage().describe(path);
            let finding = match entries.iter().find(|entry| entry.name == name) {
                None => {
                    let what = format!("missing: expected {expected} bytes according to the metadata");
                    Finding::wrong(FindingKind::Unreadable, whole, what)
                }
                Some(entry) if entry.size != *expected => {
                    let what = format!("found {} bytes, expected {expected} according to the metadata", entry.size);
                    Finding::wrong(FindingKind::FileSize, whole, what)
                }
                Some(_) => continue,
            };
            self.found.push(finding);
        }
        let is_known = |name: &str| {
            name == FRAGMENT_METADATA || files.iter().any(|(_, path, _)| path.rsplit('/').next() == Some(name))
        };
        for entry in entries.iter().filter(|entry| entry.size > 0 && !is_known(&entry.name)) {
            let whole = self.array.storage().describe(&format!("{}/{}", self.fragment.folder(), entry.name));
            self.found.push(Finding::note(FindingKind::Unused, whole, "belongs to no field of the fragment"));
        }
    }
}
