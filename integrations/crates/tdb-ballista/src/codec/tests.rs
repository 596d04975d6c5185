use ballista_scheduler::state::task_builder::restrict_plan_to_partitions;
use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::physical_plan::{ExecutionPlanProperties as _, collect_partitioned};
use datafusion::prelude::SessionContext;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use tdb_datafusion::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, WriteBatch};
use tdb_datafusion::{SessionOptions, TableOptions};

use super::*;
use crate::divide::{divided, reads};

/// Number of cells in the array.
const CELLS: i64 = 1000;

fn array() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let dimension = Dimension::new("x", 0i64..=1 << 40);
    let schema =
        SchemaBuilder::sparse().dimension(dimension).capacity(20).attribute(Attribute::new("a", Datatype::Int64));
    Array::create(&path, schema.build().unwrap()).unwrap();
    let x: Vec<i64> = (0..CELLS).collect();
    Array::open(&path).unwrap().write().cells(WriteBatch::new().with("x", &x).with("a", &x)).unwrap();
    folder
}

/// Plans a scan of the array in five partitions, like a client.
async fn plan(folder: &tempfile::TempDir, statement: &str) -> (SessionContext, Arc<dyn ExecutionPlan>) {
    let options = SessionOptions::new(Opener::local()).table(TableOptions::new().partitions(5)).partitions(5);
    let session = tdb_datafusion::session(options).unwrap();
    let statement = statement.replace("AT", folder.path().join("array").to_str().unwrap());
    let plan = session.sql(&statement).await.unwrap().create_physical_plan().await.unwrap();
    assert!(reads(&plan).unwrap());
    (session, divided(plan).unwrap())
}

fn sent(plan: Arc<dyn ExecutionPlan>, session: &SessionContext, to: &PhysicalCodec) -> Arc<dyn ExecutionPlan> {
    let bytes = physical_plan_to_bytes_with_extension_codec(plan, &PhysicalCodec::of_plans()).unwrap();
    physical_plan_from_bytes_with_extension_codec(&bytes, &session.task_ctx(), to).unwrap()
}

/// Sends a plan from client to scheduler, and in parts to executors.
#[tokio::test]
async fn plans_divide_like_in_the_scheduler() {
    let folder = array();
    let (session, plan) = plan(&folder, "SELECT a FROM 'AT' WHERE a <> 7").await;
    let scheduled = sent(plan, &session, &PhysicalCodec::of_plans());
    assert_eq!(scheduled.output_partitioning().partition_count(), 5);
    let executor = PhysicalCodec::of_executors(Opener::local());
    let mut all: Vec<i64> = Vec::new();
    for partitions in [&[0][..], &[3, 1], &[4, 2]] {
        let cut = restrict_plan_to_partitions(scheduled.clone(), partitions).unwrap();
        let task = sent(cut, &session, &executor);
        assert_eq!(task.output_partitioning().partition_count(), partitions.len());
        for batches in collect_partitioned(task, session.task_ctx()).await.unwrap() {
            let before = all.len();
            batches.iter().for_each(|batch| all.extend(batch.column(0).as_primitive::<Int64Type>().values()));
            assert!(all.len() > before, "a partition is empty");
        }
    }
    all.sort_unstable();
    assert_eq!(all, (0..CELLS).filter(|cell| *cell != 7).collect::<Vec<_>>());
}

#[tokio::test]
async fn unions_divide_between_inputs() {
    let folder = array();
    let (session, plan) = plan(&folder, "SELECT a FROM 'AT' UNION ALL SELECT -1 UNION ALL SELECT x FROM 'AT'").await;
    let scheduled = sent(plan, &session, &PhysicalCodec::of_plans());
    let executor = PhysicalCodec::of_executors(Opener::local());
    let all: Vec<usize> = (0..scheduled.output_partitioning().partition_count()).collect();
    for of_task in [1, 2, 3, all.len()] {
        let mut rows = 0;
        for partitions in all.chunks(of_task) {
            let cut = restrict_plan_to_partitions(scheduled.clone(), partitions).unwrap();
            let task = sent(cut, &session, &executor);
            assert_eq!(task.output_partitioning().partition_count(), partitions.len());
            let batches = datafusion::physical_plan::collect(task, session.task_ctx()).await.unwrap();
            rows += batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        }
        assert_eq!(rows, 2 * CELLS as usize + 1, "{of_task} partitions in each task");
    }
}

#[tokio::test]
async fn orders_are_kept() {
    let folder = array();
    let (session, plan) = plan(&folder, "SELECT x FROM 'AT' ORDER BY x").await;
    let text = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
    assert!(text.contains("ScanPartsExec") && !text.contains("SortExec"), "{text}");
    let task =
        sent(sent(plan, &session, &PhysicalCodec::of_plans()), &session, &PhysicalCodec::of_executors(Opener::local()));
    let batches = datafusion::physical_plan::collect(task, session.task_ctx()).await.unwrap();
    let x: Vec<i64> =
        batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).collect();
    assert_eq!(x, (0..CELLS).collect::<Vec<_>>());
}

#[tokio::test]
async fn only_executors_read_arrays() {
    let folder = array();
    let (session, plan) = plan(&folder, "SELECT x FROM 'AT'").await;
    let error = datafusion::physical_plan::collect(plan, session.task_ctx()).await.unwrap_err();
    assert!(error.to_string().contains("executors"), "{error}");
    // A scan that was not divided cannot be serialized.
    let options = SessionOptions::new(Opener::local());
    let session = tdb_datafusion::session(options).unwrap();
    let frame = session.sql(&format!("SELECT x FROM '{}'", folder.path().join("array").display())).await.unwrap();
    let whole = frame.create_physical_plan().await.unwrap();
    assert!(physical_plan_to_bytes_with_extension_codec(whole, &PhysicalCodec::of_plans()).is_err());
}

/// A missing or replaced array is an error that schedulers retry.
#[tokio::test]
async fn missing_arrays_are_errors() {
    let folder = array();
    let (session, plan) = plan(&folder, "SELECT x FROM 'AT'").await;
    let task = sent(plan, &session, &PhysicalCodec::of_executors(Opener::local()));
    std::fs::rename(folder.path().join("array"), folder.path().join("elsewhere")).unwrap();
    let error = datafusion::physical_plan::collect(task.clone(), session.task_ctx()).await.unwrap_err();
    assert!(matches!(error, DataFusionError::IoError(_)), "{error:?}");
    let other = array();
    std::fs::rename(other.path().join("array"), folder.path().join("array")).unwrap();
    let error = datafusion::physical_plan::collect(task, session.task_ctx()).await.unwrap_err();
    assert!(error.to_string().contains("no longer exists"), "{error}");
}
