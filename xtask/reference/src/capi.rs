//! Bindings of the reference library's C interface. This is the only unsafe code of the workspace.
//!
//! All calls rely on these rules:
//!
//! - **Signatures.** `symbols` declares each function like the library's headers. The declarations
//!   are the same in every release with the function, unless `symbols` notes an exception.
//! - **Handles.** The library returns opaque pointers. A [`handle::Handle`] owns a pointer and
//!   frees it once. A handle belongs to the job's only [`context::Context`]. The context outlives
//!   the handle.
//! - **Borrowed memory.** The library copies names, coordinates and options during the call, but
//!   not the buffers of a query. [`buffers::FieldBuffer`]s own the buffers and lengths. They are
//!   declared before the query and outlive it. They are neither moved nor resized between the call
//!   that sets them and the end of the submission.
//! - **Returned memory.** Error messages and metadata values, which the library returns by pointer,
//!   are copied before the next call.
//!
//! The library itself may still crash, and therefore runs in a separate process (`super::worker`).
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
