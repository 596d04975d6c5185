//! The reference library as reader of damaged fixtures: in a separate process that may crash, with
//! limits of time and memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tdb_cases::scalars::order_of;
use tdb_cases::writer::{start, use_key};
use tdb_corruption::{Damage, Subject, options};
use tdb_reference::model::{
    Bytes, FragmentSummary, GroupMember, ObjectKind, QuerySpec, RangesSpec, ReadColumn, ReadResult,
};
use tdb_reference::{Error, NEWEST, Reference};
use tdb_types::{ArrayType, Datatype, Layout};

use super::judge::Reading;

/// Timeout of one job of the library. Undamaged fixtures take milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Memory limit of the library in bytes. Undamaged fixtures take a few megabytes.
const MOST_MEMORY: u64 = 4 << 30;

/// The library, and a folder with the fixtures.
pub(super) struct Theirs {
    reference: Reference,
    /// Fixtures by name. `None` for a fixture that the library cannot read.
    sound: BTreeMap<&'static str, Option<Sound>>,
}

/// An undamaged fixture in a folder, and the digest of the library's reads.
struct Sound {
    folder: PathBuf,
    question: Question,
    /// Digest of everything that the library reads.
    seen: u64,
}

/// Reads of a fixture by the library.
enum Question {
    Array(Vec<QuerySpec>),
    /// The members with arrays or groups, by path below the group.
    Group(Vec<(String, ObjectKind)>),
}

impl Theirs {
    /// Copies the fixtures into a folder and reads each with the library.
    pub(super) fn new(folder: &Path, subjects: &[Subject]) -> Result<Self, String> {
        let mut reference = start(NEWEST).map_err(|error| error.to_string())?;
        reference.patience(PATIENCE);
        reference.most_memory(MOST_MEMORY);
        let mut theirs = Self { reference, sound: BTreeMap::new() };
        for subject in subjects {
            let folder = folder.join(subject.name());
            for (path, bytes) in subject.files() {
                restore(&folder, path, bytes)?;
            }
            let sound = theirs.sound_of(subject, folder);
            theirs.sound.insert(subject.name(), sound);
        }
        Ok(theirs)
    }

    /// Reads an undamaged fixture twice. Returns `None` if a read fails or the two reads differ.
    fn sound_of(&mut self, subject: &Subject, folder: PathBuf) -> Option<Sound> {
        use_key(&mut self.reference, subject.key().as_ref().map(|key| &key[..]));
        let uri = folder.to_string_lossy().into_owned();
        let question = match subject.is_group() {
            true => Question::Group(self.members(&uri)),
            false => Question::Array(self.queries(subject, &uri)?),
        };
        let [first, second] = [(); 2].map(|()| self.look(&folder, &question));
        let seen = first.ok().filter(|first| second.is_ok_and(|second| *first == second))?;
        Some(Sound { folder, question, seen })
    }

    /// Reads a damaged fixture and then restores it. Returns `None` if the library cannot read the
    /// undamaged fixture.
    pub(super) fn read_damaged(&mut self, subject: &Subject, damage: &Damage) -> Result<Option<Reading>, String> {
        use_key(&mut self.reference, subject.key().as_ref().map(|key| &key[..]));
        let Some(Some(sound)) = self.sound.remove(subject.name()) else { return Ok(None) };
        damage.apply_to(&sound.folder).map_err(|error| error.to_string())?;
        let looked = self.look(&sound.folder, &sound.question);
        for (path, _) in &damage.files {
            let before = subject.files().iter().find(|file| file.0 == *path);
            let (path, bytes) = before.ok_or("the damage is that of another fixture")?;
            restore(&sound.folder, path, bytes)?;
        }
        let reading = match looked {
            Ok(seen) if seen == sound.seen => Reading::Same,
            Ok(_) => Reading::Other,
            Err(error) => Reading::of_error(error)?,
        };
        self.sound.insert(subject.name(), Some(sound));
        Ok(Some(reading))
    }

    /// Reads a fixture and returns a digest of everything that was read.
    fn look(&mut self, folder: &Path, question: &Question) -> Result<u64, Error> {
        let mut seen = DefaultHasher::new();
        let uri = folder.to_string_lossy().into_owned();
        match question {
            Question::Array(queries) => self.look_at_array(&uri, queries, &mut seen)?,
            Question::Group(members) => {
                self.look_at_group(&uri, &mut seen)?;
                for (path, kind) in members {
                    let uri = format!("{uri}/{path}");
                    match kind {
                        ObjectKind::Group => self.look_at_group(&uri, &mut seen)?,
                        _ => drop(self.reference.metadata(&uri, None)?),
                    }
                }
            }
        }
        Ok(seen.finish())
    }

