//! `tdb scheduler`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches as _};
use tdb_ballista::{Scheduler, SchedulerOptions};
use tdb_cli::{Context, Failure, FurtherCommand, Result};

use super::{LogArgs, failed, runtime, told_to_stop};

/// Distribute the tasks of SQL queries to executors
#[derive(Debug, Args)]
struct SchedulerArgs {
    /// Local address to listen on. 0.0.0.0 listens on all addresses, and requires --host
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// Port to listen on (0 for a free port)
    #[arg(long, value_name = "PORT", default_value_t = 50050)]
    port: u16,

    /// Host name or address for executors [default: value of --bind]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Seconds without a heartbeat until an executor counts as dead. Other executors take over its
    /// tasks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(3..=3600))]
    executor_timeout: u64,

    /// Route results through the scheduler, for clients that cannot reach the executors
    #[arg(long)]
    proxy_results: bool,

    #[command(flatten)]
    log: LogArgs,
}

/// The command `scheduler`.
pub(crate) struct SchedulerCommand;

impl FurtherCommand for SchedulerCommand {
    fn command(&self) -> clap::Command {
        SchedulerArgs::augment_args(clap::Command::new("scheduler"))
    }

    fn run(&self, matches: &ArgMatches, _: &Context) -> Result<()> {
        let args = SchedulerArgs::from_arg_matches(matches).map_err(Failure::usage)?;
        args.log.begin();
        if args.bind.is_unspecified() && args.host.is_none() {
            let hint = "pass --host HOST with the name or address of this machine for executors";
            return Err(Failure::usage(format!("executors cannot reach {}", args.bind)).with_hint(hint));
        }
        let options = SchedulerOptions::new(SocketAddr::new(args.bind, args.port))
            .executor_timeout(Duration::from_secs(args.executor_timeout))
            .proxy_results(args.proxy_results);
        let options = args.host.into_iter().fold(options, SchedulerOptions::host);
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            let scheduler = Scheduler::bind(options).await?;
            println!("scheduler listening at {}", scheduler.address());
            tokio::select! {
                ended = scheduler.run() => ended,
                () = told_to_stop() => Ok(()),
            }
        });
        runtime.shutdown_background();
        ended.map_err(failed)
    }
}
