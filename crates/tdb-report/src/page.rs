//! The frame of all pages.

use crate::markup::Markup;
use crate::picture::Picture;

/// The policy forbids loading and scripts, even if a name from the array passed the escaping.
const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
    <meta name=\"color-scheme\" content=\"light dark\">\n<title>";

/// A page under construction.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) body: Markup,
    pictures: usize,
    /// `true` for a section of a group page, with headings one level deeper.
    pub(crate) is_part: bool,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn heading(&mut self, text: &str) {
        let name = if self.is_part { "h3" } else { "h2" };
        self.body.element(name, &[], text).raw("\n");
    }

    pub(crate) fn picture(&mut self, picture: Picture) {
        self.pictures += 1;
        picture.finish(self.pictures, &mut self.body);
    }

    /// Adds a sentence instead of a picture without content.
    pub(crate) fn fact(&mut self, title: &str, text: &str) {
        self.body.raw("<figure><figcaption><b>").text(title).raw("</b> ").text(text).raw("</figcaption></figure>\n");
    }

    /// Returns the complete page.
    pub(crate) fn finish(self, title: &str) -> String {
        let mut page = Markup::new();
        page.raw(HEAD)
            .text(title)
            .raw("</title>\n<style>\n")
            .raw(include_str!("style.css"))
            .raw("</style>\n</head>\n<body>\n");
        page.append(&self.body);
        page.raw("<footer>Made by <code>tdb report</code>. The page stands alone: it loads nothing, and runs nothing.</footer>\n");
        page.raw("</body>\n</html>\n");
        page.into_text()
    }
}

/// Adds facts as small cards.
pub(crate) fn facts(out: &mut Markup, facts: &[(&str, String)]) {
    out.raw("<dl class=\"facts\">");
    for (name, value) in facts {
        out.raw("<div>").element("dt", &[], name).element("dd", &[], value).raw("</div>");
    }
    out.raw("</dl>\n");
}

/// Adds a collapsed table. The columns from `numbers` on are numeric.
pub(crate) fn table(out: &mut Markup, title: &str, columns: &[&str], numbers: usize, rows: Vec<Vec<String>>) {
    let class = |column: usize| if column >= numbers { "n" } else { "w" };
    out.raw("<details><summary>").text(title).raw("</summary><div class=\"scroll\"><table><thead><tr>");
    for (column, name) in columns.iter().enumerate() {
        out.element("th", &[("class", &class(column)), ("scope", &"col")], name);
    }
    out.raw("</tr></thead><tbody>\n");
    for row in rows {
        out.raw("<tr>");
        for (column, value) in row.iter().enumerate() {
            out.element("td", &[("class", &class(column))], value);
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody></table></div></details>\n");
}

/// Formats a byte count in the largest suitable unit.
#[allow(clippy::cast_precision_loss)] // shown with three digits
pub(crate) fn bytes(count: u64) -> String {
    let (mut value, mut unit) = (count as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if value < 1023.95 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    let digits = usize::from(value < 99.95 && unit != "B");
    format!("{value:.digits$} {unit}")
}
