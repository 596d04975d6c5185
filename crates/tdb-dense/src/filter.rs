//! Reading the cells of a dense array that fulfil a condition.
//!
//! The fields of the condition come first. Of the other fields only those tiles are unfiltered that a cell that fulfils it
//! lies in; the rest of a batch are fill values anyway.

use std::collections::HashMap;
use std::sync::Arc;

use tdb_cells::{Batch, Column};
use tdb_condition::BoundCondition;
use tdb_query::{CheckedQuery, Pruner};
use tdb_schema::FieldRef;
use tdb_snapshot::{Result, Snapshot};

use crate::fields::Fields;
use crate::work::{Origin, Work};

/// A condition, and where a result has its fields.
#[derive(Debug)]
pub(super) struct Filter {
    condition: Arc<BoundCondition>,
    /// For each field of the condition its place among the outputs.
    places: Vec<usize>,
    /// Whether cells that don't fulfil it are left out.
    only_matching: bool,
    array: Snapshot,
    /// By fragment: which tiles can't have a cell that fulfils it.
    pruners: HashMap<usize, Pruner>,
}

/// Which cells of a batch fulfil the condition.
#[derive(Debug)]
pub(super) struct Matches {
    truth: Vec<bool>,
    count: usize,
}

impl Filter {
    /// The filter of a query, if it has one.
    pub(super) fn of(query: &CheckedQuery, fields: &Fields) -> Option<Self> {
        let condition = query.filter.clone()?;
        let place = |field: FieldRef| fields.outputs().iter().position(|output| output.field == field);
        let places = condition.fields().iter().filter_map(|needed| place(needed.field)).collect();
        Some(Self {
            condition,
            places,
            only_matching: query.only_matching,
            array: query.array.clone(),
            pruners: HashMap::new(),
        })
    }

    /// The outputs that the condition needs, each once.
    pub(super) fn needed(&self) -> &[usize] {
        &self.places
    }

    /// Whether cells that don't fulfil it are left out.
    pub(super) fn only_matching(&self) -> bool {
        self.only_matching
    }

    /// Has nothing read of tiles that can't have a cell that fulfils the condition.
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

    /// Which cells fulfil the condition; `columns` are of the outputs that it [needs](Self::needed), in that order.
    pub(super) fn matches(&self, columns: &[Column], works: &[Work]) -> Matches {
        let cells = works.last().map_or(0, |work| work.cells.end);
        let columns: Vec<_> = columns.iter().map(|column| Some(column.cells())).collect();
        let mut truth = vec![false; cells];
        self.condition.evaluate(&columns, &mut truth);
        // These were judged by fill values.
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

    /// The batch as the query wants it: without the cells that don't fulfil the condition, or with fill values in their place.
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
        let columns = batch.into_columns().into_iter().zip(fields.outputs());
        let columns = columns.map(|(column, output)| match output.field {
            // Coordinates follow from the order, whatever the cell holds.
            FieldRef::Dimension(_) => column,
            FieldRef::Attribute(_) => column.blank(&matches.truth, &output.fill, output.fill_valid),
        });
        Batch::new(columns.collect(), len)
    }
}

impl Matches {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// By cell, whether it does.
    pub(super) fn truth(&self) -> &[bool] {
        &self.truth
    }

    /// Has nothing read of tiles without such a cell.
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
