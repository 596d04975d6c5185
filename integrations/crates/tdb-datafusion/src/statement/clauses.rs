//! Rejection of clauses that DataFusion's planner ignores, because the query would return other
//! rows than requested.
//!
//! Patterns name every field. Therefore, a field that a new parser version adds causes a compile
//! error here.

use std::ops::ControlFlow;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    self, ColumnDef, ColumnOption, ConnectByKind, CreateView, Cte, DuplicateTreatment, Expr, ForClause, Function,
    FunctionArg, FunctionArgumentList, FunctionArguments, GroupByExpr, GroupByWithModifier, Join, LimitClause,
    LockType, ObjectType, OrderBy, OrderByKind, PipeOperator, Query, Select, SelectFlavor, SelectItem, SelectModifiers,
    SetExpr, SetOperator, TableAlias, TableConstraint, TableFactor, TableFunctionArgs, TableWithJoins, Visit, Visitor,
    WildcardAdditionalOptions, With,
};

/// Rejects a statement with an ignored clause.
pub(super) fn check(statement: &Statement, state: &SessionState) -> Result<()> {
    let kind = |name: &str| {
        let is_scalar =
            state.scalar_functions().contains_key(name) || state.higher_order_functions().contains_key(name);
        Kind::of(name, is_scalar, state.aggregate_functions().contains_key(name))
    };
    refused(of_statement(statement, &mut Clauses { kind: &kind }))
}

/// Rejects ignored clauses in the tables of statements that bypass [`check`].
#[derive(Debug)]
pub(crate) struct PlainRelations;

impl RelationPlanner for PlainRelations {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let provider = context.context_provider();
        let kind = |name: &str| {
            let is_scalar =
                provider.get_function_meta(name).is_some() || provider.get_higher_order_meta(name).is_some();
            Kind::of(name, is_scalar, provider.get_aggregate_meta(name).is_some())
        };
        refused(relation.visit(&mut Clauses { kind: &kind }))?;
        Ok(RelationPlanning::Original(Box::new(relation)))
    }
}

/// A clause, and advice for the user.
type Found = ControlFlow<(String, &'static str)>;

fn refused(found: Found) -> Result<()> {
    match found {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break((clause, advice)) => {
            Err(DataFusionError::NotImplemented(format!("{clause} is not supported; {advice}")))
        }
    }
}

const LEAVE_OUT: &str = "leave it out";

/// Rejects a clause if it is present.
fn no(is_there: bool, clause: &str) -> Found {
    no_but(is_there, clause, LEAVE_OUT)
}

fn no_but(is_there: bool, clause: &str, advice: &'static str) -> Found {
    if is_there { ControlFlow::Break((clause.to_owned(), advice)) } else { ControlFlow::Continue(()) }
}

fn of_statement(statement: &Statement, clauses: &mut Clauses<'_>) -> Found {
    match statement {
        Statement::Statement(statement) => statement.visit(clauses),
        Statement::Explain(explain) => of_statement(&explain.statement, clauses),
        Statement::CopyTo(copy) => match &copy.source {
            CopyToSource::Query(query) => query.visit(clauses),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        Statement::CreateExternalTable(table) => of_columns(&table.columns, &table.constraints),
        Statement::Reset(_) => ControlFlow::Continue(()),
    }
}

/// Kind of a function name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Aggregate,
    /// A pure window function, or unknown.
    Window,
}

impl Kind {
    fn of(name: &str, is_scalar: bool, is_aggregate: bool) -> Self {
        match (is_scalar || matches!(name, "unnest" | "unnest_outer"), is_aggregate) {
            (true, _) => Self::Scalar,
            (false, true) => Self::Aggregate,
            (false, false) => Self::Window,
        }
    }
}

struct Clauses<'a> {
    kind: &'a dyn Fn(&str) -> Kind,
}

