#![doc = include_str!("../README.md")]

mod answer;
mod body;
mod command;
mod folder;
mod found;
mod guard;
mod idle;
mod page;
mod path;
mod range;
mod server;
mod site;

pub use command::ServeCommand;
pub use path::decoded_path;
pub use range::Ranges;
pub use server::{ServeError, ServeOptions, Server};
