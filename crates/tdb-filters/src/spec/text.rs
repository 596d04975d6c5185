//! Parsing of printed filters and pipelines.

use std::str::FromStr;

use tdb_types::{Datatype, ParseNameError, hex};

use super::{Filter, FilterPipeline, WebPFormat, WebPOptions};

impl FromStr for FilterPipeline {
    type Err = ParseNameError;

    /// Parses the output of [`Display`](std::fmt::Display), which omits options without effect.
    ///
    /// ```
    /// use tdb_filters::FilterPipeline;
    ///
    /// let pipeline: FilterPipeline = "double_delta | byteshuffle | zstd(3)".parse()?;
    /// assert_eq!(pipeline.filters.len(), 3);
    /// assert_eq!(pipeline.to_string(), "double_delta | byteshuffle | zstd(3)");
    /// # Ok::<(), tdb_filters::tdb_types::ParseNameError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (list, max_chunk_size) = chunked(text).ok_or_else(|| ParseNameError::new("filter pipeline", text, &[]))?;
        let filters = match list {
            "no filters" => Vec::new(),
            list => list.split(" | ").map(str::parse).collect::<Result<_, _>>()?,
        };
        Ok(Self { max_chunk_size, filters })
    }
}

/// Splits a pipeline's text into the list of filters and the chunk size.
fn chunked(text: &str) -> Option<(&str, u32)> {
    if let Some(list) = text.strip_suffix(", not chunked") {
        return Some((list, 0));
    }
    match text.rsplit_once(", chunks of ") {
        Some((list, bytes)) => Some((list, number(bytes.strip_suffix(" bytes")?)?)),
        None => Some((text, FilterPipeline::DEFAULT_MAX_CHUNK_SIZE)),
    }
}

impl FromStr for Filter {
    type Err = ParseNameError;

    /// Parses the output of [`Display`](std::fmt::Display): a name, and options in parentheses.
    /// Options without effect are not printed and take their defaults, as do omitted levels and
    /// windows.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, options) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').map(Some)),
            None => (text, Some(None)),
        };
        options.and_then(|options| filter(name, options)).ok_or_else(|| ParseNameError::new("filter", text, &[]))
    }
}

fn filter(name: &str, options: Option<&str>) -> Option<Filter> {
    if name == "unknown" {
        let options = options?.strip_prefix("code ")?;
        let (code, options) = options.split_once(", options ").unwrap_or((options, ""));
        return Some(Filter::Unknown { code: number(code)?, options: hex::decode(options)? });
    }
    let mut filter = Filter::from_name(name)?;
    match (&mut filter, options) {
        (Filter::FloatScale { .. } | Filter::WebP(_), None) => return None,
        (_, None) => {}
        (Filter::Gzip { level } | Filter::Zstd { level } | Filter::Bzip2 { level }, Some(text)) => {
            *level = self::level(text)?;
        }
        (Filter::BitWidthReduction { max_window } | Filter::PositiveDelta { max_window }, Some(text)) => {
            *max_window = number(text.strip_prefix("window ")?)?;
        }
        (Filter::DoubleDelta { reinterpret, .. } | Filter::Delta { reinterpret, .. }, Some(text)) => {
            *reinterpret = Some(Datatype::from_name(text)?);
        }
        (Filter::FloatScale { scale, offset, byte_width }, Some(text)) => {
            let (first, rest) = text.strip_prefix("scale ")?.split_once(", offset ")?;
            let (second, bytes) = rest.split_once(", ")?;
            (*scale, *offset) = (first.parse().ok()?, second.parse().ok()?);
            *byte_width = number(bytes.strip_suffix(" bytes")?)?;
        }
        (Filter::WebP(webp), Some(text)) => *webp = self::webp(text)?,
        (_, Some(_)) => return None,
    }
    Some(filter)
}

/// Parses `rgba, quality 80, 12 rows of 48 bytes`. `lossless` replaces the quality.
fn webp(options: &str) -> Option<WebPOptions> {
    let (format, rest) = options.split_once(", ")?;
    let (loss, extents) = rest.split_once(", ")?;
    let (rows, bytes) = extents.split_once(" rows of ")?;
    let (quality, lossless) = match loss {
        "lossless" => (100.0, true),
        loss => (loss.strip_prefix("quality ")?.parse().ok()?, false),
    };
    Some(WebPOptions {
        quality,
        format: WebPFormat::from_name(format)?,
        lossless,
        y_extent: number(rows)?,
        x_extent: number(bytes.strip_suffix(" bytes")?)?,
    })
}

