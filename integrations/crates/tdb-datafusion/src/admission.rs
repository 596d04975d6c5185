//! A limit of concurrent queries, so that each has enough memory.
//!
//! The operators of a query share the memory pool of the session with all other queries. Sorts fail
//! if their share is too small to merge what they have spilled. Further queries therefore wait, in
//! the order of their arrival, until a query ends.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties};
use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

/// Minimum memory of a partition if several queries run at the same time.
const OF_A_PARTITION: usize = 16 << 20;

/// Time after which a query stops waiting for a query whose reader no longer asks for rows. The
/// same program may wait for both.
const PATIENCE: Duration = Duration::from_secs(1);

/// The queries of a session that run at the same time.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Maximum number of queries.
    pub(crate) most: usize,
    free: Arc<Semaphore>,
    running: Mutex<Vec<Weak<Admitted>>>,
}

/// A running query.
#[derive(Debug)]
struct Admitted {
    /// `None` if the query runs in addition, because another query is idle.
    turn: Option<OwnedSemaphorePermit>,
    /// Time of the last row given to a reader. `None` while a reader waits for rows.
    idle_since: Mutex<Option<Instant>>,
}

impl Admission {
    pub(crate) fn new(memory: usize, partitions: usize) -> Self {
        let most = (memory / OF_A_PARTITION / partitions.max(1)).max(1);
        Self { most, free: Arc::new(Semaphore::new(most)), running: Mutex::default() }
    }

    /// Waits until the query may run.
    async fn admit(&self) -> Result<Arc<Admitted>> {
        if let Ok(turn) = self.free.clone().try_acquire_owned() {
            return Ok(self.start(Some(turn)));
        }
        let mut turn = Box::pin(self.free.clone().acquire_owned());
        let turn = loop {
            // A runtime without timers cannot sleep in another way.
            let pause = tokio::task::spawn_blocking(|| std::thread::sleep(PATIENCE / 4));
            match select(turn, pause).await {
                Either::Left((turn, pause)) => {
                    pause.abort();
                    break Some(turn.map_err(|closed| DataFusionError::External(Box::new(closed)))?);
                }
                Either::Right(_) if self.idle_exceed_extra() => break None,
                Either::Right((_, waiting)) => turn = waiting,
            }
        };
        Ok(self.start(turn))
    }

    /// Records a running query.
    fn start(&self, turn: Option<OwnedSemaphorePermit>) -> Arc<Admitted> {
        let admitted = Arc::new(Admitted { turn, idle_since: Mutex::new(None) });
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|other| other.strong_count() > 0);
        running.push(Arc::downgrade(&admitted));
        admitted
    }

    /// Returns `true` if more queries are idle than run without a turn. A query is idle if its
    /// reader has not asked for rows for some time.
    fn idle_exceed_extra(&self) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running: Vec<Arc<Admitted>> = running.iter().filter_map(Weak::upgrade).collect();
        let is_idle = |admitted: &&Arc<Admitted>| {
            let since = admitted.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
            since.is_some_and(|since| since.elapsed() >= PATIENCE)
        };
        let extra = running.iter().filter(|admitted| admitted.turn.is_none()).count();
        running.iter().filter(is_idle).count() > extra
    }
}

impl Admitted {
    fn set_idle(&self, since: Option<Instant>) {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

/// A complete plan that waits for its turn.
#[derive(Debug)]
pub(crate) struct AdmittedExec {
    admission: Arc<Admission>,
    input: Arc<dyn ExecutionPlan>,
    /// The current execution, shared by its partitions.
    current: Arc<AsyncMutex<Weak<Admitted>>>,
}

impl AdmittedExec {
    pub(crate) fn new(admission: Arc<Admission>, input: Arc<dyn ExecutionPlan>) -> Self {
        Self { admission, input, current: Arc::default() }
    }
}

/// Returns the admission of this execution of a plan.
async fn admitted(admission: &Admission, current: &AsyncMutex<Weak<Admitted>>) -> Result<Arc<Admitted>> {
    let mut current = current.lock().await;
    if let Some(admitted) = current.upgrade() {
        return Ok(admitted);
    }
    let admitted = admission.admit().await?;
    *current = Arc::downgrade(&admitted);
    Ok(admitted)
}

/// The rows of an admitted query.
struct AdmittedRows {
    admitted: Arc<Admitted>,
    rows: SendableRecordBatchStream,
}

impl Stream for AdmittedRows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.admitted.set_idle(None);
        let next = self.rows.poll_next_unpin(context);
        if next.is_ready() {
            self.admitted.set_idle(Some(Instant::now()));
        }
        next
    }
}

impl DisplayAs for AdmittedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AdmittedExec: queries={}", self.admission.most)
    }
}

#[async_trait]
impl ExecutionPlan for AdmittedExec {
    fn name(&self) -> &'static str {
        "AdmittedExec"
    }

    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        Some(&*self.input)
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().unwrap_or_else(|| self.input.clone());
        Ok(Arc::new(Self::new(self.admission.clone(), input)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (admission, input, current) = (self.admission.clone(), self.input.clone(), self.current.clone());
        let rows = async move {
            let admitted = admitted(&admission, &current).await?;
            // Some operators reserve memory as soon as they execute.
            Ok::<_, DataFusionError>(AdmittedRows { admitted, rows: input.execute(partition, context)? })
        };
        let rows = stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
