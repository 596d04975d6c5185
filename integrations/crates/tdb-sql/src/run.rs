//! Execution of statements, and output of results.

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

/// Output format of rows.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) format: Option<RowFormat>,
    pub(crate) null: String,
}

/// Runs statements in a session.
pub(crate) struct Runner<'a> {
    pub(crate) session: SessionContext,
    pub(crate) context: &'a Context,
    pub(crate) interrupts: Interrupts,
    pub(crate) output: Output,
}

impl Runner<'_> {
    /// Runs statements in order. Stops at the first failure.
    pub(crate) async fn all(&self, name: &str, text: &str) -> Result<()> {
        let (found, _) = statements::split(text);
        for statement in found {
            let place = Place { name, text, statement };
            self.interrupts.or(self.one(&place)).await?;
        }
        Ok(())
    }

    /// Runs a statement. Returns the number of printed rows, or `None` if it returns no rows.
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
            // A statement without result.
            true => None,
            false => Some(self.context.row_printer(self.output.format, columns(&schema), &self.output.null)?),
        };
        let mut plans_printed = false;
        // Does not lock standard output across an `await`, because the lock belongs to a thread.
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

    /// Plans a statement. Names tables by the last part of their paths.
    async fn plan(&self, text: &str) -> Result<LogicalPlan, DataFusionError> {
        let state = self.session.state();
        let mut statement = tdb_datafusion::parse(&state, text)?;
        short_names::shorten(&mut statement);
        state.statement_to_plan(statement).await
    }

    /// Rejects DROP TABLE for arrays and files. DataFusion would ignore the statement, because
    /// tables by path are not registered.
    async fn drops_what_it_can(&self, plan: &LogicalPlan) -> Result<()> {
        let LogicalPlan::Ddl(DdlStatement::DropTable(drop)) = plan else { return Ok(()) };
        let is_known = self.session.table_exist(drop.name.clone()).unwrap_or(true);
        match !is_known && self.session.table_provider(drop.name.clone()).await.is_ok() {
            true => {
                let message = format!("{} is a table by path; DROP TABLE needs a table of the session", drop.name);
                Err(Failure::usage(message).with_hint("run `tdb remove` to remove an array"))
            }
            false => Ok(()),
        }
    }

    /// Runs a statement, and prints the number of rows and the elapsed time to standard error.
    pub(crate) async fn timed(&self, place: &Place<'_>) -> Result<()> {
        let begun = Instant::now();
        let rows = self.interrupts.or(self.one(place)).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let rows = rows.map_or(String::new(), |rows| format!("{rows} {}, ", if rows == 1 { "row" } else { "rows" }));
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "{rows}{seconds:.3} s\n");
        Ok(())
    }

    /// Returns the strings in the first column of a query. Empty if the query fails.
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
