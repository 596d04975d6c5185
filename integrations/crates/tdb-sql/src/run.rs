//! Runs statements and prints what they give.

use std::io::{self, BufWriter, Write};
use std::time::Instant;

use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::SessionContext;
use futures_util::StreamExt;
use tdb_cli::{Context, Failure, Result, RowFormat};

use crate::error::Place;
use crate::interrupt::Interrupts;
use crate::panics;
use crate::plans;
use crate::rows::{BatchRows, Values, columns};
use crate::short_names;
use crate::statements;

/// How rows are printed.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) format: Option<RowFormat>,
    pub(crate) null: String,
}

/// What statements run on.
pub(crate) struct Runner<'a> {
    pub(crate) session: SessionContext,
    pub(crate) context: &'a Context,
    pub(crate) interrupts: Interrupts,
    pub(crate) output: Output,
}

impl Runner<'_> {
    /// Runs the statements of a text, each when the one before it has ended; the first that fails is the last.
    pub(crate) async fn all(&self, name: &str, text: &str) -> Result<()> {
        let (found, _) = statements::split(text);
        for statement in found {
            let place = Place { name, text, statement };
            self.interrupts.or(self.one(&place)).await?;
        }
        Ok(())
    }

    /// Runs one statement, and gives how many rows it has printed, if it gives rows.
    pub(crate) async fn one(&self, place: &Place<'_>) -> Result<Option<u64>> {
        panics::caught(self.printed(place)).await
    }

    async fn printed(&self, place: &Place<'_>) -> Result<Option<u64>> {
        let failed = |error: DataFusionError| self.failed(&error, place);
        let plan = match self.plan(&place.text[place.statement.clone()]).await {
            Ok(plan) => plan,
            Err(error) => return Err(self.explained(&error, place).await),
        };
        self.drops_what_it_can(&plan).await?;
        let frame = self.session.execute_logical_plan(plan).await.map_err(failed)?;
        let mut stream = frame.execute_stream().await.map_err(failed)?;
        let schema = stream.schema();
        let mut printer = match schema.fields().is_empty() {
            // A statement that does something, and gives nothing.
            true => None,
            false => Some(self.context.row_printer(self.output.format, columns(&schema), &self.output.null)?),
        };
        let mut plans_printed = false;
        // Not locked over an `await`: a lock belongs to a thread.
        let mut out = BufWriter::with_capacity(64 << 10, io::stdout());
        while let Some(batch) = stream.next().await {
            let batch = batch.map_err(failed)?;
            if let Some(printer) = &mut printer {
                let values = Values::of(&batch).map_err(|error| failed(error.into()))?;
                values.check(&schema)?;
                let rows = BatchRows::new(&values).map_err(|error| failed(error.into()))?;
                if printer.is_table() && plans::are_in(&schema) {
                    plans::print(&rows, &mut out)?;
                    plans_printed = true;
                } else {
                    printer.print(&rows, &mut out)?;
                }
            }
        }
        if let Some(printer) = &mut printer
            && !plans_printed
        {
            printer.finish(&mut out)?;
        }
        out.flush()?;
        Ok(printer.map(|printer| printer.count()))
    }

    /// The plan of a statement, in which tables are called by the last part of their paths.
    async fn plan(&self, text: &str) -> Result<LogicalPlan, DataFusionError> {
        let state = self.session.state();
        let mut statement = tdb_datafusion::parse(&state, text)?;
        short_names::shorten(&mut statement);
        state.statement_to_plan(statement).await
    }

    /// Arrays and files are tables by their paths without anybody having made them so; DataFusion takes such a table for one that it
    /// could drop, and does nothing.
    async fn drops_what_it_can(&self, plan: &LogicalPlan) -> Result<()> {
        let LogicalPlan::Ddl(DdlStatement::DropTable(drop)) = plan else { return Ok(()) };
        let is_known = self.session.table_exist(drop.name.clone()).unwrap_or(true);
        match !is_known && self.session.table_provider(drop.name.clone()).await.is_ok() {
            true => {
                let message =
                    format!("{} is a table by its path, and not of the session, which alone can be dropped", drop.name);
                Err(Failure::usage(message).with_hint("`tdb remove` removes arrays"))
            }
            false => Ok(()),
        }
    }

    /// Runs one statement, and says on standard error how many rows there were and how long it took.
    pub(crate) async fn timed(&self, place: &Place<'_>) -> Result<()> {
        let begun = Instant::now();
        let rows = self.interrupts.or(self.one(place)).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let rows = rows.map_or(String::new(), |rows| format!("{rows} {}, ", if rows == 1 { "row" } else { "rows" }));
        // Nobody may be listening.
        let _ = writeln!(io::stderr(), "{rows}{seconds:.3} s\n");
        Ok(())
    }

    /// The texts that a query gives, of its first column; none if it fails.
    pub(crate) async fn texts(&self, query: &str) -> Vec<String> {
        let Ok(frame) = self.session.sql(query).await else { return Vec::new() };
        let Ok(batches) = frame.collect().await else { return Vec::new() };
        let mut found = Vec::new();
        for batch in batches {
            let Some(column) = batch.columns().first() else { continue };
            for row in 0..column.len() {
                if let Ok(value) = ScalarValue::try_from_array(column, row)
                    && let Some(Some(text)) = value.try_as_str()
                {
                    found.push(text.to_owned());
                }
            }
        }
        found
    }
}
