//! Reading of the cells that meet a condition.
//!
//! The fields of the condition are read first. For other fields, only tiles with a matching cell
//! are unfiltered. All other cells of a batch are removed or become fill values anyway.

use std::collections::HashMap;
use std::sync::Arc;

use tdb_cells::{Batch, Column};
use tdb_condition::BoundCondition;
use tdb_query::{CheckedQuery, Pruner};
use tdb_schema::FieldRef;
use tdb_snapshot::{Result, Snapshot};

use crate::fields::Fields;
use crate::narrow::unwritten_pass;
use crate::work::{Origin, Work};

/// A condition, and the locations of the condition's fields in a result.
#[derive(Debug)]
pub(super) struct Filter {
    condition: Arc<BoundCondition>,
    /// Index among the outputs of each field of the condition.
    pub(super) places: Vec<usize>,
    /// `true` if the query returns matching cells only.
    pub(super) only_matching: bool,
    /// `true` if unwritten cells are in the result, `false` if not, and `None` if this depends on
    /// the coordinates.
    pub(super) unwritten_pass: Option<bool>,
    array: Snapshot,
    /// Pruners by fragment, to identify tiles without a matching cell.
    pruners: HashMap<usize, Pruner>,
}

/// The cells of a batch that meet the condition.
#[derive(Debug)]
pub(super) struct Matches {
    pub(super) truth: Vec<bool>,
    pub(super) count: usize,
}

impl Filter {
    /// Creates the filter of a query, or `None` if the query has no condition.
    pub(super) fn of(query: &CheckedQuery, fields: &Fields) -> Option<Self> {
        let condition = query.filter.clone()?;
        let place = |field: FieldRef| fields.outputs.iter().position(|output| output.field == field);
        let places = condition.fields().iter().filter_map(|needed| place(needed.field)).collect();
        Some(Self {
            condition,
            places,
            only_matching: query.only_matching,
            unwritten_pass: unwritten_pass(query),
            array: query.array.clone(),
            pruners: HashMap::new(),
        })
    }

    /// Excludes tiles without a possible match from the read.
    pub(super) fn rule_out(&mut self, works: &mut [Work]) -> Result<()> {
        let fragments = self.array.fragments()?;
        for source in works.iter_mut().flat_map(|work| &mut work.sources) {
            let Origin::Tile { fragment, tile, .. } = source.origin else { continue };
            let pruner = self
                .pruners
                .entry(fragment)
                .or_insert_with(|| Pruner::new(&fragments[fragment], self.array.schema(), &self.condition));
            if pruner.rules_out(tile) {
                (source.origin, source.ruled_out) = (Origin::Fill, Some((fragment, tile)));
            }
        }
        Ok(())
    }

    /// Evaluates the condition. `columns` are the outputs in [`places`](Self::places), in the same
    /// order.
    pub(super) fn matches(&self, columns: &[Column], works: &[Work]) -> Matches {
        let cells = works.last().map_or(0, |work| work.cells.end);
        let columns: Vec<_> = columns.iter().map(|column| Some(column.cells())).collect();
        let mut truth = vec![false; cells];
        self.condition.evaluate(&columns, &mut truth);
        // Cells of excluded tiles were evaluated on fill values.
        for work in works {
            let truth = &mut truth[work.cells.clone()];
            let ruled_out = work.sources.iter().filter(|source| source.ruled_out.is_some());
            for copy in ruled_out.flat_map(|source| &source.copies) {
                copy.runs(|_, to, len| truth[to..to + len].fill(false));
            }
        }
        let count = truth.iter().filter(|truth| **truth).count();
        Matches { truth, count }
    }

    /// Applies the result to a batch: removes cells without a match, or replaces these cells by
    /// fill values.
    pub(super) fn apply(&self, batch: Batch, matches: &Matches, fields: &Fields) -> Batch {
        if matches.count == matches.truth.len() {
            return batch;
        }
        if self.only_matching {
            let kept = tdb_cells::order::coordinates::indices(&matches.truth);
            let columns = batch.into_columns().into_iter().map(|column| column.only(&kept)).collect();
            return Batch::new(columns, kept.len());
        }
        let len = batch.len();
        let columns = batch.into_columns().into_iter().zip(&fields.outputs);
        let columns = columns.map(|(column, output)| match output.field {
            // Coordinates do not depend on the content of the cell.
            FieldRef::Dimension(_) => column,
            FieldRef::Attribute(_) => column.blank(&matches.truth, &output.fill, output.fill_valid),
        });
        Batch::new(columns.collect(), len)
    }
}

impl Matches {
    /// Excludes sources without a matching cell from the read.
    pub(super) fn prune(&self, works: &mut [Work]) {
        for work in works {
            let truth = &self.truth[work.cells.clone()];
            for source in &mut work.sources {
                let mut is_wanted = false;
                for copy in &source.copies {
                    copy.runs(|_, to, len| is_wanted |= truth[to..to + len].contains(&true));
                }
                if !is_wanted {
                    source.origin = Origin::Fill;
                }
            }
        }
    }
}
