#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod cursor;
mod describe;
mod export;
mod failure;
mod files;
mod query;
mod value;
mod windows;

pub use export::{Cursor, OpenArray, OpenGroup, Session, Table};
