//! `tdb enumerations`: enumerations and their values.

use std::ffi::OsString;

use tdb_array::Array;
use tdb_exchange::CellKind;
use tdb_schema::Enumeration;

use super::describe::cell_type;
use crate::failure::Result;
use crate::key::Key;
use crate::target;
use crate::time::TimeArgs;
use tdb_print::Terminal;
use tdb_print::{Entry, RowFormat, Sheet, json_cell};

/// List the enumerations of an array, or the values of one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tdb enumerations ARRAY
  tdb enumerations ARRAY colours
  tdb enumerations ARRAY colours --at 2024-05-01 --format csv")]
pub(crate) struct Args {
    /// Path of the array
    array: OsString,

    /// Enumeration to list the values of
    name: Option<String>,

    #[command(flatten)]
    time: TimeArgs,

    /// Output format [default: table on a terminal, else jsonl]
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
}

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (_, array) = target::open_array(&args.array, 1, &args.time, key)?;
    let sheet = match &args.name {
        Some(name) => values(&*array.enumeration(name)?),
        None => all(&array)?,
    };
    Ok(sheet.print(RowFormat::or_default(args.format, terminal), terminal)?)
}

fn all(array: &Array) -> Result<Sheet> {
    const COLUMNS: [(&str, bool); 5] =
        [("name", false), ("type", false), ("ordered", false), ("values", true), ("attributes", false)];
    let mut sheet = Sheet::new(&COLUMNS);
    let schema = array.schema();
    for reference in schema.enumerations() {
        let enumeration = array.enumeration(&reference.name)?;
        let attributes = schema.attributes().iter();
        let attributes = attributes.filter(|attribute| attribute.enumeration() == Some(&*reference.name));
        let attributes: Vec<&str> = attributes.map(tdb_schema::Attribute::name).collect();
        let ordered = enumeration.is_ordered();
        sheet.push(vec![
            reference.name.clone().into(),
            cell_type(enumeration.datatype(), enumeration.cell_val_num(), false).into(),
            Entry::shown(if ordered { "yes" } else { "no" }, ordered),
            (enumeration.len() as u64).into(),
            Entry::shown(attributes.join(", "), attributes),
        ]);
    }
    Ok(sheet)
}

fn values(enumeration: &Enumeration) -> Sheet {
    let (datatype, number) = (enumeration.datatype(), enumeration.cell_val_num());
    let kind = CellKind::of(datatype, number, false);
    let mut sheet = Sheet::new(&[("index", true), ("value", false)]);
    for (index, value) in enumeration.values().enumerate() {
        sheet.push(vec![(index as u64).into(), Entry::shown(kind.text(value), json_cell(datatype, number, value))]);
    }
    sheet
}
