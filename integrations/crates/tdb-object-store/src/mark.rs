//! Marks by which a writer knows its own files again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use object_store::path::Path;
use object_store::{Attribute, Attributes, GetOptions, ObjectStore, Result};

/// The name of the attribute. Stores put their own prefix before it: `x-amz-meta-tdbwrite`. Azure takes letters alone.
const NAME: &str = "tdbwrite";

/// The mark of one write, which no other one has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        Self(format!("{:016x}{:016x}", random(), random()))
    }

    /// The attributes that a file with this mark has.
    pub(crate) fn attributes(&self) -> Attributes {
        Attributes::from_iter([(Attribute::Metadata(NAME.into()), self.0.clone())])
    }

    /// Whether a file has this mark; an error of the store if there is no file.
    pub(crate) async fn is_on(&self, store: &dyn ObjectStore, location: &Path) -> Result<bool> {
        let found = store.get_opts(location, GetOptions { head: true, ..GetOptions::default() }).await?;
        Ok(found.attributes.get(&Attribute::Metadata(NAME.into())).is_some_and(|value| value.as_ref() == self.0))
    }
}

/// A random number: each hasher of the standard library has keys of its own.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
