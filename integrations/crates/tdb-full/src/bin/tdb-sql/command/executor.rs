//! `tdb executor`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches as _};
use tdb_ballista::{Executor, ExecutorOptions};
use tdb_cli::{Context, Failure, FurtherCommand, Result};

use tdb_sql::opener;

use super::{LogArgs, failed, runtime, unless_told_twice};

/// Run the tasks that a scheduler hands out
///
/// Arrays are opened with the key and the credentials of stores that this process has: `--key-file`, and the environment.
#[derive(Debug, Args)]
struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// The address of this machine to listen at
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// The port that rows are fetched from; 0 for one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// The port that the scheduler sends tasks to; 0 for one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    task_port: u16,

    /// The name or address that others reach it by; by default the one that the scheduler sees
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// How many partitions it works on at once; by default as many as there are processors
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    slots: Option<u16>,

    /// How much memory the operators of all tasks may take, such as 16GiB; by default seven tenths of the machine's
    #[arg(long, value_name = "SIZE", value_parser = tdb_cli::parse_size)]
    memory: Option<u64>,

    /// Where it keeps intermediate rows, in a folder of its own; by default where the system has temporary files
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,

    /// How often it says that it is there
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    heartbeat: u64,

    /// For how long it tries to reach the scheduler at first
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait: u64,

    #[command(flatten)]
    log: LogArgs,
}

/// The command `executor`.
pub(crate) struct ExecutorCommand;

impl FurtherCommand for ExecutorCommand {
    fn command(&self) -> clap::Command {
        ExecutorArgs::augment_args(clap::Command::new("executor"))
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let args = ExecutorArgs::from_arg_matches(matches).map_err(Failure::usage)?;
        args.log.begin();
        let executor = Executor::new(options(&args, context)?).map_err(failed)?;
        println!("executor serving rows at {}", executor.address());
        let runtime = runtime()?;
        let ended = runtime.block_on(unless_told_twice(executor.run()));
        runtime.shutdown_background();
        ended.unwrap_or(Ok(())).map_err(failed)
    }
}

fn options(args: &ExecutorArgs, context: &Context) -> Result<ExecutorOptions> {
    let scheduler = args.scheduler.parse().map_err(failed)?;
    let mut options = ExecutorOptions::new(scheduler, opener(context)?)
        .listen(args.bind, args.port, args.task_port)
        .heartbeat(Duration::from_secs(args.heartbeat))
        .connect(Duration::from_secs(args.wait));
    if let Some(host) = &args.host {
        options = options.host(host);
    }
    if let Some(slots) = args.slots {
        options = options.slots(slots.into());
    }
    if let Some(bytes) = args.memory {
        options = options.memory(bytes);
    }
    if let Some(folder) = &args.work {
        options = options.folder(folder);
    }
    Ok(options)
}
