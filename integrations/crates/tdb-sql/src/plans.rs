//! Display of EXPLAIN. Plans are printed as text, because a table would truncate their lines.

use std::io::{self, Write};

use datafusion::arrow::datatypes::Schema;
use tdb_cli::{Rows, printable};

/// `true` if the rows are plans.
pub(crate) fn are_in(schema: &Schema) -> bool {
    schema.fields().iter().map(|field| field.name().as_str()).eq(["plan_type", "plan"])
}

/// Prints each plan below its name.
pub(crate) fn print(rows: &dyn Rows, out: &mut dyn Write) -> io::Result<()> {
    for row in 0..rows.len() {
        let text = |column| rows.text(column, row).unwrap_or_default();
        writeln!(out, "{}", text(0).replace('_', " "))?;
        for line in text(1).lines() {
            // Plans contain values from arrays and statements.
            writeln!(out, "  {}", printable(line))?;
        }
    }
    Ok(())
}
