//! What `cargo xtask conformance` can be asked for.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use tdb_cases::place::{Store, use_store};
use tdb_cases::runner::{self, Amount, CaseKind, Settings};
use tdb_cases::tally::{Counts, Tally};
use tdb_reference::{NEWEST, Reference, Release, release};

use super::change::{self, Change};
use super::create::{self, Create};
use super::filters::{self, Filters};
use super::maintain::{self, Maintain};
use super::on_store::OnStore;
use super::read::{Read, Written};
use super::{both_write, corruption, migrate, old_formats, releases, soak};

/// Cases of the short form of reading, which fits a run of continuous integration.
const SHORT: u64 = 400;
/// Cases of each kind by default; of each release where releases make the arrays.
const READ: u64 = 5000;
const QUERY: u64 = 5000;
const CREATE: u64 = 2000;
const CHANGE: u64 = 500;
const FILTERS: u64 = 300;
const MAINTAIN: u64 = 500;
/// Of the short form.
const SHORT_MAINTAIN: u64 = 20;
const OF_RELEASE: u64 = 100;
const OLD_FORMATS: u64 = 60;
const MIGRATE: u64 = 40;
const CORRUPTION: u64 = 3000;
/// On each store.
const STORES: u64 = 300;

/// What to compare; without a subcommand it is `read`.
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
    /// Arrays that the newest release writes, read by both sides
    Read(ReadArguments),
    /// Arrays that the newest release writes, asked by both sides for cells that fulfil conditions
    Query,
    /// The arrays of `read`, `write` and `query` on servers of stores, which are started if they don't run
    Stores {
        /// This server alone
        #[arg(long, value_name = "SERVER")]
        only: Option<String>,
    },
    /// Arrays that both sides write, each read by the newest release, and ours by us
    Write {
        /// Names the files that our library wrote otherwise than the release did
        #[arg(long)]
        bytes: bool,
    },
    /// Arrays that both sides create, and schemas that both must refuse
    Create,
    /// Schemas, metadata, deletes and groups that both sides change; the newest release reads both
    Change,
    /// Arrays and groups that both sides write, consolidate and vacuum in turn; both read them after each turn
    Maintain {
        /// Few cases, as for every change
        #[arg(long)]
        short: bool,
    },
    /// Readers of both sides, while both write, delete, consolidate and vacuum at once
    Soak {
        /// How long
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
    /// Fixtures that are altered, cut and robbed of files: what `tdb verify` finds, and what both readers do
    Corruption,
    /// Chains of filters over bytes that need not be whole values, each run by both sides
    Filters,
    /// Arrays that every release writes, as far as each can make them, read by the newest and by us
    Releases {
        #[command(flatten)]
        only: Only,
        /// Lets newer releases write to the arrays, one after the other
        #[arg(long)]
        append: bool,
    },
    /// Arrays of the newest format, migrated by us to the formats of all releases, read by each of these and by the newest
    Migrate {
        #[command(flatten)]
        only: Only,
    },
    /// Arrays in the formats of all releases, written by us, read by each of these and by the newest
    OldFormats {
        #[command(flatten)]
        only: Only,
    },
}

#[derive(Args, Clone, Copy, Debug, Default)]
struct ReadArguments {
    /// Few cases, as for every change; our library writes some of them too, in older formats
    #[arg(long, conflicts_with = "cases")]
    short: bool,
}

#[derive(Args, Clone, Debug)]
struct Only {
    /// This release alone
    #[arg(long, value_name = "RELEASE")]
    only: Option<String>,
}

impl Only {
    fn release(&self) -> tdb_reference::Result<Option<Release>> {
        self.only.as_deref().map(release).transpose()
    }
}

/// What all subcommands take.
#[derive(Args, Clone, Debug)]
pub struct CaseArguments {
    /// How many cases; of each release where releases make the arrays
    #[arg(long, global = true)]
    cases: Option<u64>,
    /// The random numbers to begin with; the same seed gives the same cases
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Runs this one case, and prints it
    #[arg(long, global = true)]
    case: Option<u64>,
    /// How many cases run at the same time; as many as there are processors if absent
    #[arg(long, global = true)]
    jobs: Option<usize>,
    /// Stops after this many failures
    #[arg(long, global = true, default_value_t = 5)]
    failures: u64,
    /// Prints failing cases as they are, which is quicker
    #[arg(long, global = true)]
    no_shrink: bool,
    /// Seconds after which a case that hasn't come to an end has failed, and ends the run
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

    /// The options that say the same to another program.
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

    /// The amount of each release, where cases that are left out are made up for.
    fn amount_of_release(&self, count: u64) -> Amount {
        Amount::compared(self.case, self.cases.unwrap_or(count))
    }
}

impl Arguments {
    /// The server that is named, or none, if it is stores that are asked for: a program with such a store has to run them, by
    /// [`run_on_store`].
    pub fn stores(&self) -> Option<Option<&str>> {
        match &self.what {
            Some(What::Stores { only }) => Some(only.as_deref()),
            _ => None,
        }
    }

    /// How many cases there are, and which.
    pub fn cases(&self) -> &CaseArguments {
        &self.shared
    }
}

/// Runs the cases of `cargo xtask conformance stores` on a store.
///
/// # Errors
///
/// If cases failed, or none could be run.
pub fn run_on_store(store: Store, arguments: &CaseArguments) -> Result<(), Box<dyn Error>> {
    Reference::start(NEWEST)?;
    use_store(store);
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let started = Instant::now();
    let (amount, settings) = (arguments.amount(STORES), arguments.settings());
    let tally = of_newest(OnStore::new(arguments.seed), amount, &settings, folder.path())?;
    summed_up(&tally, &both_write::lines(&tally.counts), started)
}

