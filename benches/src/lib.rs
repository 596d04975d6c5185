//! Criterion benchmarks of the workspace, in the folder `benches`.
