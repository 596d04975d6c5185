//! `tdb evolve`: schema evolution.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Display;

use tdb_array::Array;
use tdb_exchange::value;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{Dimension, Enumeration, SchemaEvolution};
use tdb_schema_text::additions_from_toml;

use super::create::parsed;
use crate::failure::{Failure, Result};
use crate::key::Key;
use crate::target;
use crate::time::{Stamp, TimeArgs};

/// Change the schema of an array, in one or more ways
///
/// Existing fragments do not change. For these cells, an added attribute reads as the fill value.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("change").required(true).multiple(true))]
#[command(after_help = "\
Examples:
  tdb evolve ARRAY --add more.toml --drop old          [[attribute]] and [[enumeration]] as in TOML schemas
  tdb evolve ARRAY --extend colours=violet --extend colours=brown
  tdb evolve ARRAY --expand rows=0..9999 --expand columns=0..99")]
pub(crate) struct Args {
    /// Path of the array
    array: OsString,

    /// Add the attributes and enumerations of a TOML file, or of standard input (`-`)
    #[arg(long, value_name = "FILE", group = "change")]
    add: Option<OsString>,

    /// Drop an attribute (repeatable)
    #[arg(long, value_name = "NAME", group = "change")]
    drop: Vec<String>,

    /// Drop an enumeration that no attribute uses (repeatable)
    #[arg(long, value_name = "NAME", group = "change")]
    drop_enumeration: Vec<String>,

    /// Add a value to an enumeration (repeatable)
    #[arg(long, value_name = "NAME=VALUE", group = "change")]
    extend: Vec<String>,

    /// Widen the current domain along a dimension, or restrict an array without a current domain
    /// (repeatable). Both ends are inclusive
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
            return Err(Failure::usage(format!(
                "--add {}: expected an attribute or an enumeration, found none",
                file.display()
            )));
        }
        evolution = attributes.into_iter().fold(evolution, SchemaEvolution::add_attribute);
        evolution = enumerations.into_iter().fold(evolution, SchemaEvolution::add_enumeration);
    }
    for extension in &args.extend {
        let (name, text) = extension
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("--extend {extension}: write NAME=VALUE")))?;
        let enumeration = array.enumeration(name)?;
        // Checks first that the enumeration can be extended. This error is more helpful than an
        // invalid value.
        Enumeration::clone(&enumeration).extended::<&[u8]>([]).map_err(Failure::usage)?;
        let value = value::bytes(enumeration.datatype(), enumeration.cell_val_num(), text)?;
        evolution = evolution.extend_enumeration(name, [value]);
    }
    evolution = args.drop.iter().fold(evolution, SchemaEvolution::drop_attribute);
    evolution = args.drop_enumeration.iter().fold(evolution, SchemaEvolution::drop_enumeration);
    if !args.expand.is_empty() {
        let expanded = expanded(&array, &args.expand)?;
        if array.schema().current_domain() == Some(&expanded) {
            return Err(Failure::usage(format!(
                "--expand {}: already the current domain",
                args.expand.join(" --expand ")
            )));
        }
        evolution = evolution.expand_current_domain(expanded);
    }
    Ok(array.evolve(&evolution, &args.stamp.names())?)
}

/// Returns the current domain with the ranges of `expansions`. Without a current domain, the
/// remaining dimensions keep the domain of the schema.
fn expanded(array: &Array, expansions: &[String]) -> Result<NdRange> {
    let schema = array.schema();
    let mut ranges: Vec<Option<DimRange>> = match schema.current_domain() {
        Some(current) => current.0.iter().cloned().map(Some).collect(),
        None => schema.dimensions().iter().map(whole).collect(),
    };
    let mut seen = HashSet::new();
    for expansion in expansions {
        let wrong = |why: &dyn Display| Failure::usage(format!("--expand {expansion}: {why}"));
        let parts = expansion.split_once('=').and_then(|(name, range)| Some((name, range.split_once("..")?)));
        let Some((name, (first, last))) = parts else {
            return Err(wrong(&"write DIMENSION=FIRST..LAST"));
        };
        let mut dimensions = schema.dimensions().iter().zip(&mut ranges);
        let Some((dimension, range)) = dimensions.find(|(dimension, _)| dimension.name() == name) else {
            return Err(wrong(&format_args!("the array has no dimension {name:?}")));
        };
        if !seen.insert(name) {
            return Err(wrong(&format_args!("dimension {name:?} already has a range")));
        }
        let last = last.strip_prefix('=').unwrap_or(last);
        if !dimension.is_var() && (first.is_empty() || last.is_empty()) {
            return Err(wrong(&"expected both ends: write DIMENSION=FIRST..LAST"));
        }
        *range = Some(self::range(dimension, first, last).map_err(|failure| wrong(&failure.message()))?);
    }
    let ranges = ranges.into_iter().zip(schema.dimensions()).map(|(range, dimension)| {
        let name = dimension.name();
        range.ok_or_else(|| {
            Failure::usage(format!("--expand: dimension {name:?} has no domain and needs a range"))
                .with_hint(format!("add --expand {name}=FIRST..LAST"))
        })
    });
    Ok(NdRange(ranges.collect::<Result<_>>()?))
}

/// Returns the domain of a dimension, or `None` if it has no domain.
fn whole(dimension: &Dimension) -> Option<DimRange> {
    dimension.domain_keys().map(|(lo, hi)| DimRange::Fixed { lo, hi })
}

fn range(dimension: &Dimension, first: &str, last: &str) -> Result<DimRange> {
    if dimension.is_var() {
        return Ok(DimRange::strings(first, last));
    }
    let (first, last) = (value::scalar(dimension.datatype(), first)?, value::scalar(dimension.datatype(), last)?);
    Ok(DimRange::Fixed { lo: first.key(), hi: last.key() })
}
