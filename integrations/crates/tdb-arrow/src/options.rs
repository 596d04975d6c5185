//! How arrays are told in Arrow's terms.

/// How an array is told in Arrow's terms, where there is more than one way. `docs/arrow.md` has the table of types.
#[derive(Clone, Debug)]
#[must_use = "options do nothing until something is made with them"]
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
    /// Strings as `LargeUtf8`, dates as dates, positions outside of their enumeration null, and the whole definition of the
    /// array in the schema's metadata.
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

    /// Strings as binary: of no cell it is asked whether it is UTF-8, and none is refused.
    pub fn strings_as_binary(mut self) -> Self {
        self.strings = false;
        self
    }

    /// Strings as `Utf8View`: each with its length and its first bytes, or all of twelve and fewer, in one place, which comparing and grouping
    /// gain by. The bytes of longer ones are shared, not copied, in batches below 4 GiB of them. Values of enumerations, and binary, stay what they are.
    pub fn string_views(mut self) -> Self {
        self.views = true;
        self
    }

    /// Offsets of 32 bits (`Utf8`, `Binary`, `List`) instead of 64. They are copied, and a batch with more values is refused.
    pub fn small_offsets(mut self) -> Self {
        self.large = false;
        self
    }

    /// Dates and times whose unit Arrow lacks as `Int64`, without a copy, instead of as the nearest type of dates: years to
    /// days, hours and minutes, times of day coarser than a microsecond.
    pub fn other_dates_as_integers(mut self) -> Self {
        self.dates = false;
        self
    }

    /// Milliseconds wherever it would be seconds: Parquet has no type for these. Whole seconds they are in the array again.
    pub fn milliseconds_for_seconds(mut self) -> Self {
        self.seconds = false;
        self
    }

    /// Refuses cells whose position their enumeration doesn't have, instead of making them null.
    pub fn refuse_outside_enumeration(mut self) -> Self {
        self.outside_is_null = false;
        self
    }

    /// Dates and times that their Arrow type cannot hold as null, instead of refusing them. Coordinates are refused nevertheless.
    pub fn far_dates_as_null(mut self) -> Self {
        self.far_is_null = true;
        self
    }

    /// Enumerations of floats as their values instead of dictionaries: programs compare floats within dictionaries in other ways.
    pub fn float_enumerations_as_values(mut self) -> Self {
        self.float_values = true;
        self
    }

    /// Leaves the array's definition out of the schema's metadata: it holds the values of all enumerations, and takes reading
    /// them and the arrays of labels. Without it, no array can be made from the schema alone.
    pub fn without_definition(mut self) -> Self {
        self.definition = false;
        self
    }

    /// Keys of dictionaries as `Int32`, or `Int64` where positions are unsigned with 32 bits or have 64, instead of the positions' own
    /// type. Who merges batches with different dictionaries puts their values one after the other: keys of 8 bits are too small
    /// for those of two enumerations with 127 values.
    pub fn wide_keys(mut self) -> Self {
        self.wide_keys = true;
        self
    }
}
