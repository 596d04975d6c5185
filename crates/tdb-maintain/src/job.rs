//! What there is to do of one kind.

use tdb_array::{Names, TimeRange};

use crate::plan::Draft;
use crate::target::Target;
use crate::{Result, consolidate, vacuum};

/// One kind of consolidation or vacuum, with its options.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    ConsolidateCommits { names: Names },
    ConsolidateFooters { names: Names },
    ConsolidateMetadata { names: Names, time: Option<TimeRange> },
    VacuumFragments { names: Names },
    VacuumCommits { deletes: bool },
    VacuumFooters,
    VacuumMetadata,
}

impl Job {
    /// What is to be done as things stand.
    pub(crate) fn draft(&self, target: &Target) -> Result<Draft> {
        match (self, target) {
            (Self::ConsolidateMetadata { names, time }, target) => {
                consolidate::metadata::draft(target, names, time.unwrap_or_else(|| target.time()))
            }
            (Self::VacuumMetadata, target) => vacuum::metadata::draft(target),
            (Self::ConsolidateCommits { names }, Target::Array(array)) => consolidate::commits::draft(array, names),
            (Self::ConsolidateFooters { names }, Target::Array(array)) => consolidate::footers::draft(array, names),
            (Self::VacuumFragments { names }, Target::Array(array)) => vacuum::fragments::draft(array, names),
            (Self::VacuumCommits { deletes }, Target::Array(array)) => vacuum::commits::draft(array, *deletes),
            (Self::VacuumFooters, Target::Array(array)) => vacuum::footers::draft(array),
            // Groups have nothing else.
            (_, Target::Group(_)) => Ok(Draft::default()),
        }
    }
}
