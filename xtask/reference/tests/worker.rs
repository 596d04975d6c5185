//! Any program that links the driver can hold a release: it is started a second time for that, as this one is here.

use std::env;
use std::process::{Command, ExitCode, Stdio};

/// What this program ends with when it was to hold a release and couldn't.
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
    assert!(message.contains("no release \"0.0.0\""), "{message}");
    println!("a second process was to hold a release, and said that there is none of that name");
    ExitCode::SUCCESS
}
