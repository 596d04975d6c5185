//! Bytes of scans that were damaged on their way, or that somebody made up.

use std::sync::Arc;

use tdb_ballista::PhysicalCodec;
use tdb_ballista::datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec as _};
use tdb_ballista::tdb_datafusion::Opener;
use tdb_ballista::tdb_datafusion::datafusion::arrow::array::BinaryArray;
use tdb_ballista::tdb_datafusion::datafusion::arrow::datatypes::{DataType, Field, Schema};
use tdb_ballista::tdb_datafusion::datafusion::arrow::record_batch::RecordBatch;
use tdb_ballista::tdb_datafusion::datafusion::datasource::memory::MemorySourceConfig;
use tdb_ballista::tdb_datafusion::datafusion::error::Result;
use tdb_ballista::tdb_datafusion::datafusion::execution::TaskContext;
use tdb_ballista::tdb_datafusion::datafusion::physical_plan::ExecutionPlan;
use tdb_ballista::tdb_datafusion::datafusion::prelude::SessionContext;
