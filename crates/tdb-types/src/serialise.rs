//! Serde implementations for types that are serialized as their `Display` text.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ArrayType, CellValNum, DataOrder, Datatype, Encryption, FormatVersion, Layout, TimestampedName};

macro_rules! as_text {
    ($($type:ident)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

as_text! { ArrayType CellValNum DataOrder Datatype Encryption FormatVersion Layout TimestampedName }

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{NameForm, Scalar};

    fn comes_back<T: Serialize + DeserializeOwned + Debug + PartialEq>(value: &T) -> String {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
        text
    }

    fn as_printed<T: Serialize + DeserializeOwned + Debug + PartialEq + Display>(value: &T) {
        assert_eq!(comes_back(value), format!("\"{value}\""));
    }

    #[test]
    fn names_and_numbers_serialize_as_printed() {
        Datatype::ALL.iter().for_each(as_printed);
        ArrayType::ALL.iter().for_each(as_printed);
        Layout::ALL.iter().for_each(as_printed);
        DataOrder::ALL.iter().for_each(as_printed);
        Encryption::ALL.iter().for_each(as_printed);
        FormatVersion::all().for_each(|version| as_printed(&version));
        [CellValNum::ONE, CellValNum::Var].iter().for_each(as_printed);
        as_printed(&TimestampedName::new(NameForm::Versioned(22), 1, 2, 3));
    }

    #[test]
    fn unknown_values_are_rejected() {
        for text in ["\"int33\"", "3", "null"] {
            assert!(serde_json::from_str::<Datatype>(text).is_err(), "{text}");
        }
        let error = serde_json::from_str::<Layout>("\"x\"").unwrap_err().to_string();
        assert!(error.contains("is not a valid layout; expected row-major"), "{error}");
        assert!(serde_json::from_str::<FormatVersion>("\"24\"").is_err());
        assert!(serde_json::from_str::<CellValNum>("\"0\"").is_err());
    }

    #[test]
    fn scalars_keep_their_type_and_value() {
        assert_eq!(comes_back(&Scalar::I32(-5)), r#"{"I32":-5}"#);
        for scalar in [Scalar::U64(u64::MAX), Scalar::I64(i64::MIN), Scalar::F64(0.1), Scalar::F32(f32::MIN_POSITIVE)] {
            comes_back(&scalar);
        }
        assert!(serde_json::from_str::<Scalar>(r#"{"I8":300}"#).is_err());
    }
}
