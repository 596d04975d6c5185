//! The values that a pipeline can store.

use tdb_types::Datatype;

use crate::stage::float_scale::FloatScale;
use crate::{Filter, FilterError, FilterPipeline};

/// The range of values that a pipeline can store.
///
/// ```
/// use tdb_filters::{Filter, FilterPipeline, StorableValues};
/// use tdb_types::Datatype;
///
/// let filters = FilterPipeline::new(vec![Filter::FloatScale { scale: 0.5, offset: 0.0, byte_width: 1 }]);
/// let storable = StorableValues::of(&filters, Datatype::Float32)?.unwrap();
/// storable.check(&63.6f32.to_le_bytes())?;
/// let error = storable.check(&64.0f32.to_le_bytes()).unwrap_err().to_string();
/// assert_eq!(error, "float_scale: value 0: found 64.0, expected -64.0 to 63.5 (scale 0.5, offset 0, byte width 1)");
/// # Ok::<(), tdb_filters::FilterError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StorableValues(FloatScale);

impl StorableValues {
    /// Returns the range of values for a datatype, or `None` if the pipeline stores all values.
    ///
    /// # Errors
    /// [`FilterError::UnsupportedDatatype`] if float scale receives bytes other than floats or
    /// occurs twice, so that values would be lost. [`FilterError::InvalidOption`] if an option of
    /// float scale is invalid.
    pub fn of(pipeline: &FilterPipeline, datatype: Datatype) -> Result<Option<Self>, FilterError> {
        let filters = &pipeline.filters;
        let Some(place) = filters.iter().position(|filter| matches!(filter, Filter::FloatScale { .. })) else {
            return Ok(None);
        };
        let Filter::FloatScale { scale, offset, byte_width } = filters[place] else { return Ok(None) };
        let keeps = |filter: &Filter| matches!(filter, Filter::None | Filter::Md5 | Filter::Sha256);
        let is_again = |filter: &Filter| matches!(filter, Filter::FloatScale { .. });
        if !datatype.is_float() || !filters[..place].iter().all(keeps) || filters[place + 1..].iter().any(is_again) {
            let hint = "values would be lost; use the filter once, as the first filter, on float32 or float64";
            return Err(FilterError::UnsupportedDatatype { filter: "float_scale", datatype, hint });
        }
        FloatScale::new(datatype, scale, offset, byte_width).map(|scale| Some(Self(scale)))
    }

    /// Checks little-endian values.
    ///
    /// # Errors
    /// [`FilterError::OutOfRange`] for the first value outside the range. Rounding is not an error.
    pub fn check(&self, values: &[u8]) -> Result<(), FilterError> {
        self.0.check(values)
    }
}
