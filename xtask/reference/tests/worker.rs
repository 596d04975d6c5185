//! Any program that links the driver can load a release in a second process. This test does so.

use std::env;
use std::process::{Command, ExitCode, Stdio};

/// Exit code of a worker process without a release.
const REFUSED: u8 = 3;

fn main() -> ExitCode {
    if let Some(result) = tdb_reference::serve() {
        return match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(REFUSED)
            }
        };
    }
    let Some(own) = env::args().next() else { return ExitCode::FAILURE };
    let mut worker = Command::new(own);
    let output = worker.args(["reference-worker", "0.0.0"]).stdin(Stdio::null()).output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(i32::from(REFUSED)), "{message}");
    assert!(message.contains("unknown release \"0.0.0\""), "{message}");
    println!("the worker process reported the unknown release");
    ExitCode::SUCCESS
}
