//! Optional settings of builders.

/// Calls a setter of a builder, if a value is given.
pub(crate) fn with<B, V>(builder: B, value: Option<V>, set: impl FnOnce(B, V) -> B) -> B {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}
