//! `tdb evolve`: the schema of an array is changed.

use std::ffi::OsString;

use tdb_array::Array;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{Dimension, SchemaEvolution};
use tdb_schema_text::additions_from_toml;

use super::create::parsed;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::target;
use crate::time::{Stamp, TimeArgs};
use crate::value;

/// Change the schema of an array, in one or more of these ways
///
/// What was written before stays as it is: attributes that are added read as their fill value there.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
#[command(after_help = "\
Examples:
  tdb evolve ARRAY --add more.toml --drop old          [[attribute]] and [[enumeration]] as in a schema's TOML
  tdb evolve ARRAY --extend colours=violet --extend colours=brown
  tdb evolve ARRAY --expand rows=0..9999 --expand columns=0..99")]
pub(crate) struct Args {
    /// The array
    array: OsString,

    /// Add the attributes and enumerations of this TOML; `-` reads it from standard input
    #[arg(long, value_name = "FILE", group = "change")]
    add: Option<OsString>,

    /// Drop an attribute; may be given many times
    #[arg(long, value_name = "NAME", group = "change")]
    drop: Vec<String>,

    /// Drop an enumeration that no attribute has any more; may be given many times
    #[arg(long, value_name = "NAME", group = "change")]
    drop_enumeration: Vec<String>,

    /// Add a value to an enumeration; may be given many times
    #[arg(long, value_name = "NAME=VALUE", group = "change")]
    extend: Vec<String>,

    /// Widen the current domain along a dimension; both ends are included; may be given many times
    #[arg(long, value_name = "DIMENSION=FIRST..LAST", group = "change")]
    expand: Vec<String>,

    #[command(flatten)]
    stamp: Stamp,
}

pub(crate) fn run(args: &Args, key: &Key) -> Result<()> {
    let (_, array) = target::open_array(&args.array, 1, &TimeArgs::default(), key)?;
    let mut evolution = SchemaEvolution::new();
    if let Some(file) = &args.add {
        let (attributes, enumerations) = parsed(file, additions_from_toml)?;
        if attributes.is_empty() && enumerations.is_empty() {
            return Err(Failure::usage(format!("--add {}: it has no attribute and no enumeration", file.display())));
        }
        evolution = attributes.into_iter().fold(evolution, SchemaEvolution::add_attribute);
        evolution = enumerations.into_iter().fold(evolution, SchemaEvolution::add_enumeration);
    }
    for extension in &args.extend {
        let (name, text) = extension
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--extend {extension}: write NAME=VALUE")))?;
        let enumeration = array.enumeration(name)?;
        let value = value::bytes(enumeration.datatype(), enumeration.cell_val_num(), text)?;
        evolution = evolution.extend_enumeration(name, [value]);
    }
    evolution = args.drop.iter().fold(evolution, SchemaEvolution::drop_attribute);
    evolution = args.drop_enumeration.iter().fold(evolution, SchemaEvolution::drop_enumeration);
    if !args.expand.is_empty() {
        let expanded = expanded(&array, &args.expand)?;
        if array.schema().current_domain() == Some(&expanded) {
            return Err(Failure::usage(format!("--expand {}: so it is already", args.expand.join(" --expand "))));
        }
        evolution = evolution.expand_current_domain(expanded);
    }
    Ok(array.evolve(&evolution, &args.stamp.names())?)
}

/// The current domain with some ranges in place of its own.
fn expanded(array: &Array, expansions: &[String]) -> Result<NdRange> {
    let mut domain = array.schema().current_domain().cloned().ok_or_else(|| {
        Failure::usage("the array has no current domain, so that all of its domain is in use and nothing can be added")
    })?;
    for expansion in expansions {
        let parts = expansion.split_once('=').and_then(|(name, range)| Some((name, range.split_once("..")?)));
        let Some((name, (first, last))) = parts else {
            return Err(Failure::usage(format!("--expand {expansion}: write DIMENSION=FIRST..LAST")));
        };
        let mut dimensions = array.schema().dimensions().iter().zip(&mut domain.0);
        let Some((dimension, range)) = dimensions.find(|(dimension, _)| dimension.name() == name) else {
            return Err(Failure::usage(format!("--expand {expansion}: the array has no dimension {name:?}")));
        };
        *range = self::range(dimension, first, last.strip_prefix('=').unwrap_or(last))?;
    }
    Ok(domain)
}

fn range(dimension: &Dimension, first: &str, last: &str) -> Result<DimRange> {
    if dimension.is_var() {
        return Ok(DimRange::strings(first, last));
    }
    let (first, last) = (value::ends(dimension.datatype(), first)?.0, value::ends(dimension.datatype(), last)?.1);
    Ok(DimRange::Fixed { lo: first.key(), hi: last.key() })
}
