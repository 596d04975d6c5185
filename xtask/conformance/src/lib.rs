//! Random arrays, written by the reference library and read by both sides.
//!
//! * `generate`: cases from random numbers; everything is settled before anything is run;
//! * `examine`: runs a case on both sides; `ours` reads, `facts` and `compare` say what differs;
//! * `both_write`: the same array written by both sides;
//! * `overhang`: arrays in whose last tile the library crashes;
//! * `old_formats`: arrays of older formats, written by ours, read by the releases of that time;
//! * `limits` and `releases`: the same by older releases;
//! * `defects`: what the library is known to get wrong;
//! * `shrink` and `print`: what differs, as small and as readable as it can be made.

mod both_write;
mod case;
mod change;
mod compare;
mod coverage;
mod create;
mod defects;
mod examine;
mod facts;
mod filters;
mod generate;
mod limits;
mod old_formats;
mod ours;
mod overhang;
mod print;
mod random;
mod releases;
mod shrink;
mod verdict;
mod writer;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use tdb_types::FormatVersion;

use both_write::Files;
use case::{Case, Step, seed_of};
use coverage::Coverage;
use examine::examine;
use tdb_reference::{NEWEST, RELEASES, Reference};
use verdict::{Failure, Kind, Verdict};

/// Cases of the short form, which fits a run of continuous integration.
const SHORT: u64 = 400;
/// Cases of the long form.
const LONG: u64 = 5000;
/// Of the short form one case in `WRITTEN` is written by our library too.
const WRITTEN: u64 = 10;
/// Of the cases that our library writes, one in `OLDER` is written in an older format.
const OLDER: u64 = 5;
/// Of the cases that our library doesn't write, one in `DISORDERED` has cells that aren't in the order that they should have.
const DISORDERED: u64 = 7;
/// After so many cases a run says how far it is.
const STEP: u64 = 100;
/// How long the library may take for one job: those of a case take a few milliseconds. Where it doesn't come to an end, it
/// takes a gigabyte of memory every few seconds.
const JOB_PATIENCE: Duration = Duration::from_secs(15);

/// What to compare.
#[derive(Args)]
pub struct Arguments {
    /// How many cases
    #[arg(long)]
    cases: Option<u64>,
    /// Few cases, as for every change
    #[arg(long, conflicts_with = "cases")]
    short: bool,
    /// Arrays by every release, as far as each can make them, read by the newest
    #[arg(long)]
    releases: bool,
    /// Arrays by this release alone
    #[arg(long, requires = "releases")]
    only: Option<String>,
    /// Lets newer releases write to the arrays, one after the other
    #[arg(long, requires = "releases", conflicts_with = "write")]
    append: bool,
    /// Has our library write too, and the newest release read it; with `--releases` in the format of each, which reads it too
    #[arg(long)]
    write: bool,
    /// Names the files that our library wrote otherwise than the release did
    #[arg(long, requires = "write")]
    bytes: bool,
    /// Arrays that we create beside those that the library creates, and schemas that both must refuse
    #[arg(long, conflicts_with = "releases")]
    create: bool,
    /// Schemas, metadata, deletes and groups that we change beside the library, which reads both
    #[arg(long, conflicts_with_all = ["releases", "create"])]
    change: bool,
    /// Chains of filters over bytes that need not be whole values, each run by both sides
    #[arg(long, conflicts_with_all = ["releases", "create", "change", "write"])]
    filters: bool,
    /// The random numbers to begin with; the same seed gives the same cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Runs this one case, and prints it
    #[arg(long)]
    case: Option<u64>,
    /// How many cases run at the same time; as many as there are processors if absent
    #[arg(long)]
    jobs: Option<usize>,
    /// Stops after this many failures
    #[arg(long, default_value_t = 5)]
    failures: usize,
    /// Prints failing cases as they are, which is quicker
    #[arg(long)]
    no_shrink: bool,
    /// Seconds after which a case that hasn't come to an end is given up, and the run with it
    #[arg(long, default_value_t = 120)]
    patience: u64,
}

/// What all threads share.
struct Run<'a> {
    arguments: &'a Arguments,
    folder: PathBuf,
    next: AtomicU64,
    end: u64,
    started: Instant,
    tally: Mutex<Tally>,
    /// When each thread began its case, in milliseconds since the start, and which case that is.
    watched: Vec<(AtomicU64, AtomicU64)>,
}

