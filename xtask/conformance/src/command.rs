//! Arguments of `cargo xtask conformance`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use tdb_cases::place::{Store, use_store};
use tdb_cases::runner::{self, Amount, CaseKind, Settings};
use tdb_cases::tally::{Counts, Tally};
use tdb_reference::{NEWEST, Reference, Release, release};

use super::by_release::{self, Row};
use super::change::{self, Change};
use super::create::{self, Create};
use super::filters::{self, Filters};
use super::maintain::{self, Maintain};
use super::migrate::{self, Migration};
use super::old_formats::{self, OldFormat};
use super::read::{Manner, Read};
use super::releases::{self, OfRelease};
use super::{both_write, corruption, soak};

/// Number of cases of `read --short`, which fits a run of continuous integration.
const SHORT: u64 = 400;
/// Default number of cases of each kind. For kinds with releases, the number per release.
const READ: u64 = 5000;
const QUERY: u64 = 5000;
const CREATE: u64 = 2000;
const CHANGE: u64 = 500;
const FILTERS: u64 = 300;
const MAINTAIN: u64 = 500;
/// Number of cases of `maintain --short`.
const SHORT_MAINTAIN: u64 = 20;
const OF_RELEASE: u64 = 100;
const OLD_FORMATS: u64 = 60;
const MIGRATE: u64 = 40;
const CORRUPTION: u64 = 3000;
/// Number of cases per store.
const STORES: u64 = 300;

/// Arguments of `cargo xtask conformance`. The default subcommand is `read`.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    read: ReadArguments,
    #[command(flatten)]
    shared: CaseArguments,
}

#[derive(Subcommand, Clone, Debug)]
enum What {
    /// Read arrays written by the newest release, with tdb and the reference library
    Read(ReadArguments),
    /// Query arrays written by the newest release: conditions, selections and aggregates
    Query,
    /// Run the cases of `read`, `write` and `query` on store servers, and start the servers if
    /// needed
    Stores {
        /// Use only this server
        #[arg(long, value_name = "SERVER")]
        only: Option<String>,
    },
    /// Write arrays with tdb and the reference library; read both arrays with the newest release,
    /// and the array of tdb with tdb
    Write {
        /// List the files that tdb wrote differently from the release
        #[arg(long)]
        bytes: bool,
    },
    /// Create arrays with tdb and the reference library, including invalid schemas that both must
    /// refuse
    Create,
    /// Change schemas, metadata and groups and delete cells, with tdb and the reference library;
    /// read both results with the newest release
    Change,
    /// Write, consolidate and vacuum arrays and groups, alternately with tdb and the reference
    /// library; read with both after each turn
    Maintain {
        /// Run few cases, as continuous integration does for every change
        #[arg(long)]
        short: bool,
    },
    /// Read with tdb and the reference library while both write, delete, consolidate and vacuum
    Soak {
        /// Duration in seconds
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Alter, truncate and delete files of fixtures; compare `tdb verify`, the reader of tdb and
    /// the reference library
    Corruption,
    /// Run filter chains with tdb and the reference library, over bytes that need not be whole
    /// values
    Filters,
    /// Read arrays written by every release, as far as each supports them, with the newest release
    /// and tdb
    Releases {
        #[command(flatten)]
        only: Only,
        /// Append to the arrays with newer releases in sequence
        #[arg(long)]
        append: bool,
    },
    /// Migrate arrays of the newest format to the formats of all releases; read them with each
    /// release and the newest
    Migrate {
        #[command(flatten)]
        only: Only,
    },
    /// Write arrays in the formats of all releases with tdb; read them with each release and the
    /// newest
    OldFormats {
        #[command(flatten)]
        only: Only,
    },
}

#[derive(Args, Clone, Copy, Debug, Default)]
struct ReadArguments {
    /// Run few cases, as continuous integration does for every change; tdb writes some of them too,
    /// in older formats
    #[arg(long, conflicts_with = "cases")]
    short: bool,
}

#[derive(Args, Clone, Debug)]
struct Only {
    /// Use only this release
    #[arg(long, value_name = "RELEASE")]
    only: Option<String>,
}

impl Only {
    fn release(&self) -> tdb_reference::Result<Option<Release>> {
        self.only.as_deref().map(release).transpose()
    }
}

/// Arguments of all subcommands.
#[derive(Args, Clone, Debug)]
pub struct CaseArguments {
    /// Number of cases; for each release, if the subcommand runs releases
    #[arg(long, global = true)]
    cases: Option<u64>,
    /// Seed of the random numbers; equal seeds give equal cases
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Run only this case, and print it
    #[arg(long, global = true)]
    case: Option<u64>,
    /// Number of concurrent cases; the number of processors by default
    #[arg(long, global = true)]
    jobs: Option<usize>,
    /// Stop after this many failures
    #[arg(long, global = true, default_value_t = 5)]
    failures: u64,
    /// Print failing cases without shrinking, which is faster
    #[arg(long, global = true)]
    no_shrink: bool,
    /// Fail a case and end the run if the case takes longer than this many seconds
    #[arg(long, global = true, default_value_t = 120)]
    patience: u64,
}

impl CaseArguments {
    fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            jobs: self.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)),
            failures: self.failures,
            shrinks: !self.no_shrink,
            patience: Duration::from_secs(self.patience),
            prints: self.case.is_some(),
        }
    }

    /// Returns equivalent options for another program.
    pub fn options(&self) -> Vec<String> {
        let numbers = [("--cases", self.cases), ("--case", self.case), ("--jobs", self.jobs.map(|jobs| jobs as u64))];
        let given = numbers.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let always = [("--seed", self.seed), ("--failures", self.failures), ("--patience", self.patience)];
        let options = given.chain(always).flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
        options.chain(self.no_shrink.then(|| "--no-shrink".to_owned())).collect()
    }

    fn amount(&self, count: u64) -> Amount {
        Amount::new(self.case, self.cases.unwrap_or(count))
    }

    fn alterations(&self) -> corruption::Amount {
        let only = self.case.map(|case| case as usize);
        let cases = only.map_or(self.cases.unwrap_or(CORRUPTION) as usize, |only| only + 1);
        corruption::Amount { cases, seed: self.seed, jobs: self.settings().jobs, only }
    }

    /// Returns the amount per release. Cases that are left out are replaced by further cases.
    fn amount_of_release(&self, count: u64) -> Amount {
        Amount::compared(self.case, self.cases.unwrap_or(count))
    }
}

