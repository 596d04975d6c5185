//! The reference library through its C interface: the only unsafe code of the workspace.
//!
//! What every call below relies on:
//!
//! * **Signatures.** `symbols` declares each function as the library's headers do; they have been the same in every
//!   release that has the function, unless `symbols` says otherwise.
//! * **Handles.** The library hands out opaque pointers. Each lives in a [`handle::Handle`], which frees it once, and
//!   belongs to the one [`context::Context`] of the job, which outlives it.
//! * **Borrowed memory.** Names, coordinates and options are copied by the library during the call they are passed to.
//!   The buffers of a query are not: they and their lengths are kept in [`buffers::FieldBuffer`]s, which
//!   are declared before the query, neither moved nor resized between the call that sets them and the end of the
//!   submission, and so outlive all use.
//! * **Returned memory.** What the library returns by pointer (error messages, metadata values) is copied before the
//!   next call.
//!
//! The library itself may still crash; that is why it runs in a process of its own (`super::worker`).
#![allow(unsafe_code)]

mod aggregate;
mod array;
mod buffers;
mod calls;
mod condition;
mod context;
mod coordinates;
mod evolution;
mod fragments;
mod group;
mod handle;
mod metadata;
mod read;
mod schema;
mod subarray;
mod symbols;
mod timing;
mod write;

pub(super) use context::Context;
pub(super) use symbols::Library;