/// Parses decimal digits with an optional minus sign.
fn level(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Parses decimal digits. `parse` would also accept a leading plus sign.
fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Filters with arbitrary printed options, and defaults for all others.
    fn filters() -> impl Strategy<Value = Filter> {
        let names = ["none", "lz4", "rle", "dictionary", "double_delta", "delta", "bitshuffle", "byteshuffle"];
        let more = ["aes_256_gcm", "md5", "sha256", "xor"];
        let datatypes = proptest::sample::select(Datatype::ALL);
        let formats = ["none", "rgb", "bgr", "rgba", "bgra"].map(|name| WebPFormat::from_name(name).unwrap());
        let floats = proptest::num::f64::NORMAL | proptest::num::f64::ZERO | proptest::num::f64::INFINITE;
        prop_oneof![
            proptest::sample::select([&names[..], &more].concat()).prop_map(|name| Filter::from_name(name).unwrap()),
            any::<i32>().prop_map(|level| Filter::Gzip { level }),
            any::<i32>().prop_map(|level| Filter::Zstd { level }),
            any::<i32>().prop_map(|level| Filter::Bzip2 { level }),
            any::<u32>().prop_map(|max_window| Filter::BitWidthReduction { max_window }),
            any::<u32>().prop_map(|max_window| Filter::PositiveDelta { max_window }),
            datatypes.clone().prop_map(|datatype| Filter::Delta { level: -1, reinterpret: Some(datatype) }),
            datatypes.prop_map(|datatype| Filter::DoubleDelta { level: -1, reinterpret: Some(datatype) }),
            (floats, floats, any::<u64>()).prop_map(|(scale, offset, byte_width)| Filter::FloatScale {
                scale,
                offset,
                byte_width
            }),
            (proptest::sample::select(formats.to_vec()), proptest::num::f32::NORMAL, any::<(bool, u16, u16)>())
                .prop_map(|(format, quality, (lossless, y_extent, x_extent))| {
                    let quality = if lossless { 100.0 } else { quality };
                    Filter::WebP(WebPOptions { quality, format, lossless, y_extent, x_extent })
                }),
            any::<(u8, Vec<u8>)>().prop_map(|(code, options)| Filter::Unknown { code, options }),
        ]
    }

    proptest! {
        #[test]
        fn printed_pipelines_parse(filters in proptest::collection::vec(filters(), 0..4), max_chunk_size: u32) {
            for max_chunk_size in [max_chunk_size, 0, FilterPipeline::DEFAULT_MAX_CHUNK_SIZE] {
                let pipeline = FilterPipeline { max_chunk_size, filters: filters.clone() };
                prop_assert_eq!(pipeline.to_string().parse(), Ok(pipeline));
            }
        }

        /// Parsing never panics, and accepted text survives a round trip.
        #[test]
        fn any_text_parses_or_is_rejected(text in "(zstd|webp|unknown|float_scale|delta|no filters|[a-z0-9 |,(-]{0,9})[(](code |scale )?[a-z0-9.é ,-]{0,9}[)]?") {
            if let Ok(pipeline) = text.parse::<FilterPipeline>() {
                prop_assert_eq!(pipeline.to_string().parse(), Ok(pipeline));
            }
        }
    }

    #[test]
    fn omitted_options_take_their_defaults() {
        let pipeline: FilterPipeline = "zstd | bit_width_reduction | positive_delta".parse().unwrap();
        let expected = "zstd(-1) | bit_width_reduction(window 256) | positive_delta(window 1024)";
        assert_eq!(pipeline.to_string(), expected);
    }

    #[test]
    fn errors_quote_the_invalid_filter() {
        let message = |text: &str| text.parse::<FilterPipeline>().unwrap_err().to_string();
        assert_eq!(message("byteshuffle | zst(3)"), r#""zst(3)" is not a valid filter"#);
        assert_eq!(
            message("zstd, chunks of many bytes"),
            r#""zstd, chunks of many bytes" is not a valid filter pipeline"#
        );
        for text in
            ["", "zstd(", "zstd()", "zstd(+3)", "zstd(3) ", "md5(1)", "unknown", "unknown(code 1, options 0)", "|"]
        {
            assert!(text.parse::<FilterPipeline>().is_err(), "{text:?}");
        }
    }
}
