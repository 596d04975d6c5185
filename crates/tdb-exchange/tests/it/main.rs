//! Tests of the public interface of `tdb-exchange`, one program.

mod fuzz_replay;
