//! The subcommands, one file each.

pub(crate) mod advise;
pub(crate) mod agg;
mod cells_of;
pub(crate) mod completions;
pub(crate) mod consolidate;
pub(crate) mod copy;
pub(crate) mod create;
pub(crate) mod delete;
mod describe;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod enumerations;
pub(crate) mod evolve;
pub(crate) mod export;
pub(crate) mod fragments;
pub(crate) mod group;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod ls;
mod maintained;
pub(crate) mod manifest;
pub(crate) mod meta;
pub(crate) mod migrate;
pub(crate) mod mv;
mod order;
pub(crate) mod read;
pub(crate) mod remove;
pub(crate) mod report;
pub(crate) mod schema;
mod selection;
pub(crate) mod stats;
pub(crate) mod tree;
pub(crate) mod vacuum;
pub(crate) mod verify;

pub(crate) use cells_of::WhichCells;