impl Visitor for Clauses<'_> {
    type Break = (String, &'static str);

    fn pre_visit_statement(&mut self, statement: &ast::Statement) -> Found {
        match statement {
            // The planner checks every field of INSERT, UPDATE, DELETE, MERGE and CREATE TABLE.
            ast::Statement::CreateTable(table) => of_columns(&table.columns, &table.constraints),
            ast::Statement::CreateView(view) => of_view(view),
            ast::Statement::Drop {
                object_type,
                if_exists: _,
                names: _,
                cascade,
                restrict: _,
                purge,
                temporary,
                table,
            } => {
                no(*cascade && *object_type != ObjectType::Schema, "CASCADE")?;
                no(*purge, "PURGE")?;
                no(*temporary, "TEMPORARY")?;
                no(table.is_some(), "DROP … ON")
            }
            ast::Statement::CreateSchema {
                schema_name: _,
                if_not_exists: _,
                with,
                options,
                default_collate_spec,
                clone,
            } => {
                no(with.is_some(), "CREATE SCHEMA … WITH")?;
                no(options.is_some(), "CREATE SCHEMA … OPTIONS")?;
                no(default_collate_spec.is_some(), "DEFAULT COLLATE")?;
                no(clone.is_some(), "CLONE")
            }
            ast::Statement::CreateDatabase { db_name, if_not_exists, .. } => {
                // The statement has two dozen options, all of them ignored.
                let plain = format!("CREATE DATABASE {}{db_name}", if *if_not_exists { "IF NOT EXISTS " } else { "" });
                no(statement.to_string() != plain, "options of CREATE DATABASE")
            }
            ast::Statement::ExplainTable { describe_alias: _, hive_format, has_table_keyword: _, table_name: _ } => {
                no(hive_format.is_some(), "DESCRIBE EXTENDED or FORMATTED")
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> Found {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch: _,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        let has_limit_by =
            matches!(limit_clause, Some(LimitClause::LimitOffset { limit_by, .. }) if !limit_by.is_empty());
        no(has_limit_by, "LIMIT BY")?;
        for lock in locks {
            let clause = match lock.lock_type {
                LockType::Share => "FOR SHARE",
                LockType::Update => "FOR UPDATE",
            };
            no(true, clause)?;
        }
        match for_clause {
            None => {}
            Some(ForClause::Browse) => no(true, "FOR BROWSE")?,
            Some(ForClause::Json { .. }) => no(true, "FOR JSON")?,
            Some(ForClause::Xml { .. }) => no(true, "FOR XML")?,
        }
        no(settings.is_some(), "SETTINGS")?;
        no_but(format_clause.is_some(), "FORMAT", "leave it out; use `--format` of `tdb sql` for the output format")?;
        if let Some(OrderBy { kind, interpolate: _ }) = order_by {
            let is_all = matches!(kind, OrderByKind::All(_)) && !matches!(**body, SetExpr::Select(_));
            no_but(is_all, "ORDER BY ALL of several queries", "name the columns")?;
        }
        if let Some(With { with_token: _, recursive, cte_tables }) = with {
            cte_tables.iter().try_for_each(|table| of_cte(table, *recursive))?;
        }
        pipe_operators.iter().try_for_each(of_pipe)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Found {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct: _,
            select_modifiers,
            top: _,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views: _,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by: _,
            distribute_by: _,
            sort_by: _,
            having: _,
            named_window: _,
            qualify: _,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        no(!optimizer_hints.is_empty(), "an optimizer hint")?;
        if let Some(modifiers) = select_modifiers {
            of_modifiers(modifiers)?;
        }
        projection.iter().try_for_each(of_item)?;
        no_but(exclude.is_some(), "EXCLUDE behind the columns", "write SELECT * EXCLUDE (…)")?;
        no_but(into.is_some(), "SELECT … INTO", "write CREATE TABLE … AS SELECT …")?;
        of_tables(from)?;
        no_but(prewhere.is_some(), "PREWHERE", "write WHERE")?;
        match connect_by.first() {
            None => {}
            Some(ConnectByKind::ConnectBy { .. }) => no_but(true, "CONNECT BY", "write WITH RECURSIVE")?,
            Some(ConnectByKind::StartWith { .. }) => no_but(true, "START WITH", "write WITH RECURSIVE")?,
        }
        let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = group_by;
        match modifiers.first() {
            None => {}
            Some(GroupByWithModifier::Rollup) => no_but(true, "WITH ROLLUP", "write GROUP BY ROLLUP (…)")?,
            Some(GroupByWithModifier::Cube) => no_but(true, "WITH CUBE", "write GROUP BY CUBE (…)")?,
            Some(GroupByWithModifier::Totals) => no_but(true, "WITH TOTALS", "write GROUP BY GROUPING SETS (…)")?,
            Some(GroupByWithModifier::GroupingSets(_)) => {
                no_but(true, "GROUP BY … GROUPING SETS", "write GROUP BY GROUPING SETS (…)")?;
            }
        }
        no(value_table_mode.is_some(), "SELECT AS STRUCT or VALUE")?;
        match flavor {
            SelectFlavor::Standard | SelectFlavor::FromFirst => ControlFlow::Continue(()),
            SelectFlavor::FromFirstNoSelect => no_but(true, "FROM without SELECT", "write SELECT * FROM …"),
        }
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> Found {
        match table {
            TableFactor::Table {
                name: _,
                alias,
                args,
                with_hints,
                version,
                with_ordinality,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                of_alias(alias.as_ref())?;
                let has_settings = |args: &TableFunctionArgs| {
                    let TableFunctionArgs { args: _, settings } = args;
                    settings.is_some()
                };
                no(args.as_ref().is_some_and(has_settings), "SETTINGS")?;
                no(!with_hints.is_empty(), "WITH hints")?;
                no_but(version.is_some(), "a version of a table", "write 'ARRAY@TIME'")?;
                no(*with_ordinality, "WITH ORDINALITY")?;
                no(!partitions.is_empty(), "PARTITION")?;
                no(json_path.is_some(), "a path into JSON")?;
                no(sample.is_some(), "TABLESAMPLE")?;
                no(!index_hints.is_empty(), "an index hint")
            }
            TableFactor::Derived { lateral: _, subquery: _, alias, sample } => {
                of_alias(alias.as_ref())?;
                no(sample.is_some(), "TABLESAMPLE")
            }
            TableFactor::Function { lateral: _, name: _, args, with_ordinality, alias } => {
                of_alias(alias.as_ref())?;
                let is_named = args.iter().any(|arg| !matches!(arg, FunctionArg::Unnamed(_)));
                no_but(is_named, "a named argument of a table function", "pass arguments by position")?;
                no(*with_ordinality, "WITH ORDINALITY")
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                of_alias(alias.as_ref())?;
                of_joins(&table_with_joins.joins)
            }
            TableFactor::UNNEST { alias, array_exprs: _, with_offset: _, with_offset_alias: _, with_ordinality: _ } => {
                of_alias(alias.as_ref())
            }
            // The planner rejects these.
            TableFactor::TableFunction { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::OpenJsonTable { .. }
            | TableFactor::Pivot { .. }
            | TableFactor::Unpivot { .. }
            | TableFactor::MatchRecognize { .. }
            | TableFactor::XmlTable { .. }
            | TableFactor::SemanticView { .. } => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Found {
        match expr {
            Expr::Function(function) => self.of_function(function),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Clauses<'_> {
    fn of_function(&self, function: &Function) -> Found {
        let Function { name, uses_odbc_syntax: _, parameters, args, filter, null_treatment, over, within_group } =
            function;
        let of = |clause: &str| format!("{clause} of {name}");
        no(*parameters != FunctionArguments::None, &of("parameters"))?;
        let (distinct, clauses) = match args {
            FunctionArguments::None => (false, &[][..]),
            FunctionArguments::Subquery(_) => {
                return no_but(true, &of("a query as the argument"), "write it in separate parentheses");
            }
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args: _, clauses }) => {
                (*duplicate_treatment == Some(DuplicateTreatment::Distinct), &clauses[..])
            }
        };
        let ident = match &name.0[..] {
            [part] => part.as_ident().map(|ident| match ident.quote_style {
                Some(_) => ident.value.clone(),
                None => ident.value.to_ascii_lowercase(),
            }),
            _ => None,
        };
        match (self.kind)(&ident.unwrap_or_else(|| name.to_string())) {
            // The planner reads or rejects all clauses of aggregates.
            Kind::Aggregate => ControlFlow::Continue(()),
            Kind::Window => {
                no(distinct, &of("DISTINCT"))?;
                no(filter.is_some(), &of("FILTER"))
            }
            Kind::Scalar => {
                no(distinct, &of("DISTINCT"))?;
                no(filter.is_some(), &of("FILTER"))?;
                no(null_treatment.is_some(), &of("IGNORE or RESPECT NULLS"))?;
                no(over.is_some(), &of("OVER"))?;
                no(!within_group.is_empty(), &of("WITHIN GROUP"))?;
                match clauses.first() {
                    Some(clause) => no(true, &of(&clause.to_string())),
                    None => ControlFlow::Continue(()),
                }
            }
        }
    }
}

fn of_cte(table: &Cte, is_recursive: bool) -> Found {
    // Materialization does not change rows.
    let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = table;
    of_alias(Some(alias))?;
    no(from.is_some(), "WITH … FROM")?;
    let is_union = matches!(&*query.body, SetExpr::SetOperation { op: SetOperator::Union, .. });
    let has_more = query.with.is_some() || query.order_by.is_some() || query.limit_clause.is_some();
    let has_more = has_more || !query.pipe_operators.is_empty() || query.fetch.is_some();
    let clause = "WITH, ORDER BY or LIMIT within WITH RECURSIVE";
    no_but(is_recursive && is_union && has_more, clause, "move it to the query that reads the table")
}

fn of_alias(alias: Option<&TableAlias>) -> Found {
    let Some(TableAlias { explicit: _, name: _, columns, at }) = alias else { return ControlFlow::Continue(()) };
    no_but(columns.iter().any(|column| column.data_type.is_some()), "a type behind a column's alias", "write CAST")?;
    no(at.is_some(), "AT behind a table's alias")
}

fn of_tables(tables: &[TableWithJoins]) -> Found {
    tables.iter().try_for_each(|TableWithJoins { relation: _, joins }| of_joins(joins))
}

fn of_joins(joins: &[Join]) -> Found {
    // The planner checks the operators.
    joins.iter().try_for_each(|Join { relation: _, global, join_operator: _ }| no(*global, "GLOBAL JOIN"))
}

fn of_item(item: &SelectItem) -> Found {
    let (SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options)) = item else {
        return ControlFlow::Continue(());
    };
    let WildcardAdditionalOptions {
        wildcard_token: _,
        opt_ilike,
        opt_exclude: _,
        opt_except: _,
        opt_replace: _,
        opt_rename: _,
        opt_alias: _,
    } = options;
    no_but(opt_ilike.is_some(), "SELECT * ILIKE", "name the columns")
}

fn of_modifiers(modifiers: &SelectModifiers) -> Found {
    let SelectModifiers {
        high_priority,
        straight_join,
        sql_small_result,
        sql_big_result,
        sql_buffer_result,
        sql_no_cache,
        sql_calc_found_rows,
    } = modifiers;
    no(*high_priority, "HIGH_PRIORITY")?;
    no(*straight_join, "STRAIGHT_JOIN")?;
    no(*sql_small_result, "SQL_SMALL_RESULT")?;
    no(*sql_big_result, "SQL_BIG_RESULT")?;
    no(*sql_buffer_result, "SQL_BUFFER_RESULT")?;
    no(*sql_no_cache, "SQL_NO_CACHE")?;
    no(*sql_calc_found_rows, "SQL_CALC_FOUND_ROWS")
}

fn of_pipe(operator: &PipeOperator) -> Found {
    match operator {
        PipeOperator::Aggregate { full_table_exprs, group_by_expr } => {
            let mut options = full_table_exprs.iter().chain(group_by_expr).map(|expr| &expr.order_by);
            let is_ordered = options.any(|order| order.asc.is_some() || order.nulls_first.is_some());
            no_but(is_ordered, "an order within AGGREGATE", "write |> ORDER BY")
        }
        PipeOperator::Join(join) => of_joins(std::slice::from_ref(join)),
        PipeOperator::Select { exprs } | PipeOperator::Extend { exprs } => exprs.iter().try_for_each(of_item),
        // The planner reads or rejects all of these.
        PipeOperator::Limit { .. }
        | PipeOperator::Where { .. }
        | PipeOperator::OrderBy { .. }
        | PipeOperator::Set { .. }
        | PipeOperator::Drop { .. }
        | PipeOperator::As { .. }
        | PipeOperator::TableSample { .. }
        | PipeOperator::Rename { .. }
        | PipeOperator::Union { .. }
        | PipeOperator::Intersect { .. }
        | PipeOperator::Except { .. }
        | PipeOperator::Call { .. }
        | PipeOperator::Pivot { .. }
        | PipeOperator::Unpivot { .. } => ControlFlow::Continue(()),
    }
}

/// Checks options and constraints of columns in new tables.
fn of_columns(columns: &[ColumnDef], constraints: &[TableConstraint]) -> Found {
    let advice = "leave it out; nothing enforces it";
    for ColumnDef { name: _, data_type: _, options } in columns {
        for option in options {
            let is_read = match option.option {
                ColumnOption::Null | ColumnOption::NotNull | ColumnOption::Default(_) => true,
                // The planner rejects these.
                ColumnOption::ForeignKey(_) | ColumnOption::Check(_) => true,
                ColumnOption::PrimaryKey(_)
                | ColumnOption::Unique(_)
                | ColumnOption::Materialized(_)
                | ColumnOption::Ephemeral(_)
                | ColumnOption::Alias(_)
                | ColumnOption::DialectSpecific(_)
                | ColumnOption::CharacterSet(_)
                | ColumnOption::Collation(_)
                | ColumnOption::Comment(_)
                | ColumnOption::OnUpdate(_)
                | ColumnOption::Generated { .. }
                | ColumnOption::Options(_)
                | ColumnOption::Identity(_)
                | ColumnOption::OnConflict(_)
                | ColumnOption::Policy(_)
                | ColumnOption::Tags(_)
                | ColumnOption::Srid(_)
                | ColumnOption::Invisible => false,
            };
            no_but(!is_read, &option.option.to_string(), advice)?;
        }
    }
    let is_key = |constraint: &&TableConstraint| {
        matches!(constraint, TableConstraint::Unique(_) | TableConstraint::PrimaryKey(_))
    };
    match constraints.iter().find(is_key) {
        Some(key) => no_but(true, &key.to_string(), advice),
        None => ControlFlow::Continue(()),
    }
}

fn of_view(view: &CreateView) -> Found {
    let CreateView {
        or_alter,
        or_replace: _,
        materialized: _,
        secure,
        name: _,
        name_before_not_exists: _,
        columns,
        query: _,
        options: _,
        cluster_by: _,
        comment: _,
        with_no_schema_binding: _,
        if_not_exists: _,
        temporary: _,
        copy_grants: _,
        to: _,
        params,
    } = view;
    no_but(*or_alter, "CREATE OR ALTER VIEW", "write CREATE OR REPLACE VIEW")?;
    no(*secure, "SECURE")?;
    no_but(columns.iter().any(|column| column.data_type.is_some()), "a type of a view's column", "write CAST")?;
    no(params.is_some(), "ALGORITHM, DEFINER or SQL SECURITY")
}
