//! Opening of fragments in two steps, with the schema lookup between them.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_fragment::{FragmentError, FragmentFile, FragmentFolder, FragmentFooter, Step, locate};
use tdb_schema::ArraySchema;
use tdb_storage::Storage;
use tdb_types::names::FRAGMENT_METADATA;
use tdb_types::{ByteReader, Feature};

use super::metadata::{Metadata, Sections};
use super::metadata_file::{MOST_FIRST, MetadataFile};
use super::{Fragment, Inner};
use crate::access::Access;
use crate::directory::FragmentEntry;
use crate::{ArrayError, Result};

/// A fragment with unparsed metadata. Parsing requires the schema that the metadata names.
#[derive(Debug)]
pub(crate) struct UnparsedFragment {
    storage: Arc<dyn Storage>,
    entry: FragmentEntry,
    file: MetadataFile,
    access: Access,
    schema_name: Option<String>,
    /// The footer, if it is from consolidated metadata.
    footer: Option<ConsolidatedFooter>,
}

/// A footer from consolidated fragment metadata.
#[derive(Debug)]
struct ConsolidatedFooter {
    /// The path of the consolidated file, for messages.
    file: String,
    bytes: Vec<u8>,
    /// Offset of the footer in the payload of the file.
    offset: u64,
}

impl Fragment {
    fn of(storage: Arc<dyn Storage>, entry: FragmentEntry, metadata: Arc<Metadata>, access: Access) -> Self {
        let (rtree, totals) = (OnceLock::new(), OnceLock::new());
        let (fields, statistics, folded) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { inner: Arc::new(Inner { storage, entry, metadata, access, rtree, fields, statistics, folded, totals }) }
    }

    /// Returns the same fragment with only its footer loaded: no open data files, no cached
    /// sections.
    pub fn afresh(&self) -> Self {
        let Inner { storage, entry, metadata, access, .. } = &*self.inner;
        Self::of(storage.clone(), entry.clone(), metadata.clone(), access.clone())
    }

    /// Returns the fragment's entry in the array directory.
    pub(crate) fn entry(&self) -> &FragmentEntry {
        &self.inner.entry
    }
}

impl UnparsedFragment {
    /// Reads the tail of the metadata file, with the footer if possible, and finds the name of the
    /// schema.
    pub(crate) fn read(storage: Arc<dyn Storage>, entry: &FragmentEntry, access: &Access) -> Result<Self> {
        let path = format!("{}/{FRAGMENT_METADATA}", entry.folder);
        // Formats without a footer need the whole file.
        let whole = entry.version.has(Feature::LegacyFragmentMetadata);
        let file = MetadataFile::closed(storage.clone(), path, access).open(whole)?;
        let mut fragment =
            Self { storage, entry: entry.clone(), file, access: access.clone(), schema_name: None, footer: None };
        if fragment.entry.version.has(Feature::SchemaFolder)
            && let Some(footer) = fragment.locate(None)?
        {
            let bytes = fragment.file.bytes(footer.clone())?;
            let name = schema_name(ByteReader::at(&bytes, footer.start), &fragment.entry);
            fragment.schema_name = Some(name.map_err(|source| fragment.file.error(source))?);
        }
        Ok(fragment)
    }

    /// Creates a fragment from a footer in the consolidated metadata `file`. Reads nothing.
    pub(crate) fn consolidated(
        storage: Arc<dyn Storage>,
        entry: &FragmentEntry,
        access: &Access,
        file: &str,
        footer: ByteReader<'_>,
    ) -> Result<Self> {
        let path = format!("{}/{FRAGMENT_METADATA}", entry.folder);
        let found =
            ConsolidatedFooter { file: file.to_owned(), bytes: footer.rest().to_vec(), offset: footer.offset() };
        let mut schema = None;
        if entry.version.has(Feature::SchemaFolder) {
            schema = Some(schema_name(footer, entry).map_err(|source| found.error(entry, &source))?);
        }
        let closed = MetadataFile::closed(storage.clone(), path, access);
        let entry = entry.clone();
        Ok(Self { storage, entry, file: closed, access: access.clone(), schema_name: schema, footer: Some(found) })
    }

    /// Returns the path of the fragment folder below the array's folder.
    pub(crate) fn folder(&self) -> &str {
        &self.entry.folder
    }

    /// Returns the file name of the schema. `None` in formats with a single schema.
    pub(crate) fn schema_name(&self) -> Option<&str> {
        self.schema_name.as_deref()
    }

    /// Returns the bytes of metadata that stay in memory until the metadata is parsed.
    pub(crate) fn kept(&self) -> u64 {
        self.file.tail().len() as u64
    }

    /// Releases the bytes counted by [`kept`](Self::kept). Parsing reads these bytes again.
    pub(crate) fn let_go(&mut self) {
        self.file.forget_tail();
    }

    /// Returns the error for a missing schema.
    #[cold]
    pub(crate) fn without_schema(&self) -> ArrayError {
        let name = self.schema_name.as_deref().unwrap_or("");
        ArrayError::Corrupt {
            file: self.file.described.clone(),
            what: format!("schema {name:?} is missing or unreadable; check whether this copy of the array is complete"),
        }
    }

