//! Writer of HTML and SVG with escaping.

use std::fmt::{Display, Write};

/// HTML or SVG. Names of elements and attributes are literals. All other text passes through
/// [`escaped`].
#[derive(Debug, Default)]
pub(crate) struct Markup {
    text: String,
}

/// The attributes of an element.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

impl Markup {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Appends literal markup.
    pub(crate) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Appends escaped text.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        escaped(text, &mut self.text);
        self
    }

    /// Appends a start tag.
    pub(crate) fn open(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.tag(name, attributes, ">")
    }

    /// Appends an end tag.
    pub(crate) fn close(&mut self, name: &'static str) -> &mut Self {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
        self
    }

    /// Appends an empty SVG element.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.tag(name, attributes, "/>")
    }

    /// Appends an element with text.
    pub(crate) fn element(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) -> &mut Self {
        self.open(name, attributes).text(text).close(name)
    }

    /// Appends other markup.
    pub(crate) fn append(&mut self, other: &Self) -> &mut Self {
        self.text.push_str(&other.text);
        self
    }

    fn tag(&mut self, name: &'static str, attributes: Attributes<'_>, end: &'static str) -> &mut Self {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = write!(text, "{value}");
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            escaped(&text, &mut self.text);
            self.text.push('"');
        }
        self.text.push_str(end);
        self
    }
}

/// Appends escaped text. Control characters and characters that change the text direction appear as
/// escape sequences.
fn escaped(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                out.extend(character.escape_unicode());
            }
            character if character.is_control() => out.extend(character.escape_unicode()),
            character => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let mut markup = Markup::new();
        markup.element("p", &[("title", &"\" onload=\"x' <b>")], "</p><script>&\u{1b}[2J\u{202e}");
        assert_eq!(
            markup.into_text(),
            "<p title=\"&quot; onload=&quot;x&#39; &lt;b&gt;\">&lt;/p&gt;&lt;script&gt;&amp;\\u{1b}[2J\\u{202e}</p>"
        );
    }
}
