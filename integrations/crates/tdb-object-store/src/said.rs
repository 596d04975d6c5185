//! Error responses of stores: extracts the cause, and removes secrets.

use std::error::Error;
use std::iter::successors;

use object_store::Error as StoreError;
use object_store::client::HttpError;

use crate::excess::Excess;

/// Maximum length in characters of a shown message. Some stores answer with pages.
const TOLD: usize = 400;

/// Prefixes in `object_store` before the response of a store. URLs contain no spaces, and paths
/// appear elsewhere in the messages. Names of buckets and files therefore cannot imitate a
/// response.
const ANSWERED: [&str; 2] = ["Server returned non-2xx status code: ", "Server returned error response: "];
/// Prefix for a failed deletion of one of many files. The key follows, and the error code comes at
/// the end.
const NOT_DELETED: &str = "DeleteObjects request failed for key ";

/// An error response of a store.
#[derive(Debug)]
pub(crate) struct Said {
    /// HTTP status, if there was a response.
    pub(crate) status: Option<u16>,
    /// Region named in the response.
    pub(crate) region: Option<String>,
    /// `true` if the store was unreachable, or the connection broke.
    pub(crate) is_cut_off: bool,
    /// Set if the response exceeded its size limit.
    pub(crate) excess: Option<Excess>,
    /// Error code.
    code: Option<String>,
    /// Messages of the error and its sources. May contain secrets. Do not show.
    chain: Vec<String>,
    /// The part that is safe to show.
    shown: String,
}

impl Said {
    pub(crate) fn of(error: &StoreError) -> Self {
        let chain = chain(error);
        let answer = chain.iter().find_map(|link| ANSWERED.iter().find_map(|before| link.strip_prefix(before)));
        let element = |name: &str| {
            let (_, rest) = answer?.split_once(&format!("<{name}>"))?;
            rest.split('<').next().map(str::trim).filter(|inside| !inside.is_empty()).map(short)
        };
        let code = element("Code").or_else(|| {
            let refused = chain.iter().find(|link| link.starts_with(NOT_DELETED))?;
            refused.rsplit_once("(code: ")?.1.strip_suffix(')').map(short)
        });
        let line = chain.iter().find_map(|link| link.strip_prefix(ANSWERED[0])?.split([':', '\n']).next());
        let status = line.and_then(|line| line.split(' ').next()?.parse().ok());
        let shown = match (&code, element("Message"), line) {
            (Some(code), Some(message), _) => format!("{code}: {message}"),
            (Some(code), None, _) => code.clone(),
            // Pages of proxies may repeat the request.
            (None, _, Some(status)) => status.to_owned(),
            (None, _, None) => error.to_string(),
        };
        let (shown, region) = (short(&without_queries(&shown)), element("Region"));
        Self { status, region, is_cut_off: is_cut_off(error), excess: excess(error), code, chain, shown }
    }

    /// Returns the error code, if it is in the list.
    pub(crate) fn code(&self, codes: &[&'static str]) -> Option<&'static str> {
        let said = self.code.as_deref()?;
        codes.iter().copied().find(|code| *code == said)
    }

    /// Returns `true` if a message in the chain begins with these words of `object_store`.
    pub(crate) fn begins(&self, words: &str) -> bool {
        self.chain.iter().any(|link| link.starts_with(words))
    }

    /// Returns the message to show.
    pub(crate) fn shown(self) -> String {
        self.shown
    }
}

/// Iterates over an error and its sources.
fn sources<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |error| (*error).source())
}

/// Returns `true` if a request got no response, or an incomplete one.
fn is_cut_off(error: &StoreError) -> bool {
    sources(error).any(<dyn Error>::is::<HttpError>)
}

fn excess(error: &StoreError) -> Option<Excess> {
    sources(error).find_map(|error| error.downcast_ref::<Excess>().copied())
}

/// Returns `true` if a response broke off.
pub(crate) fn broke_off(error: &StoreError) -> bool {
    let broken = sources(error).skip_while(|error| !error.is::<HttpError>());
    excess(error).is_none() && broken.into_iter().any(|error| error.to_string().contains("response body"))
}

/// Returns the messages of an error and its sources.
fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    sources(error).map(ToString::to_string).collect()
}

fn short(text: &str) -> String {
    text.chars().take(TOLD).collect()
}

/// Joins a text to one line, and removes secrets from URLs: user, password, and everything from the
/// `?` on.
pub(crate) fn without_queries(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match word.split_once("://") {
        Some((scheme, rest)) => {
            let (place, end) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
            let (host, path) = place.split_at(place.find('/').unwrap_or(place.len()));
            // A closing quote or bracket does not belong to the URL.
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
    fn urls_lose_secrets() {
        for (text, shown) in [
            ("GET https://a.net/c/f?sv=2&sig=SECRET in\n 3ms", "GET https://a.net/c/f in 3ms"),
            ("no (https://u:SECRET@a.net/c?sig=SECRET): no", "no (https://a.net/c): no"),
            ("\"s3://b/f\"", "\"s3://b/f\""),
        ] {
            assert_eq!(without_queries(text), shown);
        }
    }

    /// Wraps a response like `object_store` does for a request of a file.
    fn answered(url: &'static str, answer: &'static str) -> StoreError {
        #[derive(Debug, thiserror::Error)]
        #[error("Error performing GET {0} in 1ms - {1}")]
        struct Failed(&'static str, #[source] Answer);
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Answer(&'static str);
        StoreError::Generic { store: "S3", source: Box::new(Failed(url, Answer(answer))) }
    }

    #[test]
    fn pages_are_not_shown() {
        let page = "Server returned non-2xx status code: 403 Forbidden: <html>Authorization: SECRET</html>";
        let said = Said::of(&answered("https://host/b/f", page));
        assert_eq!((said.status, said.shown().as_str()), (Some(403), "403 Forbidden"));
    }

    /// Names never count as codes.
    #[test]
    fn names_are_not_error_codes() {
        let url = "https://host/NoSuchBucket/%3CCode%3ESlowDown%3C/Code%3E/AccessDenied";
        let not_found = "Server returned non-2xx status code: 404 Not Found: <Error><Code>NoSuchKey</Code>\
                         <Message>No</Message><Key>ExpiredToken</Key><BucketName>NoSuchBucket</BucketName></Error>";
        let said = Said::of(&answered(url, not_found));
        assert_eq!(said.code(&["NoSuchBucket", "SlowDown", "AccessDenied", "ExpiredToken"]), None);
        assert_eq!((said.code(&["NoSuchKey"]), said.status), (Some("NoSuchKey"), Some(404)));
        let path = "Server returned non-2xx status code: 403: <Code>NoSuchBucket</Code>".to_owned();
        let error = StoreError::NotFound { path: path.clone(), source: "none".into() };
        let said = Said::of(&error);
        assert_eq!((said.code(&["NoSuchBucket"]), said.status), (None, None));
        let not_deleted = "DeleteObjects request failed for key a (code: SlowDown): Access Denied (code: AccessDenied)";
        let error = StoreError::Generic { store: "S3", source: not_deleted.into() };
        let said = Said::of(&error);
        assert_eq!((said.code(&["SlowDown", "AccessDenied"]), said.status), (Some("AccessDenied"), None));
    }
}
