//! A case as plain data: an array with a history, and the parameters of the migration.

use std::fmt::Write as _;

use tdb_cases::case::Case;
use tdb_cases::history::History;
use tdb_cases::random::Random;
use tdb_cases::scalars::{integer_bytes, integer_of};
use tdb_cases::{build, generate, limits, overhang};
use tdb_migrate::Migrate;
use tdb_reference::Release;
use tdb_reference::model::{ArraySpec, Bytes, FilterSpec, Pipeline};
use tdb_types::{ArrayType, FormatVersion, Layout, Scalar};

use crate::maintain;

/// One in `ANY` arrays may use features beyond the release.
const ANY: u64 = 5;

/// One in `FLAT` migrations drops the history.
const FLAT: u64 = 7;

/// Maximum length of a dimension with tiles of one coordinate.
const MOST_TILES: i128 = 500;

#[derive(Clone, Debug)]
pub struct Moved {
    pub(super) history: History,
    pub(super) to: FormatVersion,
    pub(super) change: Option<Change>,
    pub(super) flatten: bool,
    /// `true` if the release could have created the array.
    pub(super) fits: bool,
    pub(super) budget: usize,
}

/// A change of the schema during the migration.
#[derive(Clone, Debug)]
pub enum Change {
    Extent(String, Scalar),
    Capacity(u64),
    CellOrder(Layout),
    TileOrder(Layout),
    Filters(String, Pipeline),
}

impl Moved {
    /// Generates the case of a seed. Returns `None` if the seed has no case.
    pub(super) fn of(seed: u64, index: u64, release: Release) -> Option<Self> {
        let random = &mut Random::new(!seed);
        let fits = !index.is_multiple_of(ANY);
        let history = generate::migrated(seed, fits.then_some(release))?;
        // The first release also reads the preceding format, which no available release writes.
        let format = if release.format == 2 && index % 3 == 1 { 1 } else { release.format };
        let change = random.percent(40).then(|| Change::of(random, &history, release)).flatten();
        let budget = *random.pick(&[1, 5_000, 64 << 20]);
        let flatten = index % FLAT == 3;
        Some(Self { history, to: FormatVersion::new(format).ok()?, change, flatten, fits, budget })
    }

    pub(super) fn migrate(&self) -> Migrate {
        let migrate = Migrate::new().to(self.to).budget(self.budget);
        let migrate = if self.flatten { migrate.flatten() } else { migrate };
        match &self.change {
            None => migrate,
            Some(Change::Extent(dimension, extent)) => migrate.tile_extent(dimension.as_str(), *extent),
            Some(Change::Capacity(cells)) => migrate.capacity(*cells),
            Some(Change::CellOrder(order)) => migrate.cell_order(*order),
            Some(Change::TileOrder(order)) => migrate.tile_order(*order),
            Some(Change::Filters(field, filters)) => migrate.filters(field.as_str(), build::pipeline(filters)),
        }
    }

    /// Returns the array schema after the migration.
    pub(super) fn array(&self) -> ArraySpec {
        match &self.change {
            Some(change) => change.applied(&self.history.array),
            None => self.history.array.clone(),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = maintain::text_of(&self.history);
        let how = if self.flatten { ", without its history" } else { "" };
        let _ = writeln!(text, "migrated to format {}{how}, {:?}, budget {}", self.to, self.change, self.budget);
        text
    }
}

impl Change {
    /// Generates a change to a schema that the release could have created.
    fn of(random: &mut Random, history: &History, release: Release) -> Option<Self> {
        let array = &history.array;
        let other = |layout| if layout == Layout::RowMajor { Layout::ColMajor } else { Layout::RowMajor };
        let change = match random.below(5) {
            0 => Self::extent(random, array)?,
            1 if array.array_type == ArrayType::Sparse => Self::Capacity(*random.pick(&[1, 7, 1000])),
            2 => Self::CellOrder(other(array.cell_order)),
            3 => Self::TileOrder(other(array.tile_order)),
            _ => {
                let codec = [FilterSpec::Gzip { level: None }, FilterSpec::Lz4 { level: None }, FilterSpec::ZSTD];
                let attribute = array.attributes.get(random.below(array.attributes.len().max(1)))?;
                Self::Filters(attribute.name.clone(), Pipeline::from(random.subset(&codec, 60)))
            }
        };
        let array = change.applied(array);
        let case = Case { array: array.clone(), ..history.case() };
        let is_possible = !overhang::is_beyond(&array) && limits::fit(case, release).is_some();
        is_possible.then_some(change)
    }

    fn extent(random: &mut Random, array: &ArraySpec) -> Option<Self> {
        let dimension = random.pick(&array.dimensions);
        let physical = dimension.datatype.physical();
        let (low, high) = dimension.domain.as_ref().filter(|_| !physical.is_float())?;
        let cells = integer_of(physical, high) - integer_of(physical, low) + 1;
        let extent = *random.pick(&[1, 2, 3, cells]);
        let is_usable = extent <= cells && cells / extent <= MOST_TILES;
        let extent =
            is_usable.then(|| integer_bytes(physical, extent)).filter(|bytes| integer_of(physical, bytes) == extent);
        Some(Self::Extent(dimension.name.clone(), Scalar::from_le_bytes(physical, &extent?)?))
    }

    fn applied(&self, array: &ArraySpec) -> ArraySpec {
        let mut array = array.clone();
        match self {
            Self::Extent(name, extent) => {
                for dimension in array.dimensions.iter_mut().filter(|dimension| dimension.name == *name) {
                    dimension.extent = Some(Bytes(extent.to_le_bytes().to_vec()));
                }
            }
            Self::Capacity(cells) => array.capacity = Some(*cells),
            Self::CellOrder(order) => array.cell_order = *order,
            Self::TileOrder(order) => array.tile_order = *order,
            Self::Filters(name, filters) => {
                for attribute in array.attributes.iter_mut().filter(|attribute| attribute.name == *name) {
                    attribute.filters = filters.clone();
                }
            }
        }
        array
    }
}
