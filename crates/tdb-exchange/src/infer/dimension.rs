//! Dimensions of new arrays.

use tdb_schema::Dimension;
use tdb_types::{CellValNum, Datatype, Scalar};

use crate::error::{Error, Result};

/// Creates a dimension with room for later cells: the domain spans nearly the complete type. `seen`
/// holds the minimum and maximum of integer coordinates, which determine the tile extent.
///
/// # Errors
/// Fails if cells of this type cannot be coordinates.
pub(crate) fn dimension(
    name: &str,
    (datatype, number): (Datatype, CellValNum),
    seen: Option<(i128, i128)>,
) -> Result<Dimension> {
    let physical = datatype.physical();
    let new = |low, high| Ok(Dimension::new(name, low..=high).with_datatype(datatype));
    match (datatype, number) {
        (Datatype::StringAscii | Datatype::StringUtf8, CellValNum::Var) => Ok(Dimension::string(name)),
        (Datatype::Float64, CellValNum::ONE) => new(Scalar::F64(f64::MIN), Scalar::F64(f64::MAX)),
        (Datatype::Float32, CellValNum::ONE) => new(Scalar::F32(f32::MIN), Scalar::F32(f32::MAX)),
        (_, CellValNum::ONE) if datatype.is_datetime() || datatype.is_time() => {
            // Leave out the minimum, which represents NaT.
            new(Scalar::I64(i64::MIN + 1), Scalar::I64(i64::MAX - 1))
        }
        (_, CellValNum::ONE) if is_integer(datatype) => {
            let bits = 8 * physical.size() as u32;
            let (least, most) = (0, u64::MAX >> (64 - bits));
            let at = |key| Scalar::from_key(physical, key);
            if let Some((extent, scalar)) = seen.and_then(|(low, high)| extent(datatype, low, high)) {
                return Ok(Dimension::new(name, at(least)..=at(most - extent))
                    .with_datatype(datatype)
                    .with_tile(scalar));
            }
            // Without a tile extent, some readers cannot use the last value of the type, and cannot
            // use the first value of a signed type.
            let is_signed = at(least).to_integer() != Some(0);
            let is_there = seen.is_some_and(|(low, _)| Some(low) == at(least).to_integer());
            new(at(u64::from(is_signed && !is_there)), at(most - 1))
        }
        _ => Err(Error::NoDimension {
            column: name.to_owned(),
            reason: "it contains neither numbers, nor dates, nor text".to_owned(),
        }),
    }
}

/// Returns `true` if the type is an integer type. Datetime types are not.
pub(crate) fn is_integer(datatype: Datatype) -> bool {
    datatype.is_integer() && datatype != Datatype::Bool
}

/// Returns a tile extent, as a number and as a scalar. The extent divides the coordinates into
/// about a hundred tiles. Returns `None` if the last tile would exceed the type.
fn extent(datatype: Datatype, low: i128, high: i128) -> Option<(u64, Scalar)> {
    let physical = datatype.physical();
    let most = Scalar::from_key(physical, u64::MAX >> (64 - 8 * physical.size() as u32)).to_integer()?;
    let extent = u64::try_from((high - low) / 100 + 1).ok()?.min(1 << 40);
    let scalar = Scalar::from_le_bytes(physical, extent.to_le_bytes().get(..physical.size())?)?;
    (high <= most - i128::from(extent)).then_some((extent, scalar))
}
