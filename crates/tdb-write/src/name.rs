//! Names of what is written: when it is said to have happened, and what makes it different from all else of that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tdb_snapshot::{Environment, Result, TimeRange};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENTS_FOLDER, OK_EXTENSION, WRITE_EXTENSION};
use tdb_types::{Feature, FormatVersion, NameForm, TimestampedName};

/// Where the names of new files come from: which time they carry, and what makes them unique.
///
/// By default the time is now, and the rest is a UUID of version 7: the moment in which it was made, a counter, and 62
/// random bits, of the [`Environment`]'s clock and random bytes. No two are equal; and of two that carry the same time, the one made later is the greater one, which for
/// fragments means that it wins.
///
/// ```
/// use tdb_array::Names;
///
/// let names = Names::new().at(1_700_000_000_000); // said to be written then
/// let names = names.seeded(7); // the same names on every run
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Names {
    at: Option<u64>,
    /// Until when, where a name is of a range of time.
    until: Option<u64>,
    seeded: Option<Seeded>,
    /// What makes the names of files that bear their time different from others.
    unique: Option<u128>,
}

#[derive(Clone, Debug)]
struct Seeded {
    seed: u64,
    /// How many names were made; shared by clones, so that all of their names differ.
    count: Arc<AtomicU64>,
}

impl Names {
    /// The time is now, and no two names are equal.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is written is said to be written at this millisecond since 1970-01-01 00:00 UTC.
    pub fn at(mut self, time: u64) -> Self {
        self.at = Some(time);
        self.until = None;
        self
    }

    /// What is written was said to be written over this range of time: what replaces things of different times.
    pub fn over(mut self, start: u64, end: u64) -> Self {
        self.at = Some(start);
        self.until = Some(end);
        self
    }

    /// The times and the unique part of another name: for what is a copy of something, so that copies have the order of the
    /// originals. It is for one write into an array that has nothing of that name.
    pub fn like(mut self, name: &TimestampedName) -> Self {
        self.unique = name.uuid();
        self.over(name.start(), name.end())
    }

    /// The UUIDs follow from `seed`, for output that is the same byte for byte on every run. Clones go on with one
    /// sequence. Choose a time as well; and take care that no two writers to one array have the same seed and time.
    ///
    /// What encryption needs of randomness remains random: to encrypt two things alike would give both away.
    pub fn seeded(mut self, seed: u64) -> Self {
        self.seeded = Some(Seeded { seed, count: Arc::default() });
        self
    }

    /// Whether two writers may be given the same name: what makes it different isn't random.
    pub(crate) fn may_repeat(&self) -> bool {
        self.seeded.is_some() || self.unique.is_some()
    }

    /// Whether the time was chosen.
    pub(crate) fn is_fixed(&self) -> bool {
        self.at.is_some()
    }

    /// The time that was chosen, else now.
    fn time(&self, environment: &Environment) -> Result<u64> {
        self.at.map_or_else(|| environment.now(), Ok)
    }

    /// What makes the next name different from all others.
    pub(crate) fn uuid(&self, environment: &Environment) -> Result<u128> {
        match &self.seeded {
            Some(seeded) => Ok(seeded.next()),
            None => environment.uuid_v7(),
        }
    }

    /// The next name of this form for what was made over a range of time, whatever time was chosen.
    pub(crate) fn next_over(
        &self,
        form: NameForm,
        time: TimeRange,
        environment: &Environment,
    ) -> Result<TimestampedName> {
        Ok(TimestampedName::new(form, time.start, time.end, self.uuid(environment)?))
    }

    /// The next name of this form.
    pub fn next(&self, form: NameForm, environment: &Environment) -> Result<TimestampedName> {
        let time = self.time(environment)?;
        let unique = self.unique.map_or_else(|| self.uuid(environment), Ok)?;
        Ok(TimestampedName::new(form, time, self.until.unwrap_or(time), unique))
    }
}

impl Seeded {
    /// Later ones are greater.
    fn next(&self) -> u128 {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let high = (mixed(self.seed) & !0xffff_ffff) | (count & 0xffff_ffff);
        u128::from(high) << 64 | u128::from(mixed(high ^ count.rotate_left(32)))
    }
}

/// A one-to-one mixture of the bits (the finaliser of SplitMix64).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Where a fragment lies, and the file that commits it: what `FragmentEntry` finds out from names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// The name of its folder, and of its commit without the extension.
    pub name: TimestampedName,
    /// The path of its folder below the array's.
    pub folder: String,
    /// The path of the file that commits it; `None` before format 5, where its metadata does.
    pub commit: Option<String>,
}

impl FragmentPlace {
    /// The place of a fragment of this version and name.
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
    fn names_of_one_millisecond_are_unique_and_in_order_in_each_thread() {
        let names = Names::new().at(5);
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
            Names::new().at(5).next(NameForm::Unversioned, &Environment::system()).unwrap(),
        );
        assert!(a.as_str() < b.as_str(), "{a} {b}");
    }

    #[test]
    fn a_seed_gives_the_same_names_again() {
        let make = |seed| {
            let names = Names::new().at(9).seeded(seed);
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
            Names::new().at(9).seeded(1).next(NameForm::Unversioned, &Environment::system()).unwrap().start(),
            9
        );
    }

    #[test]
    fn places_are_those_that_readers_look_at() {
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
