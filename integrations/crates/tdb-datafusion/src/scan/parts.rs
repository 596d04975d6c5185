//! Division of a scan into partitions.

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use tdb_array::{ArrayError, QueryPart};

use super::{Parts, Scan, metrics};
use crate::error;

/// Number of parts per partition with dynamic filters. Each part uses the latest filter.
const PARTS_OF_DYNAMIC: usize = 8;

impl Scan {
    /// Divides the scan into partitions, once. Reads metadata, and blocks.
    ///
    /// # Errors
    /// The metadata cannot be read. Repeated calls return the same error.
    pub(super) fn parts(&self) -> Result<Parts> {
        let divided = self
            .parts
            .get_or_init(|| self.divide().map(Arc::new).map_err(|error| Arc::new(error::of_array(self.uri(), error))));
        divided.clone().map_err(DataFusionError::Shared)
    }

    fn divide(&self) -> Result<Vec<Vec<QueryPart>>, ArrayError> {
        let query = self.query()?;
        metrics::planned(&self.metrics, &query.plan()?);
        if self.dynamic.is_empty() || self.order.is_some() {
            return Ok(self.shared(query.split(self.partitions)?));
        }
        let first = match &self.first {
            Some((column, first)) => query.split_by_value(column, *first)?,
            None => None,
        };
        let Some((first, others)) = first else {
            return Ok(self.shared(query.split(self.partitions * PARTS_OF_DYNAMIC)?));
        };
        // After the first parts, the filter rules out most of the rest.
        let mut partitions = self.shared(first.split(self.partitions)?);
        let others = self.shared(others.split(self.partitions * PARTS_OF_DYNAMIC)?);
        partitions.iter_mut().zip(others).for_each(|(parts, others)| parts.extend(others));
        Ok(partitions)
    }

    /// Distributes parts to partitions.
    fn shared(&self, mut parts: Vec<QueryPart>) -> Vec<Vec<QueryPart>> {
        // Assigns the heaviest part first, each to the partition with the minimum weight.
        parts.sort_by_key(|part| std::cmp::Reverse(part.weight()));
        let mut partitions = vec![(0u64, Vec::new()); self.partitions];
        for part in parts {
            let least = partitions.iter_mut().min_by_key(|(weight, parts): &&mut (u64, Vec<_>)| (*weight, parts.len()));
            if let Some((weight, parts)) = least {
                *weight = weight.saturating_add(part.weight());
                parts.push(part);
            }
        }
        partitions.into_iter().map(|(_, parts)| parts).collect()
    }
}
