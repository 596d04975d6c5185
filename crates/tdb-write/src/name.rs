//! Names of new files: timestamps and unique parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tdb_snapshot::{Environment, Result, TimeRange};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENTS_FOLDER, OK_EXTENSION, WRITE_EXTENSION};
use tdb_types::{Feature, FormatVersion, NameForm, TimestampedName};

/// The source of names for new files: timestamps and unique parts.
///
/// By default, the timestamp is the current time. The unique part is a UUID version 7: creation
/// time, counter and 62 random bits, from the clock and random bytes of the [`Environment`]. All
/// names are distinct. Names with equal timestamps sort in the order of their creation. Among
/// fragments with equal timestamps, the later write therefore takes precedence.
///
/// ```
/// use tdb_array::WriteIds;
///
/// let names = WriteIds::new().at(1_700_000_000_000); // the timestamp of the write
/// let names = names.seeded(7); // the same names on every run
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct WriteIds {
    at: Option<u64>,
    /// End of the time range, if names cover a range.
    until: Option<u64>,
    seeded: Option<Seeded>,
    /// Unique part of names that copy another name.
    unique: Option<u128>,
}

#[derive(Clone, Debug)]
struct Seeded {
    seed: u64,
    /// Number of UUIDs created. Clones share the counter, to keep names distinct.
    count: Arc<AtomicU64>,
}

impl WriteIds {
    /// Creates a source of unique names with the current time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timestamp, in milliseconds since 1970-01-01 00:00 UTC.
    pub fn at(mut self, time: u64) -> Self {
        self.at = Some(time);
        self.until = None;
        self
    }

    /// Sets a range of timestamps in milliseconds, for a file or fragment that replaces files or
    /// fragments of several times.
    pub fn over(mut self, start: u64, end: u64) -> Self {
        self.at = Some(start);
        self.until = Some(end);
        self
    }

    /// Uses the timestamps and the unique part of another name. Copied fragments then keep the
    /// order of the originals. Use the result for a single write, into an array that does not
    /// contain the name yet.
    pub fn like(mut self, name: &TimestampedName) -> Self {
        self.unique = name.uuid();
        self.over(name.start(), name.end())
    }

    /// Derives the UUIDs from `seed`, for output that is identical on every run. Clones share one
    /// sequence. Set a timestamp as well. Two writers to the same array must not share seed and
    /// timestamp.
    ///
    /// Encryption still uses random initialization vectors, because a repeated vector would reveal
    /// the plaintext.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seeded = Some(Seeded { seed, count: Arc::default() });
        self
    }

    /// Returns `true` if two writers may get the same name, because the unique part is not random.
    pub(crate) fn may_repeat(&self) -> bool {
        self.seeded.is_some() || self.unique.is_some()
    }

    /// Returns `true` if the timestamp was set.
    pub(crate) fn is_fixed(&self) -> bool {
        self.at.is_some()
    }

    /// Returns the timestamp that was set, or else the current time.
    fn time(&self, environment: &Environment) -> Result<u64> {
        self.at.map_or_else(|| environment.now(), Ok)
    }

    /// Returns the next unique part.
    pub(crate) fn uuid(&self, environment: &Environment) -> Result<u128> {
        match &self.seeded {
            Some(seeded) => Ok(seeded.next()),
            None => environment.uuid_v7(),
        }
    }

    /// Returns the next name for a time range. Ignores the timestamp of this source.
    pub(crate) fn next_over(
        &self,
        form: NameForm,
        time: TimeRange,
        environment: &Environment,
    ) -> Result<TimestampedName> {
        Ok(TimestampedName::new(form, time.start, time.end, self.uuid(environment)?))
    }

    /// Returns the next name of the given form.
    ///
    /// # Errors
    /// The clock or the random bytes are not available.
    pub fn next(&self, form: NameForm, environment: &Environment) -> Result<TimestampedName> {
        let time = self.time(environment)?;
        let unique = self.unique.map_or_else(|| self.uuid(environment), Ok)?;
        Ok(TimestampedName::new(form, time, self.until.unwrap_or(time), unique))
    }
}

