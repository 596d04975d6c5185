//! Command line of `tdb sql`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use tdb_cli::RowFormat;

const AFTER_HELP: &str = "\
Tables are arrays (by path or URI), and Parquet, CSV, JSON and Arrow files:
  tdb sql \"SELECT chrom, count(*), avg(qual) FROM 'variants.tdb' WHERE pos BETWEEN 10000 AND 20000 GROUP BY chrom\"
  tdb sql \"SELECT * FROM 'variants.tdb@2024-05-01' LIMIT 10\"     the array as of a day
  tdb sql \"SELECT * FROM tdb_fragments('variants.tdb')\"          also tdb_metadata, tdb_schema, tdb_enumerations
  tdb sql -f queries.sql --format csv                            run the statements of a file, each ended by ;
  tdb sql --group s3://bucket/cohort                             open a prompt with the arrays of the group as tables
  tdb sql \"EXPLAIN ANALYZE SELECT …\"                             print the executed plan, with I/O and skipped data

Integer overflow is an error: CAST(v AS BIGINT) * v computes in a wider type, and
--set datafusion.execution.enable_ansi_mode=false wraps around.";

/// Run SQL statements, a file of statements, or an interactive prompt
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SqlArgs {
    /// Statements to run, separated by `;`. Without statements on a terminal, starts a prompt
    #[arg(value_name = "STATEMENTS", conflicts_with = "file", allow_hyphen_values = true, value_parser = statements)]
    pub statements: Option<String>,

    /// Read statements from FILE (`-` for standard input)
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<OsString>,

    /// Output format [default: table on a terminal, JSON lines elsewhere]
    #[arg(long, value_enum)]
    pub format: Option<RowFormat>,

    /// Text for null values in CSV
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub null: String,

    /// Make the arrays of a group available as tables NAME.public.ARRAY, and those of its subgroups
    /// as NAME.GROUP.ARRAY. NAME defaults to the last part of PATH. Arrays of the first group need
    /// no NAME: ARRAY, GROUP.ARRAY. Repeatable
    #[arg(long = "group", value_name = "[NAME=]PATH")]
    pub groups: Vec<String>,

    /// Read arrays as of TIME: milliseconds since 1970, or a date such as 2024-05-01T12:00Z
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// Maximum number of threads per query [default: number of processors]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Maximum memory for queries, such as 4GiB. Beyond it, operators spill to temporary files
    /// where possible, and fail elsewhere
    #[arg(long, value_name = "SIZE", value_parser = tdb_cli::parse_size)]
    pub memory: Option<u64>,

    /// Folder for temporary files
    #[arg(long, value_name = "FOLDER")]
    pub temporary: Option<PathBuf>,

    /// Set a DataFusion option, such as datafusion.execution.batch_size=1024. Repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,

    /// Run the statements on the cluster of the scheduler at this address (see docs/guides/scale.md)
    #[arg(long, value_name = "HOST:PORT")]
    pub scheduler: Option<String>,
}

/// Accepts statements that start with a `--` comment, provided a space follows. Other leading
/// dashes are unknown options.
fn statements(text: &str) -> Result<String, String> {
    let is_comment = text.strip_prefix("--").is_some_and(|rest| rest.starts_with(char::is_whitespace));
    match text.starts_with('-') && !is_comment {
        true => Err("unknown option; write a space after `--` to begin a statement with a comment".to_owned()),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};

    use super::*;

    #[test]
    fn argument_definition_is_valid() {
        SqlArgs::augment_args(Command::new("sql")).debug_assert();
    }

    #[test]
    fn unknown_options_are_no_statements() {
        let given = |arguments: &[&str]| {
            let command = SqlArgs::augment_args(Command::new("sql"));
            command
                .try_get_matches_from([&["sql"], arguments].concat())
                .map(|matches| matches.get_one::<String>("statements").cloned().unwrap_or_default())
        };
        assert_eq!(given(&["-- a comment\nSELECT 1", "--format", "csv"]).unwrap(), "-- a comment\nSELECT 1");
        assert_eq!(given(&["--format", "csv", "SELECT -1"]).unwrap(), "SELECT -1");
        for wrong in ["--formt", "-x", "--formt=csv"] {
            assert!(given(&[wrong]).is_err(), "{wrong}");
        }
    }
}
