//! Maintenance jobs.

/// A consolidation or a vacuum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Job {
    Fragments,
    Commits,
    Footers,
    VacuumFragments,
    VacuumCommits,
}

impl Job {
    /// Returns the name of the row.
    pub fn name(self, array: &str) -> String {
        match self {
            Self::Fragments => format!("consolidation, {array}"),
            Self::Commits => format!("consolidation of commits, {array}"),
            Self::Footers => format!("consolidation of footers, {array}"),
            Self::VacuumFragments => format!("vacuum, {array}"),
            Self::VacuumCommits => format!("vacuum of commits, {array}"),
        }
    }

    /// Returns the library's name of the mode.
    pub fn mode(self) -> &'static str {
        match self {
            Self::Fragments | Self::VacuumFragments => "fragments",
            Self::Commits | Self::VacuumCommits => "commits",
            Self::Footers => "fragment_meta",
        }
    }

    pub fn is_vacuum(self) -> bool {
        matches!(self, Self::VacuumFragments | Self::VacuumCommits)
    }

    /// Returns the jobs that must run first.
    pub fn before(self) -> &'static [Self] {
        match self {
            Self::VacuumFragments => &[Self::Fragments],
            Self::VacuumCommits => &[Self::Commits],
            _ => &[],
        }
    }
}
