//! `tdb executor`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches as _};
use tdb_ballista::{Executor, ExecutorOptions};
use tdb_cli::{Context, Failure, FurtherCommand, Result};

use tdb_sql::opener;

use super::{LogArgs, failed, runtime, unless_told_twice};

/// Run tasks of a scheduler
///
/// Opens arrays with the encryption key (`--key-file`) and the store credentials of this process's
/// environment.
#[derive(Debug, Args)]
struct ExecutorArgs {
    /// Address of the scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// Local address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// Port that serves result rows (0 for a free port)
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Port that receives tasks from the scheduler (0 for a free port)
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    task_port: u16,

    /// Host name or address for the scheduler, other executors and clients [default: as seen by the
    /// scheduler]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Number of partitions to process concurrently [default: number of processors]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    slots: Option<u16>,

    /// Memory limit for the operators of all tasks, such as 16GiB [default: 70 % of the machine's
    /// memory]
    #[arg(long, value_name = "SIZE", value_parser = tdb_cli::parse_size)]
    memory: Option<u64>,

    /// Parent folder for intermediate rows. Uses a subfolder, removed on exit [default: system
    /// folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,

    /// Interval between heartbeats to the scheduler, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    heartbeat: u64,

    /// Maximum time to reach the scheduler at startup, in seconds
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
