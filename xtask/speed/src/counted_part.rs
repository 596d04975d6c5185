//! The counted part of a path.

use std::hint::black_box;

/// Runs the counted work. Callgrind finds this function by name, and counts while it is on the
/// stack.
#[inline(never)]
pub fn counted_part<T>(work: &mut dyn FnMut() -> T) -> T {
    let outcome = work();
    // Work after the call, to prevent a tail call.
    black_box(outcome)
}
