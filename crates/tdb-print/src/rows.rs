//! A printer of rows from any source.

use std::io::{self, Write};

use crate::RowFormat;
use crate::pages::{PAGE, Pages};
use crate::terminal::Terminal;

/// A column of rows.
#[derive(Clone, Debug)]
pub struct RowColumn {
    name: String,
    is_number: bool,
}

impl RowColumn {
    /// Creates a column with this name. If `is_number`, tables align the column to the right.
    pub fn new(name: impl Into<String>, is_number: bool) -> Self {
        Self { name: name.into(), is_number }
    }
}

/// A batch of rows with access to each cell.
pub trait Rows {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns `true` if the number of rows is zero.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a cell as text, or `None` if the cell is null.
    fn text(&self, column: usize, row: usize) -> Option<String>;

    /// Appends a cell as JSON.
    fn json(&self, column: usize, row: usize, out: &mut String);
}

/// A printer of rows that arrive in batches.
#[derive(Debug)]
pub struct RowPrinter {
    columns: Vec<RowColumn>,
    /// `"name":` for each column.
    keys: Vec<String>,
    null: String,
    format: RowFormat,
    pages: Pages,
    count: u64,
}

impl RowPrinter {
    /// Creates a printer for rows with these columns. `null` is the text of a null cell in CSV.
    /// Other formats ignore it.
    ///
    /// # Errors
    /// Fails if the name of a column cannot be encoded as JSON.
    pub fn new(format: RowFormat, columns: Vec<RowColumn>, null: &str, terminal: Terminal) -> io::Result<Self> {
        let key = |column: &RowColumn| Ok(format!("{}:", serde_json::to_string(&column.name)?));
        let keys = columns.iter().map(key).collect::<io::Result<_>>()?;
        let heads = columns.iter().map(|column| (column.name.clone(), column.is_number)).collect();
        Ok(Self { columns, keys, null: null.to_owned(), format, pages: Pages::new(heads, terminal), count: 0 })
    }

    /// Returns `true` if the format is a table.
    #[must_use]
    pub fn is_table(&self) -> bool {
        self.format == RowFormat::Table
    }

    /// Returns the number of printed rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Prints a batch of rows.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn print(&mut self, rows: &dyn Rows, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            RowFormat::Table => self.table(rows, out)?,
            RowFormat::Csv => self.csv(rows, out)?,
            RowFormat::Json | RowFormat::Jsonl => self.json(rows, out)?,
        }
        self.count += rows.len() as u64;
        Ok(())
    }

    /// Completes the output after the last batch. Without rows, prints `no rows`, an empty JSON
    /// array or the CSV header.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            RowFormat::Table if !self.pages.has_begun() => writeln!(out, "no rows")?,
            RowFormat::Csv if self.count == 0 => self.csv_header(out)?,
            RowFormat::Json if self.count == 0 => writeln!(out, "[]")?,
            RowFormat::Json => writeln!(out, "\n]")?,
            RowFormat::Table | RowFormat::Csv | RowFormat::Jsonl => {}
        }
        Ok(())
    }

    fn table(&mut self, rows: &dyn Rows, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns.len();
        for start in (0..rows.len()).step_by(PAGE) {
            let page = start..rows.len().min(start + PAGE);
            self.pages.page(page.map(|row| (0..columns).map(move |column| rows.text(column, row))), out)?;
        }
        Ok(())
    }

    fn csv_header(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|column| &column.name))?;
        writer.flush()
    }

    fn csv(&mut self, rows: &dyn Rows, out: &mut dyn Write) -> io::Result<()> {
        if self.count == 0 && !rows.is_empty() {
            self.csv_header(out)?;
        }
        let mut writer = csv::Writer::from_writer(out);
        for row in 0..rows.len() {
            for column in 0..self.columns.len() {
                writer.write_field(rows.text(column, row).as_deref().unwrap_or(&self.null))?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }

    fn json(&mut self, rows: &dyn Rows, out: &mut dyn Write) -> io::Result<()> {
        let is_array = self.format == RowFormat::Json;
        let mut line = String::new();
        for row in 0..rows.len() {
            line.clear();
            if is_array {
                line.push_str(if self.count == 0 && row == 0 { "[\n" } else { ",\n" });
            }
            line.push('{');
            for (column, key) in self.keys.iter().enumerate() {
                if column > 0 {
                    line.push(',');
                }
                line.push_str(key);
                rows.json(column, row, &mut line);
            }
            line.push('}');
            if !is_array {
                line.push('\n');
            }
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ColorChoice;

    struct Squares(u32);

    impl Rows for Squares {
        fn len(&self) -> usize {
            self.0 as usize
        }

        fn text(&self, column: usize, row: usize) -> Option<String> {
            (column == 0 || row != 1).then(|| if column == 0 { row * row } else { row }.to_string())
        }

        fn json(&self, column: usize, row: usize, out: &mut String) {
            out.push_str(&self.text(column, row).unwrap_or_else(|| "null".to_owned()));
        }
    }

    fn printed(format: RowFormat, portions: &[u32]) -> String {
        let columns = vec![RowColumn::new("a \"square\"", true), RowColumn::new("of,", false)];
        let mut printer = RowPrinter::new(format, columns, "NA", Terminal::detect(ColorChoice::Never)).unwrap();
        let mut out = Vec::new();
        portions.iter().for_each(|count| printer.print(&Squares(*count), &mut out).unwrap());
        printer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_print_in_all_formats() {
        assert_eq!(printed(RowFormat::Csv, &[0, 2, 1]), "\"a \"\"square\"\"\",\"of,\"\n0,0\n1,NA\n0,0\n");
        let rows = [r#"{"a \"square\"":0,"of,":0}"#, r#"{"a \"square\"":1,"of,":null}"#];
        assert_eq!(printed(RowFormat::Jsonl, &[2]), format!("{}\n{}\n", rows[0], rows[1]));
        assert_eq!(printed(RowFormat::Json, &[1, 0, 2]), format!("[\n{0},\n{0},\n{1}\n]\n", rows[0], rows[1]));
        let table = printed(RowFormat::Table, &[2, 1]);
        assert_eq!(table.lines().count(), 5, "{table}");
        assert!(table.contains("null"), "{table}");
    }

    #[test]
    fn no_rows_print_in_all_formats() {
        assert_eq!(printed(RowFormat::Csv, &[]), "\"a \"\"square\"\"\",\"of,\"\n");
        assert_eq!(printed(RowFormat::Csv, &[0]), "\"a \"\"square\"\"\",\"of,\"\n");
        assert_eq!(printed(RowFormat::Json, &[0]), "[]\n");
        assert_eq!(printed(RowFormat::Jsonl, &[0]), "");
        assert_eq!(printed(RowFormat::Table, &[0]), "no rows\n");
    }
}
