//! Macros that call functions with the context as first argument.

/// Calls a function that takes the context first and returns a status.
macro_rules! call {
    ($context:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let context: &$crate::capi::context::Context = $context;
        match context.library().symbols.$name {
            // SAFETY: the arguments have the declared types. Pointers are valid according to the
            // rules in `super`.
            Some(function) => context.check(unsafe { function(context.pointer(), $($argument),*) }),
            None => Err(context.library().missing(stringify!($name))),
        }
    }};
}

/// Calls a function that takes the context first and stores a new object in the last argument.
macro_rules! allocate {
    ($context:expr, $free:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        let mut pointer = std::ptr::null_mut();
        call!($context, $name($($argument,)* &mut pointer)).and_then(|()| {
            $crate::capi::handle::Handle::new(pointer, $context.library().symbols.$free)
        })
    }};
}

/// Like `allocate!`, for objects whose free function takes the context.
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
