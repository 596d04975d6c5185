//! Something that is counted.

use crate::outcome::Result;

/// Something that is counted.
pub struct CountedPath {
    pub name: String,
    pub work: Work,
}

/// Does the counted work; may be called several times.
pub type Prepared = Box<dyn FnMut() -> Result<()>>;

/// What is done.
pub enum Work {
    /// In the process that is looked at, once it is prepared. The current folder has the inputs.
    Here(Box<dyn Fn() -> Result<Prepared> + Send + Sync>),
    /// By the command `tdb`, all of it.
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
