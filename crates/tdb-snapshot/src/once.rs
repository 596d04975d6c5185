//! Values loaded on first use.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock};

/// Returns the value of `cell`, loaded on first use. Two threads may both load the value. The first
/// value stays.
///
/// # Errors
/// An error of `load`. The next call loads again.
pub fn try_init<T, E>(cell: &OnceLock<T>, load: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    match cell.get() {
        Some(value) => Ok(value),
        None => load().map(|value| cell.get_or_init(|| value)),
    }
}

/// Returns the value of a key, loaded on first use. No lock is held while loading. Two threads may
/// both load the value, and the last value stays.
pub(crate) fn try_insert<K, Q, V, E>(
    cache: &Mutex<HashMap<K, V>>,
    key: &Q,
    load: impl FnOnce() -> Result<V, E>,
) -> Result<V, E>
where
    K: Hash + Eq + Borrow<Q>,
    Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    V: Clone,
{
    if let Ok(known) = cache.lock()
        && let Some(value) = known.get(key)
    {
        return Ok(value.clone());
    }
    let value = load()?;
    if let Ok(mut known) = cache.lock() {
        known.insert(key.to_owned(), value.clone());
    }
    Ok(value)
}
