//! `tdb import`: import of files into an array.

mod args;
mod folder;
mod reports;
mod sources;

use tdb_array::{Array, ArrayError};
use tdb_exchange::{Checked, Import, Imported, Source};
use tdb_schema::{ArrayDefinition, ArraySchema, SchemaError};
use tdb_types::saturating_len;

pub(crate) use args::Args;
use reports::Reports;

use crate::failure::{Failure, Result};
use crate::files;
use crate::key::Key;
use crate::session;
use crate::size::counted;
use crate::target::{self, Kind};
use crate::time::TimeArgs;
use tdb_print::Terminal;

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    if let Some((format, path)) = folder::named(args)? {
        return folder::run(args, format, path, key, terminal);
    }
    files::check_once("--type", &args.types)?;
    let source = sources::source(
        &args.files,
        sources::How {
            format: args.format.as_deref(),
            delimiter: args.delimiter,
            nulls: &args.null,
            types: &args.types,
            budget: saturating_len(args.budget),
        },
    )?;
    let mut import = Import::new(source);
    import.ignore_others = args.ignore_others;
    import.skip_rejects = args.skip_rejects;
    import.keep_last = args.keep_last;
    import.names = args.stamp.names();
    import.budget = saturating_len(args.budget);
    let mut reports = Reports::new(terminal);
    let storage = target::storage(&args.array)?;
    let is_new = match storage.list("") {
        Ok(entries) => Kind::of_entries(&entries) != Kind::Array,
        Err(error) if error.is_not_found() => true,
        Err(error) => return Err(ArrayError::from(error).into()),
    };
    if !is_new && (args.schema.is_some() || !args.dimensions.is_empty()) {
        return Err(Failure::usage(format!("{}: the array already exists and has a schema", args.array.display()))
            .with_hint("leave out --schema and --dimensions, or name another array"));
    }
    if let Some((name, _)) = args.types.first()
        && matches!(import.source, Source::Rows { .. })
        && (!is_new || args.schema.is_some())
    {
        let who = if is_new { "--schema" } else { "the array" };
        return Err(Failure::usage(format!("--type {name}: {who} defines the types of the columns"))
            .with_hint("leave out --type"));
    }
    let open = || target::open_array(&args.array, args.threads, &TimeArgs::default(), key);
    let mut imported = Imported::default();
    let mut checked;
    if is_new {
        let definition = definition(args, &import)?;
        checked = import.check(&definition, &mut reports)?;
        let text = tdb_schema_text::to_toml(&definition)?;
        if args.dry_run {
            print!("{text}");
        } else if args.schema.is_none() {
            eprintln!("schema, inferred from {}:\n\n{text}", import.source.name());
        }
        if !args.dry_run {
            key.create_options().ids(import.names.clone()).create_on(&storage, &definition)?;
            let array = open()?.1;
            let written = import.write(&array, &definition, &mut checked, &mut imported, &mut reports);
            written
                .map_err(|error| Failure::from(error).and(so_far(imported)).and("the array was created, and stays"))?;
        }
    } else {
        let array = open()?.1;
        let definition = defined(&array)?;
        checked = import.check(&definition, &mut reports)?;
        if !args.dry_run {
            let written = import.write(&array, &definition, &mut checked, &mut imported, &mut reports);
            written.map_err(|error| Failure::from(error).and(so_far(imported)))?;
        }
    }
    tell(&checked, &imported, args.dry_run);
    Ok(())
}

fn tell(checked: &Checked, imported: &Imported, dry_run: bool) {
    if checked.rejected > 0 {
        session::found();
    }
    if dry_run {
        eprintln!("{} can be imported", counted(checked.rows, "row"));
    } else {
        eprintln!("{} written in {}", counted(imported.cells, "cell"), counted(imported.fragments as u64, "fragment"));
    }
}

/// Describes the cells that a failed import has written.
fn so_far(imported: Imported) -> String {
    match imported.fragments {
        0 => "nothing was written".to_owned(),
        _ => format!("{} were written before the failure", counted(imported.cells, "cell")),
    }
}

fn definition(args: &Args, import: &Import) -> Result<ArrayDefinition> {
    match &args.schema {
        Some(file) => super::create::parsed(file, tdb_schema_text::from_toml),
        None => Ok(import.definition(&args.dimensions, args.allow_duplicates)?),
    }
}

/// Returns the schema of an array with its enumerations.
fn defined(array: &Array) -> Result<ArrayDefinition> {
    let wrong = |error: SchemaError| Failure::corrupt(error);
    let mut definition = ArrayDefinition::new(ArraySchema::clone(array.schema())).map_err(wrong)?;
    for reference in array.schema().enumerations() {
        definition = definition.with_enumeration((*array.enumeration(&reference.name)?).clone()).map_err(wrong)?;
    }
    Ok(definition)
}
