//! SVG pictures of rectangles, lines and labels.

use std::fmt::Display;

use crate::markup::Markup;

/// The common width of all pictures. Pictures are placed side by side on a wide screen and stacked
/// on a narrow screen, with the same letter size.
pub(crate) const WIDTH: f64 = 360.0;
/// Maximum width of a letter of the label font. Letters of fixed-width fonts are 0.6 times as wide
/// as high.
const LETTER: f64 = 6.2;

/// The alignment of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    End,
}

/// A picture. Labels are truncated to their space.
#[derive(Debug)]
pub(crate) struct Picture {
    body: Markup,
    height: f64,
    title: String,
    description: String,
}

/// A length with one decimal.
struct Length(f64);

impl Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        // Coordinates from files may be infinite or NaN.
        let rounded = if rounded.is_finite() { rounded } else { 0.0 };
        write!(f, "{rounded}")
    }
}

impl Picture {
    pub(crate) fn new(height: f64, title: impl Into<String>, description: impl Into<String>) -> Self {
        Self { body: Markup::new(), height, title: title.into(), description: description.into() }
    }

    /// Draws a rectangle with a tooltip.
    pub(crate) fn rect(&mut self, class: &'static str, x: f64, y: f64, width: f64, height: f64, tip: &str) {
        let (x, y) = (x.clamp(0.0, WIDTH), y.clamp(0.0, self.height));
        // Keeps tiny rectangles visible.
        let width = width.clamp(0.7, (WIDTH - x).max(0.7));
        let height = height.clamp(0.7, (self.height - y).max(0.7));
        let attributes: [(&'static str, &dyn Display); 5] = [
            ("class", &class),
            ("x", &Length(x)),
            ("y", &Length(y)),
            ("width", &Length(width)),
            ("height", &Length(height)),
        ];
        if tip.is_empty() {
            self.body.empty("rect", &attributes);
        } else {
            self.body.open("rect", &attributes).element("title", &[], tip).close("rect");
        }
    }

    pub(crate) fn line(&mut self, class: &'static str, from: (f64, f64), to: (f64, f64)) {
        let attributes: [(&'static str, &dyn Display); 5] = [
            ("class", &class),
            ("x1", &Length(from.0)),
            ("y1", &Length(from.1)),
            ("x2", &Length(to.0)),
            ("y2", &Length(to.1)),
        ];
        self.body.empty("line", &attributes);
    }

    /// Draws a label of at most `room` width.
    pub(crate) fn label(&mut self, x: f64, y: f64, anchor: Anchor, room: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::End => "end",
        };
        let text = fitted(text, room);
        self.body.element("text", &[("x", &Length(x)), ("y", &Length(y)), ("text-anchor", &anchor)], &text);
    }

    /// Labels both ends of a horizontal axis.
    pub(crate) fn ends(&mut self, y: f64, low: &str, high: &str) {
        let room = WIDTH / 2.0 - 6.0;
        self.label(2.0, y, Anchor::Start, room, low);
        if low != high {
            self.label(WIDTH - 2.0, y, Anchor::End, room, high);
        }
    }

    /// Adds the picture with its title below.
    pub(crate) fn finish(self, number: usize, out: &mut Markup) {
        let (title, description) = (format!("p{number}t"), format!("p{number}d"));
        let size = format!("0 0 {WIDTH} {}", Length(self.height));
        out.raw("<figure>");
        out.open(
            "svg",
            &[("viewBox", &size), ("role", &"img"), ("aria-labelledby", &format!("{title} {description}"))],
        );
        out.element("title", &[("id", &title)], &self.title);
        out.element("desc", &[("id", &description)], &self.description);
        out.append(&self.body).close("svg");
        out.raw("<figcaption><b>")
            .text(&self.title)
            .raw("</b> ")
            .text(&self.description)
            .raw("</figcaption></figure>\n");
    }
}

/// Returns the width of a character in letters.
fn columns(character: char) -> usize {
    if (character as u32) < 0x1100 { 1 } else { 2 }
}

/// Returns the start of a text that fits, with an ellipsis if truncated.
fn fitted(text: &str, room: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most a few hundred
    let room = (room / LETTER) as usize;
    // Replaces control characters, because `Markup` would convert each to a longer escape sequence.
    let text: String = text.chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect();
    if text.chars().map(columns).sum::<usize>() <= room {
        return text;
    }
    let mut used = 1;
    let mut short: String = (text.chars())
        .take_while(|character| {
            used += columns(*character);
            used <= room
        })
        .collect();
    short.push('\u{2026}');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut() {
        assert_eq!(fitted("depth", 62.0), "depth");
        assert_eq!(fitted("depth of the water", 62.0), "depth of \u{2026}");
        assert_eq!(fitted("\u{6c34}\u{6c34}\u{6c34}\u{6c34}", 44.0), "\u{6c34}\u{6c34}\u{6c34}\u{2026}");
    }
}
