//! A location of an array or group, existing or new: a local folder, or a folder on a store.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tdb_array::ArrayError;
use tdb_storage::Storage;

use crate::failure::{Failure, Result};
use crate::{location, stores};

/// A location of an array or group.
pub(crate) enum Place {
    Local(PathBuf),
    Store(StorePlace),
}

/// A folder on a store, by parent folder and name.
pub(crate) struct StorePlace {
    pub(crate) uri: String,
    pub(crate) parent: Arc<dyn Storage>,
    pub(crate) name: String,
}

impl Place {
    /// Parses an argument. The location need not exist.
    ///
    /// # Errors
    /// Fails for a URI of an unknown scheme, or for a complete bucket.
    pub(crate) fn of(argument: &OsStr) -> Result<Self> {
        let (uri, query) = stores::without_query(argument.to_str().unwrap_or_default());
        let Some((scheme, path)) = uri.split_once("://").filter(|(scheme, _)| stores::opens(scheme)) else {
            return Ok(Self::Local(location::local(argument)?));
        };
        let Some((parent, name)) = path.rsplit_once('/') else {
            return Err(Failure::usage(format!("{uri}: a complete bucket cannot be copied, moved or removed"))
                .with_hint("add the folder of an array or group"));
        };
        let parent = format!("{scheme}://{parent}{query}");
        let name = stores::name_of(scheme, name);
        match stores::open(OsStr::new(&parent)) {
            Some(parent) => {
                Ok(Self::Store(StorePlace { uri: uri.to_owned(), parent: parent.map_err(ArrayError::from)?, name }))
            }
            None => Ok(Self::Local(location::local(argument)?)),
        }
    }

    /// Returns the parent folder and the name, for creating an array or group there.
    ///
    /// # Errors
    /// Fails if the parent folder of a local path does not exist or is inside an array.
    pub(crate) fn to_fill(&self) -> Result<(Arc<dyn Storage>, String)> {
        match self {
            Self::Local(path) => Ok(tdb_relocate::place_in(path)?),
            Self::Store(place) => Ok((place.parent.clone(), place.name.clone())),
        }
    }

    /// Returns the folder itself.
    ///
    /// # Errors
    /// Fails if the name is no valid folder name.
    pub(crate) fn storage(&self) -> Result<Arc<dyn Storage>> {
        match self {
            Self::Local(path) => Ok(Arc::new(tdb_storage::LocalStorage::new(path))),
            Self::Store(place) => Ok(place.parent.sub(&place.name).map_err(ArrayError::from)?),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => write!(f, "{}", path.display()),
            Self::Store(place) => f.write_str(&place.uri),
        }
    }
}