#[derive(Default)]
struct Tally {
    agreed: u64,
    reads: u64,
    cells: u64,
    excused: BTreeMap<String, u64>,
    failed: u64,
    coverage: Coverage,
    files: Files,
}

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if arguments.filters {
        return filters::run(arguments);
    }
    if arguments.change {
        return change::run(arguments);
    }
    if arguments.create {
        return create::run(arguments);
    }
    if arguments.releases && arguments.write {
        return old_formats::run(arguments);
    }
    if arguments.releases {
        return releases::run(arguments);
    }
    // Fetches the library before the threads begin.
    Reference::start(NEWEST)?;
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let count = arguments.cases.unwrap_or(if arguments.short { SHORT } else { LONG });
    let (first, end) = arguments.case.map_or((0, count), |case| (case, case + 1));
    let jobs = arguments.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    println!("seed {}, cases {first} to {}, release {NEWEST}", arguments.seed, end - 1);
    let run = Run {
        arguments,
        folder: folder.path().to_owned(),
        next: AtomicU64::new(first),
        end,
        started: Instant::now(),
        tally: Mutex::default(),
        watched: (0..jobs).map(|_| (AtomicU64::new(u64::MAX), AtomicU64::new(0))).collect(),
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..jobs).map(|job| (job, &run)).map(|(job, run)| scope.spawn(move || run.work(job))).collect();
        run.watch(&threads);
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })?;
    let seconds = run.started.elapsed().as_secs_f64();
    let tally = run.tally.into_inner().unwrap_or_default();
    tally.print(seconds);
    if tally.failed > 0 { Err(format!("{} cases failed", tally.failed).into()) } else { Ok(()) }
}

/// Arrays are made and thrown away by the thousand: in memory, if there is a place for that.
fn scratch_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let usable = tempfile::tempfile_in(memory).is_ok();
    if usable { memory.to_owned() } else { std::env::temp_dir() }
}