/// Runs `cargo xtask conformance`.
///
/// # Errors
///
/// If cases failed, or none could be run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.read.short && arguments.what.is_some() {
        return Err("`--short` is a form of `conformance` and `conformance read`".into());
    }
    // Fetches the library before the threads begin.
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

/// Prints what came of the cases.
fn summed_up(tally: &Tally, lines: &[String], started: Instant) -> Result<(), Box<dyn Error>> {
    println!("{}", tally.summary(lines, started.elapsed().as_secs_f64()));
    if tally.failed > 0 { Err(format!("{} cases failed", tally.failed).into()) } else { Ok(()) }
}

/// What came of the cases, and what their kind says of it in the summary.
type Outcome = (Tally, fn(&Counts) -> Vec<String>);

fn run_kind(what: &What, shared: &CaseArguments, folder: &Path) -> Result<Outcome, Box<dyn Error>> {
    let (seed, settings) = (shared.seed, shared.settings());
    Ok(match what {
        What::Read(ReadArguments { short }) => {
            let written = if *short { Written::Some } else { Written::None };
            let amount = shared.amount(if *short { SHORT } else { READ });
            let kind = Read { seed, written, conditions: false, names_files: false };
            (of_newest(kind, amount, &settings, folder)?, both_write::lines)
        }
        What::Query => {
            let kind = Read { seed, written: Written::None, conditions: true, names_files: false };
            (of_newest(kind, shared.amount(QUERY), &settings, folder)?, both_write::lines)
        }
        What::Write { bytes } => {
            let kind = Read { seed, written: Written::All, conditions: false, names_files: *bytes };
            (of_newest(kind, shared.amount(READ), &settings, folder)?, both_write::lines)
        }
        What::Create => (of_newest(Create { seed }, shared.amount(CREATE), &settings, folder)?, create::lines),
        What::Change => (of_newest(Change { seed }, shared.amount(CHANGE), &settings, folder)?, change::lines),
        What::Maintain { short } => {
            let amount = shared.amount_of_release(if *short { SHORT_MAINTAIN } else { MAINTAIN });
            (runner::run(Maintain { seed }, amount, &settings, folder)?, maintain::lines)
        }
        What::Stores { .. } => return Err("no store is named here: `cargo xtask conformance stores` names some".into()),
        What::Soak { .. } | What::Corruption => (Tally::default(), |_| Vec::new()),
        What::Filters => (of_newest(Filters { seed }, shared.amount(FILTERS), &settings, folder)?, filters::lines),
        What::Releases { only, append } => {
            let amount = shared.amount_of_release(OF_RELEASE);
            (releases::run((only.release()?, *append), &amount, &settings, folder)?, |_| Vec::new())
        }
        What::Migrate { only } => {
            let amount = shared.amount_of_release(MIGRATE);
            (migrate::run(only.release()?, &amount, &settings, folder)?, |_| Vec::new())
        }
        What::OldFormats { only } => {
            let amount = shared.amount_of_release(OLD_FORMATS);
            (old_formats::run(only.release()?, &amount, &settings, folder)?, |_| Vec::new())
        }
    })
}

/// Runs cases whose arrays the newest release makes.
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

/// Arrays are made and thrown away by the thousand: in memory, if there is a place for that.
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
    fn every_subcommand_takes_what_all_take() {
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
            let arguments = parse(&format!("{what} --cases 20 --seed 3 --jobs 2")).expect("it is understood");
            assert_eq!((arguments.shared.cases, arguments.shared.seed, arguments.shared.jobs), (Some(20), 3, Some(2)));
            assert_eq!(arguments.what.is_none(), what.is_empty());
            let first = parse(&format!("--seed 3 --case 81 {what}")).expect("it is understood");
            assert_eq!((first.shared.seed, first.shared.case), (3, Some(81)));
        }
    }

    #[test]
    fn releases_can_be_named() {
        let arguments = parse("old-formats --only 2.2.2").expect("it is understood");
        let Some(What::OldFormats { only }) = arguments.what else { panic!("{arguments:?}") };
        assert_eq!(only.release().expect("it is known").map(|release| release.library), Some("2.2.2"));
        let arguments = parse("releases --only 2.2.3").expect("it is understood");
        let Some(What::Releases { only, append: false }) = arguments.what else { panic!("{arguments:?}") };
        only.release().expect_err("no such release is known");
    }

    #[test]
    fn the_short_form_is_one_of_reading() {
        for line in ["--short", "read --short"] {
            parse(line).expect("it is understood");
        }
        for line in ["create --short", "--short --cases 3", "read --short --cases 3", "write --append", "--write"] {
            parse(line).expect_err(line);
        }
        let error = super::run(&parse("--short create").expect("the pieces are understood")).expect_err("not together");
        assert_eq!(error.to_string(), "`--short` is a form of `conformance` and `conformance read`");
    }

    #[test]
    fn another_program_is_told_the_same() {
        let arguments = parse("stores --cases 7 --seed 3 --no-shrink --jobs 1").expect("it is understood");
        assert_eq!(arguments.stores(), Some(None));
        let again = parse(&format!("stores {}", arguments.cases().options().join(" "))).expect("it is understood");
        assert_eq!(format!("{:?}", again.shared), format!("{:?}", arguments.shared));
        assert_eq!(parse("read").expect("it is understood").stores(), None);
        super::run(&arguments).expect_err("no store is named");
    }

    #[test]
    fn one_case_or_many_are_run() {
        let shared = |line| parse(line).expect("it is understood").shared;
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