impl Arguments {
    /// Returns `Some` for the subcommand `stores`, with the name of the server if one was given.
    /// The caller starts the servers and calls [`run_on_store`] for each.
    pub fn stores(&self) -> Option<Option<&str>> {
        match &self.what {
            Some(What::Stores { only }) => Some(only.as_deref()),
            _ => None,
        }
    }

    /// Returns the arguments that select the cases.
    pub fn cases(&self) -> &CaseArguments {
        &self.shared
    }
}

/// Runs the cases of `cargo xtask conformance stores` on a store.
///
/// # Errors
/// Fails if cases fail or cannot be run.
pub fn run_on_store(store: Store, arguments: &CaseArguments) -> Result<(), Box<dyn Error>> {
    Reference::start(NEWEST)?;
    use_store(store);
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let started = Instant::now();
    let (amount, settings) = (arguments.amount(STORES), arguments.settings());
    let kind = Read { seed: arguments.seed, manner: Manner::Stores };
    let tally = of_newest(kind, amount, &settings, folder.path())?;
    summed_up(&tally, &both_write::lines(&tally.counts), started)
}

/// Runs `cargo xtask conformance`.
///
/// # Errors
/// Fails if cases fail or cannot be run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.read.short && arguments.what.is_some() {
        return Err("`--short` applies only to `conformance` and `conformance read`".into());
    }
    // Downloads the library before the threads start.
    Reference::start(NEWEST)?;
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let what = arguments.what.clone().unwrap_or(What::Read(arguments.read));
    if let What::Soak { seconds } = what {
        return soak::run(seconds, folder.path());
    }
    if matches!(what, What::Corruption) {
        return corruption::run(arguments.shared.alterations(), folder.path());
    }
    let started = Instant::now();
    let (tally, lines) = run_kind(&what, &arguments.shared, folder.path())?;
    summed_up(&tally, &lines(&tally.counts), started)
}

/// Prints the summary of a run.
fn summed_up(tally: &Tally, lines: &[String], started: Instant) -> Result<(), Box<dyn Error>> {
    println!("{}", tally.summary(lines, started.elapsed().as_secs_f64()));
    if tally.failed > 0 { Err(format!("{} cases failed", tally.failed).into()) } else { Ok(()) }
}

/// The tally of a run, and a function that formats the counters.
type Outcome = (Tally, fn(&Counts) -> Vec<String>);

fn run_kind(what: &What, shared: &CaseArguments, folder: &Path) -> Result<Outcome, Box<dyn Error>> {
    let (seed, settings) = (shared.seed, shared.settings());
    let read = |manner, count| -> Result<Outcome, String> {
        Ok((of_newest(Read { seed, manner }, shared.amount(count), &settings, folder)?, both_write::lines))
    };
    Ok(match what {
        What::Read(ReadArguments { short: true }) => read(Manner::Short, SHORT)?,
        What::Read(ReadArguments { short: false }) => read(Manner::Read, READ)?,
        What::Query => read(Manner::Query, QUERY)?,
        What::Write { bytes } => read(Manner::Write { names_files: *bytes }, READ)?,
        What::Create => (of_newest(Create { seed }, shared.amount(CREATE), &settings, folder)?, create::lines),
        What::Change => (of_newest(Change { seed }, shared.amount(CHANGE), &settings, folder)?, change::lines),
        What::Maintain { short } => {
            let amount = shared.amount_of_release(if *short { SHORT_MAINTAIN } else { MAINTAIN });
            (runner::run(Maintain { seed }, amount, &settings, folder)?, maintain::lines)
        }
        What::Stores { .. } => return Err("no store given; run `cargo xtask conformance stores`".into()),
        What::Soak { .. } | What::Corruption => (Tally::default(), |_| Vec::new()),
        What::Filters => (of_newest(Filters { seed }, shared.amount(FILTERS), &settings, folder)?, filters::lines),
        What::Releases { only, append } => {
            let kind = (only.release()?, |writer| OfRelease::new(seed, writer, *append), releases::row as Row);
            (by_release::run(kind, &shared.amount_of_release(OF_RELEASE), &settings, folder)?, |_| Vec::new())
        }
        What::Migrate { only } => {
            let kind = (only.release()?, |older| Migration { seed, older }, migrate::row as Row);
            (by_release::run(kind, &shared.amount_of_release(MIGRATE), &settings, folder)?, |_| Vec::new())
        }
        What::OldFormats { only } => {
            let kind = (only.release()?, |older| OldFormat { seed, older }, old_formats::row as Row);
            (by_release::run(kind, &shared.amount_of_release(OLD_FORMATS), &settings, folder)?, |_| Vec::new())
        }
    })
}

