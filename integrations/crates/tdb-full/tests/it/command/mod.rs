//! Runs the command.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

use std::process::{Command, Output};

pub(crate) fn tdb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tdb")).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
