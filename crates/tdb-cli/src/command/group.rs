//! `tdb group`: groups are made and changed.

use std::ffi::OsString;
use std::fs;

use clap::Subcommand;
use tdb_array::Group;

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::time::{Stamp, TimeArgs};
use crate::{location, target};

/// Make a group, and change what is in it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb group create GROUP
  tdb group add GROUP inner --name first         an array or group in the group's folder
  tdb group add GROUP /data/array --absolute     one that lies elsewhere
  tdb group remove GROUP first                   which leaves the array where it is")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make an empty group
    Create {
        /// The group's folder, which need not be there
        group: OsString,
    },
    /// Add an array or a group
    Add {
        /// The group
        group: OsString,
        /// The member's path, from the group's folder
        member: String,
        /// What to call it in the group; without a name it is known by its path
        #[arg(long)]
        name: Option<String>,
        /// Keep the member's whole path, so that the group can be moved but the member can't; it is taken from here
        #[arg(long)]
        absolute: bool,
        #[command(flatten)]
        stamp: Stamp,
    },
    /// Remove a member from the group, and leave it where it is
    Remove {
        /// The group
        group: OsString,
        /// The member's name, or its path if it has none
        member: String,
        #[command(flatten)]
        stamp: Stamp,
    },
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    match &args.action {
        Action::Create { group } => Ok(key.create_options().create_group_on(&target::storage(group)?)?),
        Action::Add { group, member, name, absolute, stamp } => {
            let uri = if *absolute { whole(member)? } else { member.clone() };
            let change = open(group, key)?.change().names(stamp.names());
            Ok(change.add(uri, !absolute, name.as_deref()).commit()?)
        }
        Action::Remove { group, member, stamp } => {
            Ok(open(group, key)?.change().names(stamp.names()).remove(member.as_str()).commit()?)
        }
    }
}

fn open(group: &OsString, key: &Key) -> Result<Group> {
    let (path, _) = target::find(group)?;
    target::open_group(&path, &TimeArgs::default(), key)
}

/// The absolute path, without links.
fn whole(member: &str) -> Result<String> {
    let path = location::local(member.as_ref())?;
    let whole = fs::canonicalize(&path).map_err(|error| Failure::io(path.display(), &error))?;
    let text = whole.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::new(Exit::Unsupported, format!("{}: not UTF-8", whole.display())))
}
