//! Serializes enums of the format by name.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use tdb_types::{ArrayType, DataOrder, Datatype, Layout};

/// An enum whose values have names.
pub(super) trait Named: Copy + 'static {
    const ALL: &'static [Self];
    fn name(self) -> &'static str;
}

macro_rules! named {
    ($($name:ident),*) => { $(
        impl Named for $name {
            const ALL: &'static [Self] = $name::ALL;
            fn name(self) -> &'static str { $name::name(self) }
        }
    )* };
}

named!(ArrayType, DataOrder, Datatype, Layout);

pub(super) fn serialize<T: Named, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value.name())
}

pub(super) fn deserialize<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    from_name(&name).ok_or_else(|| D::Error::custom(format!("unknown name {name:?}")))
}

fn from_name<T: Named>(name: &str) -> Option<T> {
    T::ALL.iter().copied().find(|value| value.name() == name)
}

/// Serializes optional values by name.
pub(super) mod optional {
    use super::{Deserialize, Deserializer, Error, Named, Serializer, from_name};

    pub(in crate::model) fn serialize<T: Named, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(value.name()),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::model) fn deserialize<'de, T: Named, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        Option::<String>::deserialize(deserializer)?
            .map(|name| from_name(&name).ok_or_else(|| D::Error::custom(format!("unknown name {name:?}"))))
            .transpose()
    }
}
