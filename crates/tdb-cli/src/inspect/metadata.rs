//! The metadata of an array or a group: keys and values.
//!
//! ```text
//! until the payload ends: u32 length | key | u8 deleted | not deleted: u8 datatype | u32 value count | values
//! ```

use tdb_types::{ByteReader, CellValNum, Datatype, DecodeError};

use crate::cells::Kind;

/// Reads the whole payload.
pub(super) fn parse(reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
    let mut index = 0;
    while reader.remaining() > 0 {
        reader.group(|| format!("entry {index}"), entry)?;
        index += 1;
    }
    Ok(())
}

fn entry(reader: &mut ByteReader<'_>) -> Result<(), DecodeError> {
    reader.string_u32("key")?;
    if reader.bool("deleted")? {
        return Ok(());
    }
    let datatype = Datatype::read(reader, "datatype")?;
    let count = reader.u32("value count")?;
    let bytes = reader.bytes("values", u64::from(count).saturating_mul(datatype.size() as u64))?;
    reader.explain(|| {
        let number = if count == 1 { CellValNum::ONE } else { CellValNum::Var };
        shorten(&Kind::of(datatype, number, false).text(bytes))
    });
    Ok(())
}

/// The beginning of a long value.
fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
