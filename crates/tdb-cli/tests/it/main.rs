//! Tests of the public interface of `tdb-cli`, in one program.
#![allow(clippy::unwrap_used)] // test helpers may panic

mod advise;
mod agg;
mod diff;
mod docs;
mod doctor;
mod domain;
mod errors;
mod every_type;
mod exits;
mod export;
mod hostile;
mod import;
mod import_text;
mod infer;
mod inspect;
mod interrupt;
mod look;
mod maintain;
mod manifest;
mod migrate;
mod names;
mod read;
mod reference;
mod relocate;
mod roundtrip;
mod sizes;
mod support;
mod verify;
mod write;
mod years;
