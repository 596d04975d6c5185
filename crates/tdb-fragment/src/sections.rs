//! The payloads of sections, one module per kind.

mod conditions;
mod global_order;
mod offsets;
mod reader;
mod statistics;
mod values;

pub use conditions::ProcessedConditions;
pub use global_order::GlobalOrderBounds;
pub use offsets::{TileOffsets, TileVarSizes};
pub use reader::SectionReader;
pub(crate) use reader::{SectionParser, parse_section};
pub use statistics::{
    FieldTotals, FragmentStatistics, Statistic, StatisticsRules, Sum, TileStatistics, UntrustedReason, ValueStatistics,
};
pub use values::TileValues;

use tdb_types::{ByteReader, ByteWriter, DecodeError, Result, saturating_len};

/// Parses a `u64` count and as many `u64` values. The list has a value per tile, or is empty.
///
/// If `surplus` is `true`, the list may have extra values, which this function discards.
pub(crate) fn per_tile(
    reader: &mut ByteReader<'_>,
    field: &'static str,
    tiles: u64,
    surplus: bool,
) -> Result<Vec<u64>> {
    let offset = reader.offset();
    let count = reader.u64("count")?;
    if count != 0 && count != tiles && !(surplus && count > tiles) {
        let error = DecodeError::invalid("count", offset, count, "one entry per tile of the fragment, or none");
        return Err(error.inside(format!("{field} ({tiles} tiles)")));
    }
    let mut values = reader.u64_list(field, count)?;
    values.truncate(saturating_len(tiles));
    Ok(values)
}

/// Writes a `u64` count and the values.
pub(crate) fn write_counted(values: &[u64], writer: &mut ByteWriter) {
    writer.u64(values.len() as u64);
    writer.u64_list(values);
}
