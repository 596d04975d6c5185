//! A process that loads a release and runs jobs until the socket is closed.

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::capi::{Context, Library};
use super::install::install;
use super::memory::peak_memory;
use super::protocol::{GroupDescription, Job, Outcome, Request, receive, send};
use super::releases::release;
use super::stopwatch::cpu_seconds;
use super::{Error, Result};

/// The first argument of a worker process. The second argument is the release.
pub(crate) const WORKER: &str = "reference-worker";

/// Runs jobs if this process is a worker. Returns `None` otherwise.
pub fn serve() -> Option<Result<()>> {
    let mut arguments = env::args().skip(1);
    (arguments.next()? == WORKER).then(|| run(&arguments.next().unwrap_or_default()))
}

/// Runs jobs. Standard input is a socket for requests and answers, because the library may print to
/// standard output.
///
/// # Errors
/// Fails if the library cannot be loaded, or if the socket fails.
fn run(release_wanted: &str) -> Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let library = Library::load(&install(release(release_wanted)?)?)?;
    let mut context: Option<(BTreeMap<String, String>, Context)> = None;
    while let Some(request) = receive::<Request>(&mut socket)? {
        if context.as_ref().is_none_or(|(config, _)| *config != request.config) {
            context = None;
        }
        let outcome = match &context {
            Some((_, context)) => do_job(library, context, &request.job),
            None => Context::new(library, &request.config).and_then(|new| {
                let (_, context) = context.insert((request.config.clone(), new));
                do_job(library, context, &request.job)
            }),
        };
        let outcome = outcome.unwrap_or_else(|error| match error {
            Error::Library(message) => Outcome::Failed(message),
            other => Outcome::Failed(other.to_string()),
        });
        send(&mut socket, &outcome)?;
    }
    Ok(())
}

fn do_job(library: &Library, context: &Context, job: &Job) -> Result<Outcome> {
    match job {
        Job::Version => Ok(Outcome::Text(library.release().to_owned())),
        Job::PeakMemory => Ok(Outcome::Text(peak_memory().to_string())),
        Job::CpuSeconds => Ok(Outcome::Text(cpu_seconds().to_string())),
        Job::TimeOpens { uri, repeats } => context.time_opens(uri, *repeats).map(Outcome::Timed),
        Job::Function { name } if library.has(name) => Ok(Outcome::Done),
        Job::Function { name } => Err(Error::Library(format!("release {} has no {name}", library.release()))),
        Job::Create { uri, spec } => context.create(uri, spec).map(done),
        Job::Write { uri, spec } => context.write(uri, spec).map(done),
        Job::WriteGenerated { uri, spec } => context.write(uri, &spec.materialise()).map(done),
        Job::Open { uri } => context.open_and_close(uri).map(done),
        Job::Read { uri, spec } => context.read(uri, spec).map(Outcome::Cells),
        Job::Aggregate { uri, spec, aggregates } => context.aggregate(uri, spec, aggregates).map(Outcome::Aggregates),
        Job::TimeAggregates { uri, spec, aggregates, repeats } => {
            context.time_aggregates(uri, spec, aggregates, *repeats).map(Outcome::Timed)
        }
        Job::TimeWrites { uri, spec, repeats } => context.time_writes(uri, spec, *repeats).map(Outcome::Timed),
        Job::TimeReads { uri, spec, room, repeats } => {
            context.time_reads(uri, spec, *room, *repeats).map(Outcome::Timed)
        }
        Job::TimeFirstRead { uri, spec, room } => context.time_first_read(uri, spec, *room).map(Outcome::Timed),
        Job::TimeReadsOneByOne { uri, spec, repeats } => {
            context.time_reads_one_by_one(uri, spec, *repeats).map(Outcome::Timed)
        }
        Job::Evolve { uri, evolution } => context.evolve(uri, evolution).map(done),
        Job::Upgrade { uri } => context.upgrade(uri).map(done),
        Job::Delete { uri, condition, timestamp } => context.delete(uri, condition, *timestamp).map(done),
        Job::DeleteFragments { uri, times } => context.delete_fragments(uri, *times).map(done),
        Job::Consolidate { uri } => context.consolidate(uri).map(done),
        Job::ConsolidateFragments { uri, fragments } => context.consolidate_fragments(uri, fragments).map(done),
        Job::Vacuum { uri } => context.vacuum(uri).map(done),
        Job::ChangeMetadata { uri, put, delete, timestamp } => {
            context.change_metadata(uri, put, delete, *timestamp).map(done)
        }
        Job::Metadata { uri, timestamps } => context.metadata(uri, *timestamps).map(Outcome::Metadata),
        Job::CreateGroup { uri } => context.create_group(uri).map(done),
        Job::ChangeGroup { uri, add, remove, put, delete } => {
            context.change_group(uri, (add, remove), (put, delete)).map(done)
        }
        Job::DescribeGroup { uri } => {
            let (members, metadata) = context.describe_group(uri)?;
            Ok(Outcome::Group(GroupDescription { members, metadata }))
        }
        Job::ConsolidateGroupMetadata { uri } => context.consolidate_group_metadata(uri).map(done),
        Job::VacuumGroupMetadata { uri } => context.vacuum_group_metadata(uri).map(done),
        Job::Fragments { uri } => context.fragments(uri).map(Outcome::Fragments),
    }
}

fn done((): ()) -> Outcome {
    Outcome::Done
}
