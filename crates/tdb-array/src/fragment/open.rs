//! From a folder to a fragment, in two steps, for between them the schema has to be known.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_fragment::{FragmentFooter, Step, first_read, locate};
use tdb_schema::ArraySchema;
use tdb_storage::Storage;
use tdb_types::{ByteReader, Feature};

use super::metadata_file::MetadataFile;
use super::{Fragment, Inner};
use crate::access::Access;
use crate::directory::{FRAGMENT_METADATA, FragmentEntry};
use crate::{ArrayError, Result};

/// A fragment whose metadata was opened, but not yet parsed for want of the schema that it names.
#[derive(Debug)]
pub(crate) struct UnparsedFragment {
    storage: Arc<dyn Storage>,
    entry: FragmentEntry,
    metadata: MetadataFile,
    access: Access,
    schema_name: Option<String>,
}

impl UnparsedFragment {
    /// Reads the end of the metadata, with the footer if possible, and finds out which schema it names.
    pub(crate) fn read(storage: Arc<dyn Storage>, entry: &FragmentEntry, access: &Access) -> Result<Self> {
        let path = format!("{}/{FRAGMENT_METADATA}", entry.folder);
        let mut metadata = MetadataFile::open(&*storage, &path)?;
        metadata.read_tail(first_read(metadata.size()).start)?;
        let mut fragment = Self { storage, entry: entry.clone(), metadata, access: access.clone(), schema_name: None };
        if fragment.entry.version.has(Feature::SchemaFolder)
            && let Some(footer) = fragment.locate(None)?
        {
            let bytes = fragment.metadata.bytes(footer)?;
            let name = FragmentFooter::schema_name(&bytes).map_err(|source| fragment.metadata.error(source))?.1;
            fragment.schema_name = Some(name);
        }
        Ok(fragment)
    }

    /// The name of the file of the schema; none for formats that had one schema only.
    pub(crate) fn schema_name(&self) -> Option<&str> {
        self.schema_name.as_deref()
    }

    /// The error of a fragment that names a schema which isn't there.
    #[cold]
    pub(crate) fn without_schema(&self) -> ArrayError {
        let name = self.schema_name.as_deref().unwrap_or("");
        ArrayError::Corrupt { file: self.metadata.path().to_owned(), what: format!("there is no schema {name:?}") }
    }

    /// Parses the footer, knowing the schema.
    pub(crate) fn parse(mut self, schema: Arc<ArraySchema>) -> Result<Fragment> {
        let Some(range) = self.locate(Some(&schema))? else {
            return Err(ArrayError::Unsupported {
                file: self.metadata.path().to_owned(),
                what: "fragment metadata of formats 1 and 2 is not read by this release".to_owned(),
            });
        };
        self.metadata.footer_start = range.start;
        let bytes = self.metadata.bytes(range.clone())?;
        let footer = FragmentFooter::parse(ByteReader::at(&bytes, range.start), &schema)
            .map_err(|source| self.metadata.error(source))?;
        drop(bytes);
        Ok(Fragment {
            inner: Arc::new(Inner {
                storage: self.storage,
                entry: self.entry,
                schema,
                footer,
                metadata: self.metadata,
                access: self.access,
                rtree: OnceLock::new(),
                fields: Mutex::new(HashMap::new()),
            }),
        })
    }

    /// Finds the footer, reading more of the file's end if the first read was too short.
    fn locate(&mut self, schema: Option<&ArraySchema>) -> Result<Option<Range<u64>>> {
        loop {
            let step = locate(self.entry.version, schema, self.metadata.size(), self.metadata.tail())
                .map_err(|source| self.metadata.error(source))?;
            match step {
                Step::Footer(range) => return Ok(Some(range)),
                Step::Need(range) => self.metadata.read_tail(range.start)?,
                _ => return Ok(None),
            }
        }
    }
}
