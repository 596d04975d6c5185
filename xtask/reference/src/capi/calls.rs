//! Calls of functions that take the context first.

/// Calls a function that takes the context first and returns a status.
macro_rules! call {
    ($context:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let context: &$crate::capi::context::Context = $context;
        match context.library().symbols.$name {
            // SAFETY: the arguments have the types of the declaration; what they point to is as `super` says.
            Some(function) => context.check(unsafe { function(context.pointer(), $($argument),*) }),
            None => Err(context.library().missing(stringify!($name))),
        }
    }};
}

/// Calls a function that takes the context first and stores a new object last.
macro_rules! allocate {
    ($context:expr, $free:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        let mut pointer = std::ptr::null_mut();
        call!($context, $name($($argument,)* &mut pointer)).and_then(|()| {
            $crate::capi::handle::Handle::new(pointer, $context.library().symbols.$free)
        })
    }};
}

/// The same for objects that are freed in the context.
macro_rules! allocate_in_context {
    ($context:expr, $free:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        let mut pointer = std::ptr::null_mut();
        call!($context, $name($($argument,)* &mut pointer)).and_then(|()| {
            let free = $context.library().symbols.$free;
            $crate::capi::handle::Handle::in_context(pointer, free, $context.pointer())
        })
    }};
}

pub(super) use {allocate, allocate_in_context, call};
