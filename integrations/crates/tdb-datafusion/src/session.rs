//! DataFusion sessions that query arrays.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::catalog::UrlTableFactory;
use datafusion::datasource::dynamic_file::DynamicListTableFactory;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_session::SessionStore;

use crate::admission::Admission;
use crate::array_planner::ArrayPlanner;
use crate::catalog::{FreshCatalogs, UrlTables};
use crate::create::{ArrayFactory, ArrayFormatFactory};
use crate::files::ExactFiles;
use crate::info::{InfoFunction, TABLES};
use crate::rules::analyzer_rules;
use crate::statement::PlainRelations;
use crate::{Opener, TableOptions};

/// Name of the format in `STORED AS`.
const STORED_AS: &str = "TILEDB";

/// Options of a [`session`].
#[derive(Clone, Debug)]
#[must_use = "options have no effect until a session is created from them"]
pub struct SessionOptions {
    opener: Opener,
    table: TableOptions,
    memory: Option<usize>,
    temporary: Option<PathBuf>,
    partitions: Option<usize>,
    files: bool,
    config: SessionConfig,
}

impl SessionOptions {
    /// Creates options with unlimited memory, and one partition per CPU thread.
    pub fn new(opener: Opener) -> Self {
        let mut config = SessionConfig::new().with_information_schema(true);
        // Hash joins on small integers use an array as lookup table, and do not support
        // dictionaries of numbers (DataFusion 55.2).
        config.options_mut().execution.perfect_hash_join_small_build_threshold = 0;
        config.options_mut().execution.perfect_hash_join_min_key_density = f64::INFINITY;
        // Report overflows as errors.
        config.options_mut().execution.enable_ansi_mode = true;
        Self {
            opener,
            table: TableOptions::new(),
            memory: None,
            temporary: None,
            partitions: None,
            files: true,
            config,
        }
    }

    /// Sets the default options of tables. Statements can override them.
    pub fn table(mut self, options: TableOptions) -> Self {
        self.table = options;
        self
    }

    /// Limits the memory of all queries in bytes. Sorts, aggregations and sort-merge joins spill to
    /// temporary files. Queries that cannot spill enough fail. If each partition of the concurrent
    /// queries would have less than 16 MiB, further queries wait for their turn.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Sets the folder for temporary files. The default is that of the system.
    pub fn temporary(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = Some(folder.into());
        self
    }

    /// Sets the number of partitions of a query, each of which runs on a thread.
    pub fn partitions(mut self, count: usize) -> Self {
        self.partitions = Some(count.max(1));
        self
    }

    /// Sets whether queries can read files of other formats (Parquet, CSV, JSON) by path. The
    /// default is `true`.
    pub fn files(mut self, files: bool) -> Self {
        self.files = files;
        self
    }

    /// Changes the DataFusion configuration.
    pub fn config(mut self, change: impl FnOnce(SessionConfig) -> SessionConfig) -> Self {
        self.config = change(self.config);
        self
    }
}

/// Creates a session that queries arrays by URI: `SELECT * FROM 'path/to/array'`.
///
/// # Errors
/// The temporary folder is not usable.
pub fn session(options: SessionOptions) -> Result<SessionContext> {
    session_with(options, |builder| builder)
}

/// Creates a session like [`session`]. `change` can modify the session state before it is built,
/// for example to set another planner or to add functions.
///
/// # Errors
/// The temporary folder is not usable.
pub fn session_with(
    options: SessionOptions,
    change: impl FnOnce(SessionStateBuilder) -> SessionStateBuilder,
) -> Result<SessionContext> {
    let SessionOptions { opener, table, memory, temporary, partitions, files, mut config } = options;
    let opener = opener.remembering();
    if let Some(partitions) = partitions {
        config = config.with_target_partitions(partitions);
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = memory {
        let admission = Admission::new(memory, config.target_partitions());
        // The memory that sorts reserve for merging spilled files has to fit as well.
        let each = memory / (4 * config.target_partitions().max(1)) / admission.most;
        let execution = &mut config.options_mut().execution;
        execution.sort_spill_reservation_bytes = execution.sort_spill_reservation_bytes.min(each);
        config = config.with_extension(Arc::new(admission));
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    if let Some(folder) = temporary {
        runtime = runtime.with_temp_file_path(folder);
    }
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime.build_arc()?)
        .with_default_features()
        .with_analyzer_rules(analyzer_rules())
        .with_relation_planners(vec![Arc::new(PlainRelations)])
        .with_query_planner(Arc::new(ArrayPlanner));
    let mut state = change(builder).build();
    let arrays = ArrayFactory { opener: opener.clone(), options: table.clone() };
    let factories = state.table_factories_mut();
    factories.values_mut().for_each(|factory| *factory = Arc::new(ExactFiles(factory.clone())));
    factories.insert(STORED_AS.to_owned(), Arc::new(arrays));
    let listed = Arc::new(DynamicListTableFactory::new(SessionStore::new()));
    let others = files.then(|| listed.clone() as Arc<dyn UrlTableFactory>);
    state.register_file_format(Arc::new(ArrayFormatFactory { opener: opener.clone() }), true)?;
    for info in &TABLES {
        let function = InfoFunction { info, opener: opener.clone() };
        state.register_udtf(info.name, Arc::new(function));
    }
    let urls = Arc::new(UrlTables::new(opener, table, others));
    let catalogs = Arc::new(FreshCatalogs::new(state.catalog_list().clone(), urls));
    state.register_catalog_list(catalogs);
    let context = SessionContext::new_with_state(state);
    listed.session_store().with_state(context.state_weak_ref());
    Ok(context)
}
