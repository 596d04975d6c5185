//! Checks for complete fragments, before superseded fragments are removed.

use std::collections::HashMap;

use tdb_fragment::{NameScheme, Part};
use tdb_rtree::NdRange;
use tdb_storage::EntryKind;

use super::Snapshot;
use super::fragments::schema_path;
use super::schema_file::load_schema;
use crate::fragment::UnparsedFragment;
use crate::{ArrayError, Fragment, FragmentEntry, Result};

impl Snapshot {
    /// Checks a fragment's metadata in the fragment's own file. Also checks the existence and
    /// minimum length of the data files against the metadata. Reads no tile.
    ///
    /// # Errors
    /// The first problem found, with the file name.
    pub fn check_files_of(&self, entry: &FragmentEntry) -> Result<()> {
        let storage = &**self.storage();
        let fragment = self.fragment_of(entry)?;
        let files = storage.list(&entry.folder)?;
        let files = files.iter().filter(|file| file.kind == EntryKind::File);
        let sizes: HashMap<&str, u64> = files.map(|file| (file.name.as_str(), file.size)).collect();
        let footer = fragment.footer();
        let parts = footer.slots().iter().flat_map(|field| Part::ALL.map(|part| (field, part)));
        for (field, part) in parts {
            let Some(said) = footer.file_size(field, part).filter(|said| *said > 0) else { continue };
            let metadata = || storage.describe(&entry.folder);
            let name = NameScheme::of(fragment.version())
                .data_file(fragment.schema(), field, part)
                .map_err(|source| ArrayError::Fragment { file: metadata(), source })?;
            let file = || storage.describe(&format!("{}/{name}", entry.folder));
            let what = match sizes.get(name.as_str()) {
                Some(size) if *size >= said => continue,
                Some(size) => format!("found {size} bytes, expected {said} according to the fragment's metadata"),
                None => format!("missing; expected {said} bytes according to the fragment's metadata"),
            };
            return Err(ArrayError::Corrupt { file: file(), what });
        }
        Ok(())
    }

    /// Returns the MBR around the cells of a fragment, from the fragment's own metadata. Returns
    /// `None` without cells. The fragment may be superseded.
    ///
    /// # Errors
    /// The fragment's metadata cannot be read.
    pub fn domain_of(&self, entry: &FragmentEntry) -> Result<Option<NdRange>> {
        Ok(self.fragment_of(entry)?.non_empty_domain().cloned())
    }

    /// Returns the fragment of a directory entry, with metadata from the fragment's own file. The
    /// fragment may be uncommitted or superseded.
    ///
    /// # Errors
    /// The fragment's metadata or schema cannot be read.
    pub fn fragment_of(&self, entry: &FragmentEntry) -> Result<Fragment> {
        let unparsed = UnparsedFragment::read(self.storage().clone(), entry, self.access())?;
        let path = schema_path(unparsed.schema_name());
        let schema = match path == self.schema_path() {
            true => self.schema().clone(),
            false => load_schema(&**self.storage(), &path, self.access())?.into(),
        };
        unparsed.parse(schema)
    }
}
