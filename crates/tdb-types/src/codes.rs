//! Coded values of the format: enumerations with one-byte codes, and the number of values per cell.

use std::fmt;
use std::num::NonZeroU32;

use crate::{ByteReader, ByteWriter, DecodeError, Result};

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident, $expected:literal { $($(#[$vmeta:meta])* $variant:ident = $code:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// All values, in ascending order of code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the value with this code, or `None` if the code is unknown.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }

            /// Returns the code stored in files.
            #[must_use]
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns the name for display and parsing.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Reads a code.
            ///
            /// # Errors
            /// Fails if the byte is missing or the code is unknown.
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
    /// The type of an array: dense or sparse.
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
        /// Along the Hilbert curve through the domain (sparse arrays only).
        Hilbert = 4, "hilbert";
    }
}

codes! {
    /// The guaranteed order of the values of an attribute or dimension label.
    DataOrder, "0 (unordered), 1 (increasing) or 2 (decreasing)" {
        /// No guarantee.
        Unordered = 0, "unordered";
        /// Values never decrease.
        Increasing = 1, "increasing";
        /// Values never increase.
        Decreasing = 2, "decreasing";
    }
}

codes! {
    /// The encryption algorithm of an array's tiles.
    Encryption, "0 (none) or 1 (AES-256-GCM)" {
        /// No encryption.
        None = 0, "none";
        /// AES-256 in Galois/counter mode.
        Aes256Gcm = 1, "aes-256-gcm";
    }
}

/// The number of values per cell of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellValNum {
    /// The same number in every cell.
    Fixed(NonZeroU32),
    /// A variable number, stored per cell.
    Var,
}

impl CellValNum {
    /// One value per cell.
    pub const ONE: Self = Self::Fixed(NonZeroU32::MIN);
    /// The code for a variable number of values.
    pub const VAR_CODE: u32 = u32::MAX;

    /// Decodes the stored number. Returns `None` for 0.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        if code == Self::VAR_CODE { Some(Self::Var) } else { NonZeroU32::new(code).map(Self::Fixed) }
    }

    /// Returns the number stored in files.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::Fixed(number) => number.get(),
            Self::Var => Self::VAR_CODE,
        }
    }

    /// Returns `true` if cells have variable length.
    #[must_use]
    pub fn is_var(self) -> bool {
        self == Self::Var
    }

    /// Returns the number of values, or `None` if it varies.
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
    /// Fails if the bytes are truncated or the number is 0.
    pub fn read(reader: &mut ByteReader<'_>, field: &'static str) -> Result<Self> {
        let offset = reader.offset();
        let code = reader.u32(field)?;
        if code == Self::VAR_CODE {
            reader.explain(|| "variable".to_owned());
        }
        Self::from_code(code).ok_or_else(|| {
            DecodeError::invalid(field, offset, code, "1 or more values per cell, or 4294967295 for variable size")
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