    /// Parses the footer with its schema.
    pub(crate) fn parse(mut self, schema: Arc<ArraySchema>) -> Result<Fragment> {
        let metadata = if let Some(found) = &self.footer {
            let footer = parse_footer(ByteReader::at(&found.bytes, found.offset), &self.entry, &schema);
            let footer = footer.map_err(|source| found.error(&self.entry, &source))?;
            Metadata { footer, schema, access: self.access.clone(), file: self.file, sections: Sections::Stored }
        } else if let Some(range) = self.locate(Some(&schema))? {
            with_footer(self.file, range, &self.entry, schema, self.access.clone())?
        } else {
            without_footer(self.file, &self.entry, schema, self.access.clone())?
        };
        let Self { storage, entry, access, .. } = self;
        Ok(Fragment::of(storage, entry, Arc::new(metadata), access))
    }

    /// Checks the footer, and returns its bytes. Returns `None` in formats without footers.
    pub(crate) fn footer_bytes(mut self, schema: &ArraySchema) -> Result<Option<Vec<u8>>> {
        let Some(range) = self.locate(Some(schema))? else { return Ok(None) };
        let bytes = self.file.bytes(range.clone())?.into_owned();
        let parsed = parse_footer(ByteReader::at(&bytes, range.start), &self.entry, schema);
        parsed.map_err(|source| self.file.error(source))?;
        Ok(Some(bytes))
    }

    /// Finds the footer, and reads more of the tail if needed. Returns `None` in formats without
    /// footers.
    fn locate(&mut self, schema: Option<&ArraySchema>) -> Result<Option<Range<u64>>> {
        loop {
            let step = locate(self.entry.version, schema, self.file.size()?, self.file.tail())
                .map_err(|source| self.file.error(source))?;
            match step {
                Step::Footer(range) => return Ok(Some(range)),
                Step::Need(range) => self.file.read_tail(range.start)?,
                _ => return Ok(None),
            }
        }
    }
}

impl ConsolidatedFooter {
    /// Returns the error for an invalid footer, or a footer of another fragment.
    #[cold]
    fn error(&self, entry: &FragmentEntry, source: &FragmentError) -> ArrayError {
        let what = format!("footer of fragment {:?}: {source}", entry.name.as_str());
        ArrayError::Corrupt { file: self.file.clone(), what }
    }
}

fn with_footer(
    mut file: MetadataFile,
    range: Range<u64>,
    entry: &FragmentEntry,
    schema: Arc<ArraySchema>,
    access: Access,
) -> Result<Metadata> {
    file.end_sections_at(range.start);
    let bytes = file.bytes(range.clone())?;
    let footer = parse_footer(ByteReader::at(&bytes, range.start), entry, &schema);
    let footer = footer.map_err(|source| file.error(source))?;
    drop(bytes);
    if file.tail().len() as u64 > MOST_FIRST {
        // A long tail is not worth the memory: the footer is parsed, and most sections are
        // elsewhere.
        file.forget_tail();
    }
    Ok(Metadata { footer, schema, access, file, sections: Sections::Stored })
}

/// Parses the metadata of formats 1 and 2, where the whole file is one generic tile.
fn without_footer(
    mut file: MetadataFile,
    entry: &FragmentEntry,
    schema: Arc<ArraySchema>,
    access: Access,
) -> Result<Metadata> {
    let folder = FragmentFolder { version: entry.version, has_coordinates: entry.has_coordinates };
    let mut decoder = access.decoder();
    if file.tail().is_empty() {
        file.read_tail(0)?;
    }
    let bytes = file.tail();
    let mut parse = || -> Result<_, FragmentError> {
        let read = FragmentFile::parse(bytes, folder, &schema, &mut decoder, None)?;
        let range = read.footer.element_types_range().unwrap_or_default();
        let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        let start = range.and_then(|(start, end)| bytes.get(start..end));
        let element_types = read.footer.element_types(start.unwrap_or_default())?;
        Ok((read, element_types))
    };
    let (read, element_types) = parse().map_err(|source| file.error(source))?;
    file.forget_tail();
    let FragmentFile { footer, contents } = read;
    let sections = Sections::Loaded { contents: Box::new(contents), element_types };
    Ok(Metadata { footer, schema, access, file, sections })
}

fn schema_name(footer: ByteReader<'_>, entry: &FragmentEntry) -> Result<String, FragmentError> {
    let bytes = footer.rest();
    FragmentFooter::check_version(footer, entry.version)?;
    Ok(FragmentFooter::schema_name(bytes)?.1)
}

fn parse_footer(
    footer: ByteReader<'_>,
    entry: &FragmentEntry,
    schema: &ArraySchema,
) -> Result<FragmentFooter, FragmentError> {
    FragmentFooter::check_version(footer.clone(), entry.version)?;
    FragmentFooter::parse(footer, schema)
}
