//! Bindings of the reference library's C interface. This is the only unsafe code of the workspace.
//!
//! All calls rely on these rules:
//!
//! - **Signatures.** `symbols` declares each function like the library's headers. The declarations
//!   are the same in every release with the function, unless `symbols` notes an exception.
//! - **Handles.** The library returns opaque pointers. Each is owned by a [`handle::Handle`], which
//!   frees it once. A handle belongs to the job's only [`context::Context`], which outlives the
//!   handle.
//! - **Borrowed memory.** The library copies names, coordinates and options during the call. It
//!   does not copy the buffers of a query. [`buffers::FieldBuffer`]s own these buffers and their
//!   lengths. They are declared before the query, so that they outlive it. They are neither moved
//!   nor resized between the call that sets them and the end of the submission.
//! - **Returned memory.** Memory that the library returns by pointer (error messages, metadata
//!   values) is copied before the next call.
//!
//! The library itself may still crash, so it runs in a separate process (`super::worker`).
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
