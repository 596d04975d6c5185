//! What a store said when it refused something: what of it tells the reason, and what of it may be passed on.

use std::error::Error;

use object_store::Error as StoreError;
use object_store::client::HttpError;

/// Most characters of what a store says that are passed on: some answer with pages.
const TOLD: usize = 400;

/// What a store said.
#[derive(Debug)]
pub(crate) struct Said {
    /// The status of its answer, if there was one.
    pub(crate) status: Option<u16>,
    /// The region that it named.
    pub(crate) region: Option<String>,
    /// There was no answer: it can't be reached, or the connection broke.
    pub(crate) is_cut_off: bool,
    /// All of it, which may hold secrets: to search in, not to be shown.
    all: String,
    /// The part that may be shown.
    shown: String,
}

impl Said {
    pub(crate) fn of(error: &StoreError) -> Self {
        let all = chain(error);
        let element = |name: &str| {
            let (_, rest) = all.split_once(&format!("<{name}>"))?;
            rest.split('<').next().map(str::trim).filter(|inside| !inside.is_empty()).map(short)
        };
        let (code, message, region) = (element("Code"), element("Message"), element("Region"));
        let line = all.split_once("status code: ").map(|(_, rest)| rest.split([':', '\n']).next().unwrap_or_default());
        let status = line.and_then(|line| line.split(' ').next()?.parse().ok());
        let shown = match (&code, message, line) {
            (Some(code), Some(message), _) => format!("{code}: {message}"),
            (Some(code), None, _) => code.clone(),
            // Pages of servers in between may repeat what they were sent.
            (None, _, Some(status)) => status.to_owned(),
            (None, _, None) => error.to_string(),
        };
        Self { status, region, is_cut_off: is_cut_off(error), shown: short(&without_queries(&shown)), all }
    }

    /// The first of these words that is in it.
    pub(crate) fn word(&self, words: &[&'static str]) -> Option<&'static str> {
        words.iter().copied().find(|word| self.all.contains(word))
    }

    /// What may be shown of it.
    pub(crate) fn shown(self) -> String {
        self.shown
    }
}

/// Whether there was no answer to a request, or not all of one.
fn is_cut_off(error: &StoreError) -> bool {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = source {
        if error.is::<HttpError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// An error and all that have led to it.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

fn short(text: &str) -> String {
    text.chars().take(TOLD).collect()
}

/// A text on one line whose URLs have lost what may be secret: user, password, and what follows a `?`.
pub(crate) fn without_queries(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match word.split_once("://") {
        Some((scheme, rest)) => {
            let (place, end) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
            let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
            // A quotation mark or a bracket at the end is none of the URL's.
            let closing = end.trim_start_matches(|letter: char| !")]}\"',;".contains(letter));
            format!("{scheme}://{}{path}{closing}", host.rsplit('@').next().unwrap_or_default())
        }
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lose_what_may_be_secret() {
        for (text, shown) in [
            ("GET https://a.net/c/f?sv=2&sig=SECRET in\n 3ms", "GET https://a.net/c/f in 3ms"),
            ("no (https://u:SECRET@a.net/c?sig=SECRET): no", "no (https://a.net/c): no"),
            ("\"s3://b/f\"", "\"s3://b/f\""),
        ] {
            assert_eq!(without_queries(text), shown);
        }
    }

    #[test]
    fn pages_are_not_shown() {
        let page = "Server returned non-2xx status code: 403 Forbidden: <html>Authorization: SECRET</html>";
        let said = Said::of(&StoreError::Generic { store: "S3", source: page.into() });
        assert_eq!((said.status, said.shown().as_str()), (Some(403), "403 Forbidden"));
    }
}
