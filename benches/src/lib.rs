//! Criterion benches of the workspace; see the folder `benches`.
