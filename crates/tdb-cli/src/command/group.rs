//! `tdb group`: creation and changes of groups.

use std::ffi::OsString;
use std::fs;

use clap::Subcommand;
use tdb_array::Group;

use crate::failure::{Exit, Failure, Result};
use crate::key::Key;
use crate::time::{Stamp, TimeArgs};
use crate::{location, target};

/// Create a group, or change its members
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb group create GROUP
  tdb group add GROUP inner --name first         add an array or group in the folder of the group
  tdb group add GROUP /data/array --absolute     add an array or group elsewhere
  tdb group remove GROUP first                   remove the member, but keep the array")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create an empty group
    Create {
        /// Folder of the group, created if missing
        group: OsString,
    },
    /// Add an array or group
    Add {
        /// Path of the group
        group: OsString,
        /// Path of the member, relative to the folder of the group
        member: String,
        /// Name of the member in the group [default: its path]
        #[arg(long)]
        name: Option<String>,
        /// Store the absolute path of the member, so that the group can be moved but the member
        /// cannot. The given path is relative to the current folder
        #[arg(long)]
        absolute: bool,
        #[command(flatten)]
        stamp: Stamp,
    },
    /// Remove a member from the group, without deleting it
    Remove {
        /// Path of the group
        group: OsString,
        /// Name of the member, or path of a member without a name
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
            let change = open(group, key)?.change().ids(stamp.names());
            Ok(change.add(uri, !absolute, name.as_deref()).commit()?)
        }
        Action::Remove { group, member, stamp } => {
            Ok(open(group, key)?.change().ids(stamp.names()).remove(member.as_str()).commit()?)
        }
    }
}

fn open(group: &OsString, key: &Key) -> Result<Group> {
    let (path, _) = target::find(group)?;
    target::open_group(&path, &TimeArgs::default(), key)
}

/// Returns the absolute path, with links resolved.
fn whole(member: &str) -> Result<String> {
    let path = location::local(member.as_ref())?;
    let whole = fs::canonicalize(&path).map_err(|error| Failure::io(path.display(), &error))?;
    let text = whole.to_str().map(str::to_owned);
    text.ok_or_else(|| Failure::new(Exit::Unsupported, format!("{}: not UTF-8", whole.display())))
}