/// Runs cases whose arrays are written by the newest release.
fn of_newest<K: CaseKind>(kind: K, amount: Amount, settings: &Settings, folder: &Path) -> Result<Tally, String> {
    if let Amount::Indices(range) = &amount {
        println!(
            "{}: seed {}, cases {} to {}, release {NEWEST}",
            kind.command(),
            settings.seed,
            range.start,
            range.end.saturating_sub(1)
        );
    }
    runner::run(kind, amount, settings, folder)
}

/// Returns a folder for temporary arrays: in memory, if `/dev/shm` is writable.
fn scratch_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let usable = tempfile::tempfile_in(memory).is_ok();
    if usable { memory.to_owned() } else { std::env::temp_dir() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Amount, Arguments, READ, SHORT, What};

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(line: &str) -> Result<Arguments, String> {
        let words = std::iter::once("conformance").chain(line.split_whitespace());
        Command::try_parse_from(words).map(|command| command.arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn every_subcommand_accepts_common_options() {
        for what in [
            "",
            "read",
            "query",
            "write --bytes",
            "create",
            "change",
            "stores --only moto",
            "filters",
            "releases --append",
            "old-formats",
            "migrate",
            "corruption",
        ] {
            let arguments = parse(&format!("{what} --cases 20 --seed 3 --jobs 2")).expect("valid arguments");
            assert_eq!((arguments.shared.cases, arguments.shared.seed, arguments.shared.jobs), (Some(20), 3, Some(2)));
            assert_eq!(arguments.what.is_none(), what.is_empty());
            let first = parse(&format!("--seed 3 --case 81 {what}")).expect("valid arguments");
            assert_eq!((first.shared.seed, first.shared.case), (3, Some(81)));
        }
    }

    #[test]
    fn only_accepts_known_releases() {
        let arguments = parse("old-formats --only 2.2.2").expect("valid arguments");
        let Some(What::OldFormats { only }) = arguments.what else { panic!("{arguments:?}") };
        assert_eq!(only.release().expect("a known release").map(|release| release.library), Some("2.2.2"));
        let arguments = parse("releases --only 2.2.3").expect("valid arguments");
        let Some(What::Releases { only, append: false }) = arguments.what else { panic!("{arguments:?}") };
        only.release().expect_err("an unknown release");
    }

    #[test]
    fn short_form_applies_only_to_read() {
        for line in ["--short", "read --short"] {
            parse(line).expect("valid arguments");
        }
        for line in ["create --short", "--short --cases 3", "read --short --cases 3", "write --append", "--write"] {
            parse(line).expect_err(line);
        }
        let error = super::run(&parse("--short create").expect("valid arguments")).expect_err("an invalid combination");
        assert_eq!(error.to_string(), "`--short` applies only to `conformance` and `conformance read`");
    }

    #[test]
    fn options_for_another_program_are_equivalent() {
        let arguments = parse("stores --cases 7 --seed 3 --no-shrink --jobs 1").expect("valid arguments");
        assert_eq!(arguments.stores(), Some(None));
        let again = parse(&format!("stores {}", arguments.cases().options().join(" "))).expect("valid arguments");
        assert_eq!(format!("{:?}", again.shared), format!("{:?}", arguments.shared));
        assert_eq!(parse("read").expect("valid arguments").stores(), None);
        super::run(&arguments).expect_err("no store given");
    }

    #[test]
    fn amount_is_one_case_or_many() {
        let shared = |line| parse(line).expect("valid arguments").shared;
        let indices = |amount| match amount {
            Amount::Indices(range) => range,
            other => panic!("{other:?}"),
        };
        assert_eq!(indices(shared("").amount(READ)), 0..READ);
        assert_eq!(indices(shared("--short").amount(SHORT)), 0..SHORT);
        assert_eq!(indices(shared("--cases 7").amount(READ)), 0..7);
        assert_eq!(indices(shared("--case 7").amount(READ)), 7..8);
        let of_release = shared("--cases 7").amount_of_release(100);
        assert!(matches!(of_release, Amount::Compared { first: 0, count: 7 }), "{of_release:?}");
    }
}
