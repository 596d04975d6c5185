//! The small enumerations of the format, each with its one-byte code.

use std::fmt;
use std::num::NonZeroU32;

use crate::{ByteReader, ByteWriter, DecodeError, Result};

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident, $expected:literal { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// All values, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The value with this code.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// The code in files.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// The name as people write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Reads a code.
            ///
            /// # Errors
            /// Truncated, or a code that the format doesn't have.
            pub fn read(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Self> {
                reader.code(field, $expected, Self::from_code)
            }

            /// Writes the code.
            pub fn write(self, writer: &mut ByteWriter) {
                writer.u8(self.code());
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

codes! {
    /// Whether cells exist everywhere in the domain or only where they were written.
    ArrayType, "0 (dense) or 1 (sparse)" {
        /// Every cell of the domain has a value.
        Dense = 0, "dense";
        /// Only written coordinates have cells.
        Sparse = 1, "sparse";
    }
}

codes! {
    /// An order of cells or tiles.
    #[non_exhaustive]
    Layout, "a layout code from 0 to 4" {
        /// The last dimension varies fastest.
        RowMajor = 0, "row-major";
        /// The first dimension varies fastest.
        ColMajor = 1, "col-major";
        /// Tiles in tile order, cells within a tile in cell order.
        GlobalOrder = 2, "global";
        /// Any order.
        Unordered = 3, "unordered";
        /// Along the Hilbert curve through the domain (sparse arrays).
        Hilbert = 4, "hilbert";
    }
}

codes! {
    /// The order that the values of an attribute or dimension label are promised to have.
    DataOrder, "0 (unordered), 1 (increasing) or 2 (decreasing)" {
        /// No promise.
        Unordered = 0, "unordered";
        /// Values never fall.
        Increasing = 1, "increasing";
        /// Values never rise.
        Decreasing = 2, "decreasing";
    }
}

codes! {
    /// How the tiles of an array are encrypted.
    Encryption, "0 (none) or 1 (AES-256-GCM)" {
        /// Not at all.
        None = 0, "none";
        /// With AES-256 in Galois/counter mode.
        Aes256Gcm = 1, "aes-256-gcm";
    }
}

/// How many values of its datatype one cell of a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellValNum {
    /// The same number in every cell.
    Fixed(NonZeroU32),
    /// Each cell has its own number.
    Var,
}

impl CellValNum {
    /// One value per cell.
    pub const ONE: Self = Self::Fixed(NonZeroU32::MIN);
    /// How files say "variable".
    pub const VAR_CODE: u32 = u32::MAX;

    /// From the number in files; 0 means nothing.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        if code == Self::VAR_CODE { Some(Self::Var) } else { NonZeroU32::new(code).map(Self::Fixed) }
    }

    /// The number in files.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::Fixed(number) => number.get(),
            Self::Var => Self::VAR_CODE,
        }
    }

    /// Whether cells differ in length.
    #[must_use]
    pub fn is_var(self) -> bool {
        self == Self::Var
    }

    /// The number of values, unless it varies.
    #[must_use]
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Fixed(number) => Some(number.get()),
            Self::Var => None,
        }
    }

    /// Reads the number.
    ///
    /// # Errors
    /// Truncated, or 0.
    pub fn read(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Self> {
        let offset = reader.offset();
        let code = reader.u32(field)?;
        if code == Self::VAR_CODE {
            reader.explain(|| "variable".to_owned());
        }
        Self::from_code(code).ok_or_else(|| {
            DecodeError::invalid(field, offset, code, "at least 1 value per cell, or 4294967295 for variable")
        })
    }

    /// Writes the number.
    pub fn write(self, writer: &mut ByteWriter) {
        writer.u32(self.code());
    }
}

impl fmt::Display for CellValNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(number) => number.fmt(f),
            Self::Var => f.pad("var"),
        }
    }
}
