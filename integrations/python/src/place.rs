//! Places of arrays and groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use tdb_array::tdb_storage::{LocalStorage, Storage};
use tdb_array::{Array, ArrayOptions, Group, GroupOptions};
use tdb_object_store::{SCHEMES, Stores};

use crate::error::{Failure, Result};
use crate::store;

/// Options of a store, by name.
pub(crate) type StoreSettings = BTreeMap<String, String>;

/// Stores opened without options. Arrays of a bucket share its connections and cache.
static STORES: LazyLock<Stores> = LazyLock::new(Stores::default);

/// The place of an array or group, existing or new.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) storage: Arc<dyn Storage>,
    /// The folder on the local disk.
    pub(crate) folder: Option<PathBuf>,
}

impl Place {
    pub(crate) fn of(uri: &str, settings: &StoreSettings) -> Result<Self> {
        let (scheme, rest) = match uri.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
            Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
            None => return Ok(Self::local(Path::new(uri))),
        };
        match scheme.as_str() {
            "file" => Ok(Self::local(Path::new(rest.strip_prefix("localhost").unwrap_or(rest)))),
            known if SCHEMES.contains(&known) && settings.is_empty() => {
                Ok(Self { storage: STORES.open(uri)?, folder: None })
            }
            known if SCHEMES.contains(&known) => Ok(Self { storage: store::open(uri, known, settings)?, folder: None }),
            other => {
                let schemes = SCHEMES.iter().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(", ");
                Err(Failure::usage(format!("{other}:// is not a known scheme; known schemes are file://, {schemes}")))
            }
        }
    }

    fn local(path: &Path) -> Self {
        Self { storage: Arc::new(LocalStorage::new(path)), folder: Some(path.to_owned()) }
    }

    /// Returns the same place behind another storage.
    pub(crate) fn behind(&self, storage: Arc<dyn Storage>) -> Self {
        Self { storage, folder: self.folder.clone() }
    }

    pub(crate) fn array(&self, options: &ArrayOptions) -> Result<Array> {
        Ok(match &self.folder {
            Some(folder) => options.open_on_folder(Arc::clone(&self.storage), folder)?,
            None => options.open_on(Arc::clone(&self.storage))?,
        })
    }

    pub(crate) fn group(&self, options: &GroupOptions) -> Result<Group> {
        Ok(match &self.folder {
            Some(folder) => options.open_on_folder(Arc::clone(&self.storage), folder)?,
            None => options.open_on(Arc::clone(&self.storage))?,
        })
    }

    /// Returns the parent folder and the name.
    pub(crate) fn parent(&self, uri: &str, settings: &StoreSettings) -> Result<(Arc<dyn Storage>, String)> {
        if let Some(folder) = &self.folder {
            return Ok(tdb_relocate::place_in(folder)?);
        }
        let plain = uri.split('?').next().unwrap_or_default().trim_end_matches('/');
        let query = uri.split_once('?').map(|(_, query)| format!("?{query}")).unwrap_or_default();
        let (parent, name) = plain
            .rsplit_once('/')
            .filter(|(parent, _)| !parent.ends_with('/'))
            .ok_or_else(|| Failure::usage(format!("{plain}: a complete bucket cannot be copied, moved or removed")))?;
        Ok((Self::of(&format!("{parent}{query}"), settings)?.storage, name.to_owned()))
    }
}

/// Returns `true` for a scheme. A single letter is a drive of Windows.
fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.len() > 1 && text.as_bytes()[0].is_ascii_alphabetic() && text.bytes().all(is_inner)
}
