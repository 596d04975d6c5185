//! A path whose instructions are counted.

use crate::outcome::Result;

/// A path whose instructions are counted.
pub struct CountedPath {
    pub name: String,
    pub work: Work,
}

/// The counted work, which may be called several times.
pub type Prepared = Box<dyn FnMut() -> Result<()>>;

/// The work of a path.
pub enum Work {
    /// Work in the counted process after preparation. The current folder contains the inputs.
    Here(Box<dyn Fn() -> Result<Prepared> + Send + Sync>),
    /// A complete run of the command `tdb`.
    Command { arguments: &'static [&'static str] },
}

impl CountedPath {
    pub fn is_chosen(&self, only: Option<&str>) -> bool {
        only.is_none_or(|only| self.name.contains(only))
    }
}

pub fn here(name: impl Into<String>, prepare: impl Fn() -> Result<Prepared> + Send + Sync + 'static) -> CountedPath {
    CountedPath { name: name.into(), work: Work::Here(Box::new(prepare)) }
}
