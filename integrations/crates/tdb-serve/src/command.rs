//! The command `tdb serve`.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgMatches, Args, FromArgMatches};
use tdb_cli::{Context, Exit, Failure, FurtherCommand, Result};
use tokio::sync::Notify;

use crate::server::{ServeError, ServeOptions, Server};

/// Serve arrays and groups to browsers and other programs on this machine
///
/// Prints the address of the start page, and serves until Ctrl-C. The server is read-only. Each
/// array and group has an up-to-date tdb-manifest.txt, even if the file does not exist. Hidden files
/// are not served.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tdb serve data --open                            show the arrays in the folder data in a browser
  tdb serve ARRAY GROUP --port 0                   use any free port
  tdb read http://127.0.0.1:8080/data/ARRAY        read an array through the server")]
struct ServeArgs {
    /// Arrays, groups, or folders of arrays and groups
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Port to listen on, or 0 for any free port
    #[arg(long, default_value_t = 8080)]
    port: u16,

    /// IP address to listen on. Other machines reach the server only with an address of the network,
    /// such as 0.0.0.0
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// Let pages of this origin read the data (repeatable), for example https://viewer.example.org,
    /// or * for every site. Pages of this machine may always read it
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Vec<String>,

    /// Folder with the built files of the viewer
    #[arg(long, value_name = "FOLDER")]
    viewer: Option<PathBuf>,

    /// Open the start page in the browser
    #[arg(long)]
    open: bool,
}

/// The command `tdb serve`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServeCommand;

impl FurtherCommand for ServeCommand {
    fn command(&self) -> clap::Command {
        ServeArgs::augment_args(clap::Command::new("serve"))
    }

    fn run(&self, matches: &ArgMatches, context: &Context) -> Result<()> {
        let args = ServeArgs::from_arg_matches(matches).map_err(Failure::usage)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Failure::new(Exit::Unavailable, format!("cannot start threads: {error}")))?;
        let served = runtime.block_on(serve(&args, context));
        // Does not wait for slow disks.
        runtime.shutdown_background();
        served
    }
}

async fn serve(args: &ServeArgs, context: &Context) -> Result<()> {
    let options = ServeOptions {
        folders: args.paths.clone(),
        address: args.address,
        port: args.port,
        viewer: args.viewer.clone(),
        origins: args.allow_origin.clone(),
        ..ServeOptions::default()
    };
    let server = Server::bind(&options).await.map_err(failure)?;
    let stop = Arc::new(Notify::new());
    let notify = stop.clone();
    let mut is_stopping = false;
    context.on_interrupt(move || {
        // A second Ctrl-C does not wait for running responses.
        if is_stopping {
            std::process::exit(Exit::Interrupted as i32);
        }
        is_stopping = true;
        notify.notify_one();
    });
    print(&server).map_err(|error| Failure::new(Exit::Unavailable, format!("cannot write the output: {error}")))?;
    if args.open
        && let Err(error) = open::that_detached(server.url())
    {
        let failure = Failure::new(Exit::Unavailable, format!("cannot open a browser: {error}"));
        context.report(&failure.with_hint(format!("open {} yourself", server.url())));
    }
    server.run(stop.notified()).await;
    Ok(())
}

/// Prints the URL of the start page, and of each folder.
fn print(server: &Server) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", server.url())?;
    server.folders().iter().try_for_each(|folder| writeln!(stdout, "{folder}"))?;
    stdout.flush()
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Folder { path, source } => {
            Failure::io(path, &source).with_hint("give local folders; publish stores such as s3:// directly")
        }
        ServeError::Viewer { .. } => Failure::usage(error)
            .with_hint("run `npm ci && npm run build` in integrations/web/viewer, and give its folder dist"),
        ServeError::Address { .. } => {
            Failure::new(Exit::Unavailable, error).with_hint("choose another port with --port, or any with --port 0")
        }
    }
}

/// Parses an origin.
fn origin(text: &str) -> Result<String, String> {
    if text == "*" {
        return Ok(text.to_owned());
    }
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = |host: &str| !host.is_empty() && host.is_ascii() && !host.contains(['/', '?', '#', '@', ' ', '*']);
    match host {
        Some(host) if is_origin(host) => Ok(text.to_ascii_lowercase()),
        _ => Err("expected an origin such as https://viewer.example.org, without a path, or *".to_owned()),
    }
}
