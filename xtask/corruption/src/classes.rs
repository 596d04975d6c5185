//! Classes of damage, by what a verification can find.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_array::tdb_fragment::{FragmentField, Part, Statistic, StatisticsRules, TileValues, UntrustedReason};
use tdb_array::{Fragment, TimeRange};
use tdb_storage::Storage;
use tdb_types::Feature;

use crate::seen::{all_fragments, options};

/// A class of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Cells cannot be read.
    CellsLost,
    /// Cells of fields with sums.
    Numbers,
    /// Validity of cells, in fields with null counts.
    Validity,
    /// Strings with minimum and maximum statistics.
    StringBounds,
    /// Cells of fields without statistics.
    WithoutStatistics,
    /// Cells of fragments in formats without statistics.
    OldFormats,
    /// Cells under lossy filters.
    Lossy,
    /// Cells, because of changed schemas or fragment metadata.
    ByMetadata,
    /// Cells, because of changed or missing commits.
    ByCommits,
    /// Statistics of cells.
    Statistics,
    /// Other parts cannot be read.
    StructureLost,
    /// Schemas and fragment metadata.
    Structure,
    /// Array metadata, commits, other files.
    Commits,
    /// A group or a member cannot be read.
    GroupLost,
    /// A group has other members, or a member is missing.
    Members,
    /// Group metadata.
    GroupMetadata,
    /// Bytes that no reader uses.
    Nothing,
}

impl Class {
    /// Returns the class in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::CellsLost => "unreadable cells",
            Self::Numbers => "changed cells of fields with sums",
            Self::Validity => "changed validity of fields with null counts",
            Self::StringBounds => "changed strings of fields with only minimum and maximum",
            Self::WithoutStatistics => "changed cells of fields without statistics, or with known wrong statistics",
            Self::OldFormats => "changed cells of fragments of formats before 11",
            Self::Lossy => "changed cells of fields with lossy filters",
            Self::ByMetadata => "changed cells, because schemas or fragment metadata changed",
            Self::ByCommits => "changed cells, because commits are altered or missing",
            Self::Statistics => "changed statistics, MBRs and non-empty domains",
            Self::StructureLost => "other unreadable parts",
            Self::Structure => "changes in other parts of schemas and fragment metadata",
            Self::Commits => "changed array metadata, commits and other files",
            Self::GroupLost => "unreadable groups or members",
            Self::Members => "altered or missing members of groups",
            Self::GroupMetadata => "changed metadata of groups",
            Self::Nothing => "changed bytes that no reader uses",
        }
    }

    /// `true` if a verification must find the damage.
    #[must_use]
    pub fn is_promised(self) -> bool {
        matches!(
            self,
            Self::CellsLost
                | Self::Numbers
                | Self::Validity
                | Self::Statistics
                | Self::StructureLost
                | Self::GroupLost
                | Self::ByMetadata
        )
    }
}

/// Returns the times at which to read the array, and the class of each data file.
pub(crate) fn of(storage: &Arc<dyn Storage>, key: Option<[u8; 32]>) -> Option<(Vec<u64>, BTreeMap<String, Class>)> {
    let array = options(key).between(TimeRange::ALL).open_on(storage.clone()).ok()?;
    let (mut times, mut classes) = (vec![u64::MAX], BTreeMap::new());
    for fragment in all_fragments(&array).ok()? {
        times.push(fragment.time().end);
        let fields = fragment.footer().slots().iter();
        for (field, (part, path, _)) in
            fields.flat_map(|field| fragment.files_of(field).into_iter().map(move |file| (field, file)))
        {
            classes.insert(path, class(&fragment, field, part)?);
        }
    }
    times.sort_unstable();
    times.dedup();
    Some((times, classes))
}

fn class(fragment: &Fragment, field: FragmentField, part: Part) -> Option<Class> {
    if !fragment.version().has(Feature::TileStatistics) {
        return Some(Class::OldFormats);
    }
    if fragment.has_lossy_filters(field) {
        return Some(Class::Lossy);
    }
    let rules = StatisticsRules::new(fragment.footer(), fragment.schema(), field)?;
    let statistics = fragment.stored_statistics(field).ok()?;
    let known = |tile| statistics.tile(tile, fragment.footer().tiles(), &rules);
    let tiles = 0..fragment.tile_count();
    Some(match part {
        Part::Validity if tiles.clone().all(|tile| known(tile).null_count.stored().is_some()) => {
            let is_trusted = tiles.clone().all(|tile| {
                let nulls = known(tile).null_count;
                nulls.trusted().is_some() || is_edge(&nulls)
            });
            if is_trusted { Class::Validity } else { Class::WithoutStatistics }
        }
        Part::Fixed if tiles.clone().all(|tile| known(tile).sum.trusted().is_some() || is_edge(&known(tile).sum)) => {
            Class::Numbers
        }
        _ if statistics.mins != TileValues::Absent || matches!(field, FragmentField::Dimension(_)) => {
            Class::StringBounds
        }
        _ => Class::WithoutStatistics,
    })
}

/// `true` if the statistic belongs to a tile at the edge of the non-empty domain.
fn is_edge<T>(statistic: &Statistic<T>) -> bool {
    matches!(statistic, Statistic::Untrustworthy(_, UntrustedReason::EdgeTile))
}

/// Returns the class of a file that contains no cells.
pub(crate) fn of_path(path: &str) -> Class {
    if is_schema_or_fragment(path) { Class::ByMetadata } else { Class::ByCommits }
}

pub(crate) fn structure_of_path(path: &str) -> Class {
    if is_schema_or_fragment(path) { Class::Structure } else { Class::Commits }
}

pub(crate) fn is_commit(path: &str) -> bool {
    !path.contains("__fragment")
        && ["wrt", "ok", "vac", "con", "ign", "del"].iter().any(|extension| path.ends_with(extension))
        || path.starts_with("__commits/")
}

fn is_schema_or_fragment(path: &str) -> bool {
    path.ends_with("__fragment_metadata.tdb") || path.starts_with("__schema/") || path == "__array_schema.tdb"
}
