//! Server processes that outlive this program. A file identifies each process.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::kind::Server;
use super::place::folder;
use crate::Result;

/// Timeout for a server to start listening, and to end.
const PATIENCE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(100);

fn note(server: Server) -> PathBuf {
    folder().join(format!("{}.process", server.name()))
}

fn log(server: Server) -> PathBuf {
    folder().join(format!("{}.log", server.name()))
}

/// Returns the first port of a running server, or `None` if it is not running.
pub fn running(server: Server) -> Option<u16> {
    let (process, first) = noted(server)?;
    is_ours(process).then_some(first)
}

/// Returns the id of the started process, and its first port.
fn noted(server: Server) -> Option<(u32, u16)> {
    let text = fs::read_to_string(note(server)).ok()?;
    let (process, first) = text.split_once(' ')?;
    Some((process.parse().ok()?, first.parse().ok()?))
}

/// `true` if a process is one of the servers. Another process may have the same id by now.
fn is_ours(process: u32) -> bool {
    let mut ps = Command::new("ps");
    let output = ps.args(["-ww", "-o", "args=", "-p", &process.to_string()]).output();
    let folder = folder();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(&*folder.to_string_lossy()))
}

/// Starts a server, and waits until it listens.
pub fn start(server: Server, first: u16) -> Result {
    for port in server.ports(first) {
        if let Err(error) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return Err(format!("port {port}: {error}; pass `--ports FIRST` to use other ports").into());
        }
    }
    let mut command = server.command(first)?;
    let output = File::create(log(server))?;
    command.stdin(Stdio::null()).stderr(output.try_clone()?).stdout(output);
    // A separate process group, which ends together with all child processes, but not with this
    // program.
    let mut child = command.process_group(0).spawn()?;
    fs::write(note(server), format!("{} {first}", child.id()))?;
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, server.port(first))).is_err() {
        if let Some(status) = child.try_wait()? {
            return Err(format!("server exited ({status}); see {}", log(server).display()).into());
        }
        if began.elapsed() > PATIENCE {
            return Err(format!(
                "server does not listen after {} s; see {}",
                PATIENCE.as_secs(),
                log(server).display()
            )
            .into());
        }
        sleep(STEP);
    }
    Ok(())
}

/// Stops a server and deletes its data. Returns `true` if it was running.
pub fn stop(server: Server) -> Result<bool> {
    let Some((process, _)) = noted(server) else { return Ok(false) };
    let was_there = is_ours(process);
    let began = Instant::now();
    let mut signal = "-TERM";
    while is_ours(process) {
        // Signals the process group, whose leader is this process.
        let mut kill = Command::new("kill");
        kill.args([signal, "--", &format!("-{process}")]).stderr(Stdio::null()).status()?;
        let wait = Instant::now();
        while is_ours(process) && wait.elapsed() < PATIENCE / 4 {
            sleep(STEP);
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("process {process} does not stop").into());
        }
        signal = "-KILL";
    }
    fs::remove_file(note(server))?;
    let _ = fs::remove_dir_all(server.data());
    Ok(was_there)
}