    fn look_at_array(&mut self, uri: &str, queries: &[QuerySpec], seen: &mut DefaultHasher) -> Result<(), Error> {
        format!("{:?}", self.reference.metadata(uri, None)?).hash(seen);
        let fragments = self.reference.fragments(uri)?;
        let domains = fragments.iter().map(|fragment| fragment.non_empty_domain.as_slice());
        format!("{:?}", domains.collect::<Vec<_>>()).hash(seen);
        for query in queries {
            hash_cells(&self.reference.read(uri, query)?, seen);
        }
        Ok(())
    }

    fn look_at_group(&mut self, uri: &str, seen: &mut DefaultHasher) -> Result<(), Error> {
        let group = self.reference.describe_group(uri)?;
        let mut members: Vec<String> = group.members.iter().map(|member| format!("{member:?}")).collect();
        members.sort();
        (members, format!("{:?}", group.metadata)).hash(seen);
        Ok(())
    }

    /// Returns the members of a group that are inside of the group's folder.
    fn members(&mut self, uri: &str) -> Vec<(String, ObjectKind)> {
        let Ok(group) = self.reference.describe_group(uri) else { return Vec::new() };
        let inside = |member: GroupMember| {
            let (_, path) = member.uri.split_once(&format!("{uri}/"))?;
            Some((path.to_owned(), member.kind))
        };
        group.members.into_iter().filter_map(inside).collect()
    }

    /// Returns queries for all cells at all times. Queries on a dense array are restricted to the
    /// bounding box of the undamaged array's fragments.
    fn queries(&mut self, subject: &Subject, uri: &str) -> Option<Vec<QuerySpec>> {
        let array = options(subject.key()).open_on(subject.storage()).ok()?;
        let is_dense = array.schema().array_type() == ArrayType::Dense;
        let layout = if is_dense { Layout::RowMajor } else { Layout::GlobalOrder };
        let mut query = QuerySpec::all(layout);
        if is_dense {
            let fragments = self.reference.fragments(uri).ok()?;
            if fragments.is_empty() {
                return Some(Vec::new());
            }
            let dimensions = array.schema().dimensions().iter();
            query.ranges = dimensions
                .enumerate()
                .map(|(index, dimension)| RangesSpec {
                    dimension: dimension.name().to_owned(),
                    ranges: vec![hull(&fragments, index, dimension.datatype())],
                })
                .collect();
        }
        let times: BTreeSet<u64> = subject.times().iter().copied().collect();
        let until = |time| QuerySpec { timestamps: Some((0, time)), ..query.clone() };
        Some(times.into_iter().map(until).collect())
    }
}

fn restore(folder: &Path, path: &str, bytes: &[u8]) -> Result<(), String> {
    let whole = folder.join(path);
    let made = whole.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(&whole, bytes)).map_err(|error| format!("{}: {error}", whole.display()))
}

/// Returns the minimum and maximum coordinate of all fragments along a dimension.
fn hull(fragments: &[FragmentSummary], dimension: usize, datatype: Datatype) -> (Bytes, Bytes) {
    let ends = || fragments.iter().filter_map(|fragment| fragment.non_empty_domain.get(dimension).cloned());
    let first = ends().map(|(first, _)| first).min_by_key(|first| order_of(datatype, first));
    let last = ends().map(|(_, last)| last).max_by_key(|last| order_of(datatype, last));
    (first.unwrap_or_default(), last.unwrap_or_default())
}

/// Hashes the cells independently of their order. Cells with equal coordinates may be returned in
/// any order.
fn hash_cells(read: &ReadResult, to: &mut DefaultHasher) {
    let columns: Vec<_> = read.columns.iter().map(ReadColumn::valid_cells).collect();
    let row = |row: usize| {
        let mut hasher = DefaultHasher::new();
        columns.iter().for_each(|column| column.get(row).hash(&mut hasher));
        hasher.finish()
    };
    let mut rows: Vec<u64> = (0..read.cells).map(row).collect();
    rows.sort_unstable();
    rows.hash(to);
    read.columns.iter().for_each(|column| column.column.name.hash(to));
}
