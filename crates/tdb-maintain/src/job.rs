//! What there is to do of one kind.

use tdb_array::{Names, TimeRange};

use crate::Result;
use crate::consolidate::commits::{draft as consolidate_commits, settle as settle_commits};
use crate::consolidate::footers::draft as consolidate_footers;
use crate::consolidate::metadata::draft as consolidate_metadata;
use crate::draft::Draft;
use crate::links::without_links;
use crate::step::Planned;
use crate::target::Target;
use crate::vacuum::commits::draft as vacuum_commits;
use crate::vacuum::footers::draft as vacuum_footers;
use crate::vacuum::fragments::draft as vacuum_fragments;
use crate::vacuum::metadata::draft as vacuum_metadata;

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
        let draft = match (self, target) {
            (Self::ConsolidateMetadata { names, time }, target) => {
                consolidate_metadata(target, names, time.unwrap_or_else(|| target.time()))
            }
            (Self::VacuumMetadata, target) => vacuum_metadata(target),
            (Self::ConsolidateCommits { names }, Target::Array(array)) => consolidate_commits(array, names),
            (Self::ConsolidateFooters { names }, Target::Array(array)) => consolidate_footers(array, names),
            (Self::VacuumFragments { names }, Target::Array(array)) => vacuum_fragments(array, names),
            (Self::VacuumCommits { deletes }, Target::Array(array)) => vacuum_commits(array, *deletes),
            (Self::VacuumFooters, Target::Array(array)) => vacuum_footers(array),
            // Groups have nothing else.
            (_, Target::Group(_)) => Ok(Draft::default()),
        };
        without_links(&**target.storage(), draft?)
    }

    /// What is to be done when the steps of a draft are done, because others, who know no lock, did something meanwhile.
    pub(crate) fn settle(&self, target: &Target, done: &Draft) -> Result<Option<Planned>> {
        match (self, target) {
            (Self::ConsolidateCommits { names }, Target::Array(array)) => settle_commits(array, names, done),
            _ => Ok(None),
        }
    }
}
