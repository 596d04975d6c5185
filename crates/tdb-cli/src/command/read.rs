//! `tdb read`: cells of an array.

mod args;
mod cost;
mod explain;
mod stream;

use tdb_array::{Array, Query};

pub(crate) use args::Args;

use super::selection::{Selected, selected};
use crate::failure::Result;
use crate::key::Key;
use crate::setter::with;
use crate::{session, target};
use cost::Cost;
use tdb_print::Terminal;
use tdb_print::{RowFormat, TextFormat};

pub(crate) fn run(args: &Args, key: &Key, terminal: Terminal) -> Result<()> {
    let (_, array) = target::open_to_read(&args.array, args.threads, &args.time, key)?;
    let fields = selected(array.schema(), &args.select)?;
    let query = query(&array, args, &fields)?;
    if args.explain {
        let format = if args.format == Some(RowFormat::Json) { TextFormat::Json } else { TextFormat::Text };
        let plan = query.plan()?;
        let cost = args.run.then(|| Cost::of(&array, query, args.limit, terminal)).transpose()?;
        return explain::print(&plan, cost.as_ref(), format);
    }
    session::printed(stream::run(&array, query, &fields, args, terminal)?);
    Ok(())
}

fn query(array: &Array, args: &Args, fields: &[Selected<'_>]) -> Result<Query> {
    let schema = array.schema();
    let names = fields.iter().map(|field| field.name(schema));
    let mut query = array.read().select(names)?;
    query = args.which.apply(query, array)?;
    if !args.fill {
        query = query.only_matching();
        if args.which.has_condition() {
            query = args.which.within_written(query, array)?;
        }
    }
    query = with(query, args.order.map(Into::into), Query::order);
    Ok(query.budget(stream::budget(args, schema, fields)))
}
