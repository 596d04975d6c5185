//! Stored and unfiltered bytes of the fields, and the effect of their filters.

use tdb_advise::{AdviceReport, FieldFacts, FieldTrials};
use tdb_job::Bytes;

use crate::axis::ratio;
use crate::page::{Page, table};
use crate::picture::{Anchor, Picture, WIDTH};

/// Maximum number of fields in a picture.
const DRAWN: usize = 16;
/// Minimum bytes of a sample before another filter list is suggested: the bytes of one chunk.
const ENOUGH: u64 = 64 << 10;
/// Maximum number of fields in a table.
const LISTED: usize = 200;

pub(crate) fn section(page: &mut Page, report: &AdviceReport) {
    if report.fields.is_empty() {
        return;
    }
    page.heading("Fields");
    page.body.raw("<div class=\"row\">");
    let mut fields: Vec<&FieldFacts> = report.fields.iter().collect();
    fields.sort_by_key(|field| std::cmp::Reverse(field.stored_bytes().max(field.decoded_bytes())));
    sizes(page, &fields);
    for trials in report.trials.iter().take(DRAWN) {
        stages(page, trials);
    }
    page.body.raw("</div>\n");
    let rows = fields.iter().take(LISTED).map(|field| {
        let (stored, decoded) = (field.stored_bytes(), field.decoded_bytes());
        let bytes = |count: u64| Bytes(count).to_string();
        vec![field.name.clone(), field.filters.clone(), bytes(stored), bytes(decoded), percent(stored, decoded)]
    });
    let title = match fields.len() {
        all if all > LISTED => format!("The {LISTED} largest of {all} fields"),
        1 => "The field".to_owned(),
        all => format!("All {all} fields, largest first"),
    };
    table(&mut page.body, &title, &["field", "filters", "stored", "unfiltered", "ratio"], 2, rows.collect());
}

/// Returns a ratio in percent.
#[allow(clippy::cast_precision_loss)] // shown with three digits
fn percent(part: u64, of: u64) -> String {
    if of == 0 { "\u{2013}".to_owned() } else { format!("{:.1}%", part as f64 * 100.0 / of as f64) }
}

#[allow(clippy::cast_precision_loss)] // for pictures
fn sizes(page: &mut Page, fields: &[&FieldFacts]) {
    let shown = &fields[..fields.len().min(DRAWN)];
    let most = shown.iter().map(|field| field.decoded_bytes().max(field.stored_bytes())).max().unwrap_or(1).max(1);
    let text = match fields.len() - shown.len() {
        0 => "stored above, unfiltered below".to_owned(),
        rest => format!("stored above, unfiltered below; {rest} smaller fields are not shown"),
    };
    let mut picture = Picture::new(30.0 * ratio(shown.len(), 1) + 4.0, "Bytes of fields", text);
    for (number, field) in shown.iter().enumerate() {
        let top = 30.0 * ratio(number, 1);
        let (stored, decoded) = (field.stored_bytes(), field.decoded_bytes());
        let width = |bytes: u64| (WIDTH - 4.0) * bytes as f64 / most as f64;
        picture.label(2.0, top + 11.0, Anchor::Start, 190.0, &field.name);
        let sizes = format!("{} of {}", Bytes(stored), Bytes(decoded));
        picture.label(WIDTH - 2.0, top + 11.0, Anchor::End, 155.0, &sizes);
        picture.rect("bar", 2.0, top + 14.0, width(stored), 6.0, &format!("{}: {stored} bytes stored", field.name));
        picture.rect(
            "pale",
            2.0,
            top + 20.5,
            width(decoded),
            5.0,
            &format!("{}: {decoded} bytes unfiltered", field.name),
        );
    }
    page.picture(picture);
}

/// Adds a picture of the remaining bytes after each filter, measured on the sample.
#[allow(clippy::cast_precision_loss)] // for pictures
fn stages(page: &mut Page, trials: &FieldTrials) {
    // A sample of a few cells proves nothing.
    let is_enough = trials.decoded >= ENOUGH;
    let best = trials.best().filter(|best| is_enough && Some(*best) != trials.trials.first());
    let own = trials.stages.iter().map(|(filters, left)| (filters.clone(), *left, "bar"));
    let other = best.map(|best| (format!("instead: {}", best.filters), best.stored, "joined"));
    let unfiltered = ("unfiltered".to_owned(), trials.decoded, "pale");
    let rows: Vec<(String, u64, &'static str)> = std::iter::once(unfiltered).chain(own).chain(other).collect();
    let most = rows.iter().map(|(_, bytes, _)| *bytes).max().unwrap_or(1).max(1);
    let title = format!("Bytes of {} after each filter", trials.name);
    let text = format!("measured on {} tiles with {} cells", trials.tiles, trials.cells);
    let mut picture = Picture::new(26.0 * ratio(rows.len(), 1) + 4.0, title, text);
    for (number, (filters, left, class)) in rows.iter().enumerate() {
        let top = 26.0 * ratio(number, 1);
        picture.label(2.0, top + 11.0, Anchor::Start, 250.0, filters);
        picture.label(WIDTH - 2.0, top + 11.0, Anchor::End, 96.0, &percent(*left, trials.decoded));
        picture.rect(class, 2.0, top + 14.0, (WIDTH - 4.0) * *left as f64 / most as f64, 7.0, &format!("{left} bytes"));
    }
    page.picture(picture);
}
