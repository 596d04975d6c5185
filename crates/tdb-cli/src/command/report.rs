//! `tdb report`: an HTML report about an array or group.

use std::ffi::OsString;

use tdb_advise::Sample;
use tdb_array::TreeNode;
use tdb_maintain::tdb_job::Target;
use tdb_report::Report;

use super::advise::{CostArgs, sample};
use super::maintained;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::setter::with;
use crate::time::TimeArgs;
use crate::{session, target};
use tdb_print::Terminal;
use tdb_print::print_text;

/// Create an HTML report about an array or group, with pictures
///
/// Prints one HTML file to standard output. The file loads no external resources, contains no
/// scripts, and is smaller than 2 MB. If an array has many fragments or tiles, the report shows a
/// sample or totals, and states the numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb report ARRAY > report.html
  tdb report ARRAY --dimensions x,z --attribute depth > report.html
  tdb report GROUP > report.html           an index and a section per array")]
pub(crate) struct Args {
    /// Array or group
    path: OsString,

    /// Horizontal and vertical dimension of the pictures [default: the first two]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    dimensions: Vec<String>,

    /// Attribute whose values are shown for a dense array [default: the first numeric attribute]
    #[arg(long, value_name = "NAME")]
    attribute: Option<String>,

    /// Decode this many tiles of each field, or a share of all tiles, and try various filters and
    /// tile sizes
    #[arg(long, value_name = "TILES|SHARE%", value_parser = sample, default_value = "8")]
    sample: Sample,

    #[command(flatten)]
    costs: CostArgs,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if terminal.stdout {
        return Err(
            Failure::usage("cannot print an HTML page to a terminal").with_hint("run `tdb report PATH > report.html`")
        );
    }
    let path = args.path.to_string_lossy();
    let report = Report::new().sample(args.sample).costs(args.costs.costs()).dimensions(args.dimensions.clone());
    let report = with(report, args.attribute.as_ref(), Report::attribute);
    let page = match maintained::open(&args.path, &TimeArgs::default(), key)? {
        Target::Array(array) => {
            let known = |name: &String| array.schema().dimensions().iter().any(|known| known.name() == name);
            if let Some(unknown) = args.dimensions.iter().find(|name| !known(name)) {
                return Err(Failure::usage(format!("{path}: no dimension is named {unknown:?}")));
            }
            let known = |name: &&String| array.schema().attributes().iter().any(|known| known.name() == *name);
            if let Some(unknown) = args.attribute.as_ref().filter(|name| !known(name)) {
                return Err(Failure::usage(format!("{path}: no attribute is named {unknown:?}")));
            }
            report.array(&path, &array)?
        }
        Target::Group(group) => report.group(&path, &group, |node: &TreeNode| {
            let options = target::options(1, &TimeArgs::default(), key);
            let opened = options.open_on(node.storage.clone()?).map_err(Into::into);
            Some(opened.inspect(session::opened))
        })?,
    };
    Ok(print_text(&page)?)
}
