//! Tests of the public interface of `tdb-exchange`, in one program.

mod fuzz_replay;
