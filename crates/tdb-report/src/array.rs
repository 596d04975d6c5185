//! The page of one array.

use tdb_advise::{Advice, AdviceLevel, AdviceReport};
use tdb_array::Array;
use tdb_job::{Bytes, Result};

use crate::markup::Markup;
use crate::options::Options;
use crate::page::{Page, facts};
use crate::{cells, fields, fragments, tiles};

/// Maximum number of characters of the text of a schema.
const SCHEMA: usize = 200 << 10;
/// Maximum number of pieces of advice.
const ADVICE: usize = 100;
/// Maximum number of metadata entries.
const METADATA: usize = 100;

pub(crate) fn array(page: &mut Page, path: &str, array: &Array, options: &Options) -> Result<()> {
    let array = &Array::from(array.watched(&options.monitor));
    let report = options.advise.run(array)?;
    let dimensions = options.dimensions_of(array);
    summary(page, array, &report);
    advice(page, path, &report.advice);
    fragments::section(page, array, &dimensions)?;
    fields::section(page, &report);
    tiles::section(page, array)?;
    cells::section(page, array, &dimensions, options)?;
    metadata(page, array)?;
    schema(page, array)
}

fn summary(page: &mut Page, array: &Array, report: &AdviceReport) {
    let schema = array.schema();
    let dimensions: Vec<&str> = schema.dimensions().iter().take(8).map(tdb_schema::Dimension::name).collect();
    let more =
        |shown: usize, all: usize| if all > shown { format!(" and {} more", all - shown) } else { String::new() };
    let decoded = report.fields.iter().fold(0_u64, |sum, field| sum.saturating_add(field.decoded_bytes()));
    facts(
        &mut page.body,
        &[
            ("array", schema.array_type().to_string()),
            ("format", schema.version().to_string()),
            ("dimensions", dimensions.join(", ") + &more(dimensions.len(), schema.dim_count())),
            ("attributes", schema.attr_count().to_string()),
            ("fragments", report.fragments.to_string()),
            ("tiles", report.tiles.to_string()),
            ("cells", report.cells.to_string()),
            ("stored", Bytes(report.stored).to_string()),
            ("unfiltered", Bytes(decoded).to_string()),
            ("fragment metadata", Bytes(report.metadata).to_string()),
        ],
    );
}

fn advice(page: &mut Page, path: &str, all: &[Advice]) {
    page.heading("Advice");
    if all.iter().all(|advice| advice.level == AdviceLevel::Note) {
        page.body.raw("<p>No advice.</p>\n");
    }
    page.body.raw("<ul class=\"advice\">");
    for advice in all.iter().take(ADVICE) {
        page.body.open("li", &[("class", &advice.level.name())]);
        one(&mut page.body, path, advice);
        page.body.close("li");
    }
    page.body.raw("</ul>\n");
}

fn one(out: &mut Markup, path: &str, advice: &Advice) {
    out.element("b", &[], advice.kind.name());
    if let Some(field) = &advice.field {
        out.raw(" ").element("code", &[], field);
    }
    let saves = match advice.level {
        AdviceLevel::Note => " (note)".to_owned(),
        // The format would show 0.0 s.
        level if advice.saves.as_millis() < 50 => format!(" ({})", level.name()),
        level => format!(" ({}: saves about {:.1} s)", level.name(), advice.saves.as_secs_f64()),
    };
    out.text(&saves).element("p", &[], &advice.what).raw("<ul>");
    advice.figures.iter().for_each(|figure| {
        out.element("li", &[("class", &"figure")], &figure.to_string());
    });
    out.raw("</ul>");
    let commands: Vec<String> = advice.remedy.iter().map(|remedy| remedy.line(path)).collect();
    if !commands.is_empty() {
        out.element("pre", &[], &commands.join("\n"));
    }
}

fn metadata(page: &mut Page, array: &Array) -> Result<()> {
    let metadata = array.metadata()?;
    if metadata.is_empty() {
        return Ok(());
    }
    page.heading("Metadata");
    let rows = metadata.iter().take(METADATA).map(|(key, value)| {
        let text = match value.as_text() {
            Some(text) => text.chars().take(200).collect(),
            None => value.scalars().take(20).map(|scalar| scalar.to_string()).collect::<Vec<_>>().join(", "),
        };
        vec![key.chars().take(200).collect(), value.datatype().to_string(), text]
    });
    let title = format!("{} entries", metadata.len());
    crate::page::table(&mut page.body, &title, &["key", "type", "value"], 3, rows.collect());
    Ok(())
}

fn schema(page: &mut Page, array: &Array) -> Result<()> {
    page.heading("Schema");
    let text = match array.definition().map(|definition| tdb_schema_text::to_toml(&definition)) {
        Ok(Ok(text)) => text,
        // A schema without a text form must not prevent the page.
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    let shown: String = text.chars().take(SCHEMA).collect();
    page.body.raw("<details><summary>As text for <code>tdb create</code></summary>").element("pre", &[], &shown);
    if shown.len() < text.len() {
        page.body.element("p", &[], &format!("{} more bytes are not shown.", text.len() - shown.len()));
    }
    page.body.raw("</details>\n");
    Ok(())
}
