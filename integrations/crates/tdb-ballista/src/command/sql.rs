//! `tdb-ballista sql`: as `tdb sql`, and with `--scheduler` on a cluster.

use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use tdb_ballista::{Cluster, session};
