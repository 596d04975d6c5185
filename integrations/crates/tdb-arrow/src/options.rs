//! Options of the conversion to Arrow.

/// Options of the conversion to Arrow, where several types fit. `docs/guides/arrow.md` has the
/// table of types.
#[derive(Clone, Debug)]
#[must_use = "options have no effect until they are used"]
pub struct ArrowOptions {
    pub(crate) strings: bool,
    pub(crate) large: bool,
    pub(crate) views: bool,
    pub(crate) dates: bool,
    pub(crate) seconds: bool,
    pub(crate) outside_is_null: bool,
    pub(crate) far_is_null: bool,
    pub(crate) float_values: bool,
    pub(crate) definition: bool,
    pub(crate) wide_keys: bool,
}

impl Default for ArrowOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ArrowOptions {
    /// Creates the default options: strings as `LargeUtf8`, dates as dates, positions outside of
    /// their enumeration as null, and the whole array definition in the schema metadata.
    pub fn new() -> Self {
        Self {
            strings: true,
            large: true,
            views: false,
            dates: true,
            seconds: true,
            outside_is_null: true,
            far_is_null: false,
            float_values: false,
            definition: true,
            wide_keys: false,
        }
    }

    /// Reads strings as binary, without a UTF-8 check.
    pub fn strings_as_binary(mut self) -> Self {
        self.strings = false;
        self
    }

    /// Reads strings as `Utf8View`. A view holds the length and the first bytes, or the whole
    /// string up to 12 bytes, which speeds up comparing and grouping. Batches below 4 GiB of string
    /// bytes share the bytes of longer strings without a copy. Does not affect binary and values of
    /// enumerations.
    pub fn string_views(mut self) -> Self {
        self.views = true;
        self
    }

    /// Uses 32-bit offsets (`Utf8`, `Binary`, `List`) instead of 64-bit ones. Copies the offsets,
    /// and rejects batches with too many values.
    pub fn small_offsets(mut self) -> Self {
        self.large = false;
        self
    }

    /// Reads dates and times as `Int64`, without a copy, if no Arrow type has the same unit and 64
    /// bits. This affects dates in years, months, weeks, days, hours and minutes, and times of day
    /// coarser than a microsecond. By default, these become the nearest Arrow type: for example,
    /// years, months and weeks become days.
    pub fn other_dates_as_integers(mut self) -> Self {
        self.dates = false;
        self
    }

    /// Uses milliseconds in place of seconds, because Parquet has no type for seconds. Writing
    /// converts them back to whole seconds.
    pub fn milliseconds_for_seconds(mut self) -> Self {
        self.seconds = false;
        self
    }

    /// Rejects positions outside of the enumeration, instead of reading null.
    pub fn refuse_outside_enumeration(mut self) -> Self {
        self.outside_is_null = false;
        self
    }

    /// Reads null for dates and times beyond the range of the Arrow type, instead of failing.
    /// Coordinates are still rejected.
    pub fn far_dates_as_null(mut self) -> Self {
        self.far_is_null = true;
        self
    }

    /// Reads enumerations of floats as plain values instead of dictionaries, because programs
    /// compare floats in dictionaries differently.
    pub fn float_enumerations_as_values(mut self) -> Self {
        self.float_values = true;
        self
    }

    /// Omits the array definition from the schema metadata. The definition contains the values of
    /// all enumerations, and reading these takes time, as do the arrays of dimension labels.
    /// Without it, [`definition`](fn@crate::definition) cannot restore the array from the schema.
    pub fn without_definition(mut self) -> Self {
        self.definition = false;
        self
    }

    /// Uses `Int32` dictionary keys, or `Int64` for positions of `uint32` or 64-bit types, instead
    /// of the type of the positions. Programs that merge batches with different dictionaries
    /// concatenate the values. 8-bit keys are too small for two enumerations with 127 values each.
    pub fn wide_keys(mut self) -> Self {
        self.wide_keys = true;
        self
    }
}
