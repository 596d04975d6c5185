//! tdb's side, in a separate process.

mod curve;
mod opens;
mod reads;
mod writes;

use std::process::{Command, Stdio};

use tdb_reference::TimedReads;

use super::maintenance;
use super::outcome::Result;
use super::task::{Request, Task};
pub use writes::columns_in_global_order;

/// Runs a task in a new process of this program, which measures the peak memory of the task.
pub fn spawn(request: &Request) -> Result<TimedReads> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("speed-worker").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        serde_json::to_writer(&mut input, request)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the process of tdb failed: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Measures a task. A second process computes the digest, which does not affect the peak memory.
pub fn measure(request: Request) -> Result<TimedReads> {
    let mut timed = spawn(&Request { digest: false, ..request.clone() })?;
    if request.digest {
        timed.digest = spawn(&request)?.digest;
    }
    Ok(timed)
}

/// Runs the task from standard input in the worker process.
pub fn work() -> Result<()> {
    let request: Request = serde_json::from_reader(std::io::stdin())?;
    let timed = match &request.task {
        Task::Open => opens::work(&request)?,
        Task::Read(read) => reads::work(&request, read)?,
        Task::Write(write) => writes::work(&request, write)?,
        Task::Curve(point) => curve::work(&request, point)?,
        Task::Maintain(job) => maintenance::work(*job, &request.uri, request.threads)?,
    };
    println!("{}", serde_json::to_string(&timed)?);
    Ok(())
}