impl Run<'_> {
    /// Takes cases until there are no more.
    fn work(&self, job: usize) -> Result<(), String> {
        let mut reference = Reference::start(NEWEST).map_err(|error| error.to_string())?;
        for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
            reference.config().insert(setting.to_owned(), "1".to_owned());
        }
        reference.patience(JOB_PATIENCE);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let failed = self.tally.lock().map_or(0, |tally| tally.failed);
            if index >= self.end || failed >= self.arguments.failures as u64 {
                break;
            }
            self.watched[job].1.store(index, Ordering::Relaxed);
            self.begin(job);
            let (case, version) = self.case(index);
            if self.arguments.case.is_some() {
                println!("{}", print::case(&case, None));
                if version != FormatVersion::DEFAULT {
                    println!("ours in format {version}");
                }
            }
            let mut verdict = self.examine(&case, index, &mut reference)?;
            if matches!(&verdict, Verdict::Failed(failure) if failure.kind == Kind::TheirCrash) {
                // An earlier case may have left the process damaged; now it is a new one.
                self.count("crashed, and was asked again");
                verdict = self.examine(&case, index, &mut reference)?;
            }
            self.record(job, index, case, verdict, &mut reference);
            if index > 0 && index.is_multiple_of(STEP) {
                eprintln!("at case {index} after {:.0} seconds", self.started.elapsed().as_secs_f64());
            }
            self.watched[job].0.store(u64::MAX, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether our library writes the case too.
    fn is_written(&self, index: u64) -> bool {
        self.arguments.write || (self.arguments.short && index.is_multiple_of(WRITTEN))
    }

    /// The case, and the format version in which our library writes it, if it does: now and then an older one.
    fn case(&self, index: u64) -> (Case, FormatVersion) {
        let seed = seed_of(self.arguments.seed, index);
        if index.is_multiple_of(DISORDERED) && !self.is_written(index) {
            return (generate::disordered(seed), FormatVersion::DEFAULT);
        }
        let case = generate::case(seed);
        let chosen = self.is_written(index) && (self.arguments.short || index.is_multiple_of(OLDER));
        let release = RELEASES[(index / OLDER) as usize % RELEASES.len()];
        // What has no name has none in the newest release's array either.
        let fits = |case: &Case| limits::keeps_names(case, release) && limits::footers_can_be_joined(case, release);
        let older = limits::fit(case.clone(), release).filter(fits);
        match older.zip(FormatVersion::new(release.format).ok()) {
            Some((mut case, version)) if chosen => {
                // How much of the past a consolidated fragment still tells depends on the format.
                if case.steps.contains(&Step::Consolidate("fragments")) {
                    case.questions.iter_mut().for_each(|question| question.query.timestamps = None);
                }
                (case, version)
            }
            _ => (case, FormatVersion::DEFAULT),
        }
    }

    fn examine(&self, case: &Case, index: u64, reference: &mut Reference) -> Result<Verdict, String> {
        if !self.is_written(index) {
            return examine(case, None, reference, &self.folder).map_err(|error| error.to_string());
        }
        let mut files = Files::default();
        let verdict = both_write::examine(case, (index, self.case(index).1), reference, &self.folder, &mut files)
            .map_err(|error| error.to_string())?;
        if self.arguments.bytes {
            files.others.iter().for_each(|other| println!("case {index}: {other}"));
        }
        if let (Verdict::Agreed { .. }, Ok(mut tally)) = (&verdict, self.tally.lock()) {
            tally.files.add(&files);
        }
        Ok(verdict)
    }

    fn begin(&self, job: usize) {
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.watched[job].0.store(now, Ordering::Relaxed);
    }

    /// Ends the whole run if a case doesn't end: a thread that reads without end can't be stopped.
    fn watch(&self, threads: &[thread::ScopedJoinHandle<'_, Result<(), String>>]) {
        let patience = Duration::from_secs(self.arguments.patience);
        while threads.iter().any(|thread| !thread.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            for (began, index) in &self.watched {
                let began = Duration::from_millis(began.load(Ordering::Relaxed));
                if self.started.elapsed().saturating_sub(began) > patience {
                    let index = index.load(Ordering::Relaxed);
                    let (case, _) = self.case(index);
                    eprintln!("seed {}, case {index} doesn't come to an end:", self.arguments.seed);
                    eprintln!("{}", print::case(&case, None));
                    std::process::exit(1);
                }
            }
        }
    }

    fn count(&self, reason: &str) {
        if let Ok(mut tally) = self.tally.lock() {
            *tally.excused.entry(reason.to_owned()).or_default() += 1;
        }
    }

    fn record(&self, job: usize, index: u64, case: Case, verdict: Verdict, reference: &mut Reference) {
        match verdict {
            Verdict::Agreed { reads, cells, excuses } => {
                if let Ok(mut tally) = self.tally.lock() {
                    for reason in excuses {
                        *tally.excused.entry(format!("read: {reason}")).or_default() += 1;
                    }
                    tally.agreed += 1;
                    tally.reads += reads;
                    tally.cells += cells;
                    tally.coverage.case(&case);
                }
            }
            Verdict::Excused(reason) => {
                if let Ok(mut tally) = self.tally.lock() {
                    *tally.excused.entry(format!("case: {reason}")).or_default() += 1;
                }
            }
            Verdict::Failed(failure) => {
                if let Ok(mut tally) = self.tally.lock() {
                    tally.failed += 1;
                }
                let (case, failure) =
                    if self.arguments.no_shrink { (case, failure) } else { self.shrink(job, case, failure, reference) };
                let seed = self.arguments.seed;
                println!("\nFAILED ({:?}): replay with --seed {seed} --case {index}", failure.kind);
                println!("{}", print::case(&case, failure.question));
                println!("{}", failure.detail);
            }
        }
    }

    fn shrink(&self, job: usize, case: Case, failure: Failure, reference: &mut Reference) -> (Case, Failure) {
        let index = self.watched[job].1.load(Ordering::Relaxed);
        let as_written = (index, self.case(index).1);
        shrink::shrink(case, failure, |smaller| {
            self.begin(job);
            let verdict = match self.is_written(index) {
                true => both_write::examine(smaller, as_written, reference, &self.folder, &mut Files::default()),
                false => examine(smaller, None, reference, &self.folder),
            };
            match verdict {
                Ok(Verdict::Failed(failure)) => Some(failure),
                _ => None,
            }
        })
    }
}

impl Tally {
    fn print(&self, seconds: f64) {
        println!("\nWhat was covered:\n{}", self.coverage.text());
        for (reason, count) in &self.excused {
            println!("{count} times left out: {reason}");
        }
        self.files.print();
        println!(
            "{} cases agreed, {} failed: {} reads, {} cells, in {seconds:.1} seconds",
            self.agreed, self.failed, self.reads, self.cells
        );
    }
}