impl Seeded {
    /// Returns the next value of an ascending sequence.
    fn next(&self) -> u128 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let high = (mixed(self.seed) & !0xffff_ffff) | (count & 0xffff_ffff);
        u128::from(high) << 64 | u128::from(mixed(high ^ count.rotate_left(32)))
    }
}

/// Mixes the bits. The function is a bijection: the finalizer of SplitMix64.
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The folder of a fragment, and the file that commits it. `FragmentEntry` is the counterpart for
/// reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// Name of the folder, and of the commit file without extension.
    pub name: TimestampedName,
    /// Path of the fragment folder, relative to the array.
    pub folder: String,
    /// Path of the commit file. `None` before format 5, where the metadata file commits the
    /// fragment.
    pub commit: Option<String>,
}

impl FragmentPlace {
    /// Returns the location of a fragment of this version and name.
    pub(crate) fn new(version: FormatVersion, name: TimestampedName) -> Self {
        if version.has(Feature::CommitsFolder) {
            let folder = format!("{FRAGMENTS_FOLDER}/{name}");
            let commit = Some(format!("{COMMITS_FOLDER}/{name}.{WRITE_EXTENSION}"));
            return Self { name, folder, commit };
        }
        let commit = version.has(Feature::RootCommits).then(|| format!("{name}.{OK_EXTENSION}"));
        Self { folder: name.to_string(), name, commit }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_of_one_millisecond_are_unique_and_ascend_in_each_thread() {
        let names = WriteIds::new().at(5);
        let threads: Vec<_> = std::thread::scope(|scope| {
            let make = || {
                let names: Vec<_> = (0..5000)
                    .map(|_| names.next(NameForm::Versioned(22), &Environment::system()).unwrap().to_string())
                    .collect();
                assert!(names.is_sorted());
                names
            };
            let handles: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
        });
        assert_eq!(threads.iter().collect::<HashSet<_>>().len(), 20_000);
        assert!(threads.iter().all(|name| name.starts_with("__5_5_")));
        let (a, b) = (
            names.next(NameForm::Unversioned, &Environment::system()).unwrap(),
            WriteIds::new().at(5).next(NameForm::Unversioned, &Environment::system()).unwrap(),
        );
        assert!(a.as_str() < b.as_str(), "{a} {b}");
    }

    #[test]
    fn equal_seeds_give_equal_names() {
        let make = |seed| {
            let names = WriteIds::new().at(9).seeded(seed);
            let clone = names.clone();
            [
                names.uuid(&Environment::system()).unwrap(),
                clone.uuid(&Environment::system()).unwrap(),
                names.uuid(&Environment::system()).unwrap(),
            ]
        };
        assert_eq!(make(1), make(1));
        assert!(make(1).is_sorted() && make(1)[0] != make(1)[1] && make(1) != make(2));
        assert_eq!(
            WriteIds::new().at(9).seeded(1).next(NameForm::Unversioned, &Environment::system()).unwrap().start(),
            9
        );
    }

    #[test]
    fn places_equal_those_of_readers() {
        let place = |version| {
            let version = FormatVersion::new(version).unwrap();
            let name = TimestampedName::new(TimestampedName::form_of_fragments(version), 1, 1, 0xf);
            let place = FragmentPlace::new(version, name);
            format!("{} {}", place.folder, place.commit.unwrap_or_default())
                .replace("0000000000000000000000000000000f", "u")
        };
        assert_eq!(place(1), "__u_1 ");
        assert_eq!(place(4), "__1_1_u ");
        assert_eq!(place(5), "__1_1_u_5 __1_1_u_5.ok");
        assert_eq!(place(11), "__1_1_u_11 __1_1_u_11.ok");
        assert_eq!(place(12), "__fragments/__1_1_u_12 __commits/__1_1_u_12.wrt");
    }
}
