//! Marks that identify the writer of a file.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use object_store::path::Path;
use object_store::{Attribute, Attributes, GetOptions, ObjectStore, Result};

/// Attribute name. Stores add a prefix: `x-amz-meta-tdbwrite`. Azure allows only letters.
const NAME: &str = "tdbwrite";

/// Unique mark of one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        Self(format!("{:016x}{:016x}", random(), random()))
    }

    /// Returns the attributes of a file with this mark.
    pub(crate) fn attributes(&self) -> Attributes {
        Attributes::from_iter([(Attribute::Metadata(NAME.into()), self.0.clone())])
    }

    /// Returns `true` if a file has this mark. Fails if the file does not exist.
    pub(crate) async fn is_on(&self, store: &dyn ObjectStore, location: &Path) -> Result<bool> {
        let found = store.get_opts(location, GetOptions { head: true, ..GetOptions::default() }).await?;
        Ok(found.attributes.get(&Attribute::Metadata(NAME.into())).is_some_and(|value| value.as_ref() == self.0))
    }
}

/// Returns a random number. Each hasher of the standard library has random keys.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
