//! Conversion of elements to another form.

use crate::cells::Cells;
use crate::element::{Element, Form};
use crate::fill::half_to_single;

/// Conversion of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Convert {
    Nothing,
    /// Converts 16-bit floats to 32 bits.
    Half,
    /// Converts UTF-32 strings of this length to UTF-8, without trailing zeros.
    Utf32(usize),
}

impl Convert {
    pub(super) fn of(element: &Element) -> Self {
        match element.form {
            Form::Float(2) => Self::Half,
            Form::Utf32(chars) => Self::Utf32(chars),
            _ => Self::Nothing,
        }
    }

    /// Converts cells.
    ///
    /// # Errors
    /// Returns the reason.
    pub(super) fn cells(self, cells: Cells) -> Result<Cells, String> {
        match self {
            Self::Nothing => Ok(cells),
            Self::Half => Ok(Cells { values: single(&cells.values), offsets: None }),
            Self::Utf32(chars) => {
                let mut texts = Cells::new(true);
                for cell in cells.values.chunks(chars * 4) {
                    texts.push(&text(cell)?);
                }
                Ok(texts)
            }
        }
    }

    /// Converts a single cell.
    ///
    /// # Errors
    /// Returns the reason.
    pub(super) fn cell(self, cell: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Nothing => Ok(cell.to_vec()),
            Self::Half => Ok(single(cell)),
            Self::Utf32(_) => text(cell),
        }
    }
}

fn single(halves: &[u8]) -> Vec<u8> {
    let (halves, _) = halves.as_chunks::<2>();
    halves.iter().flat_map(|half| half_to_single(u16::from_le_bytes(*half)).to_le_bytes()).collect()
}

fn text(cell: &[u8]) -> Result<Vec<u8>, String> {
    let (chars, _) = cell.as_chunks::<4>();
    let end = chars.iter().rposition(|char| *char != [0; 4]).map_or(0, |last| last + 1);
    let char = |char: &[u8; 4]| char::from_u32(u32::from_le_bytes(*char));
    let text: Option<String> = chars[..end].iter().map(char).collect();
    text.map(String::into_bytes).ok_or_else(|| "a string is not valid UTF-32".to_owned())
}
