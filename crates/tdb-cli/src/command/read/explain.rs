//! Output of query plans.

use serde_json::{Value, json};
use tdb_array::{FragmentPlan, Plan, PrunedBy};

use super::cost::Cost;
use crate::failure::Result;
use tdb_print::printable;
use tdb_print::{TextFormat, print_json, print_text};

/// Prints a plan, with the cost of a run if given.
pub(super) fn print(plan: &Plan, cost: Option<&Cost>, format: TextFormat) -> Result<()> {
    match format {
        TextFormat::Text => {
            let cost = cost.map_or(String::new(), Cost::to_string);
            Ok(print_text(&format!("{}{cost}", printable_plan(plan)))?)
        }
        TextFormat::Json => {
            let mut value = json(plan);
            if let (Some(cost), Some(object)) = (cost, value.as_object_mut()) {
                object.insert("run".to_owned(), cost.json());
            }
            Ok(print_json(&value)?)
        }
    }
}

/// Returns the plan with control characters in names escaped.
fn printable_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let escape = |text: &mut String| *text = printable(text);
    plan.fields.iter_mut().chain(&mut plan.labels).for_each(escape);
    for fragment in &mut plan.fragments {
        escape(&mut fragment.folder);
        fragment.late.iter_mut().for_each(escape);
        for pruned in &mut fragment.pruned_by {
            if let PrunedBy::Statistics(field) = &mut pruned.by {
                escape(field);
            }
        }
        for reads in &mut fragment.reads {
            escape(&mut reads.field);
            escape(&mut reads.file);
        }
    }
    plan
}

fn json(plan: &Plan) -> Value {
    let fragments = plan.fragments.iter().map(|fragment| {
        let tiles = fragment.tiles.iter();
        let tiles = tiles.map(|tile| json!({"tile": tile.tile, "whole": tile.full, "cells": tile.cells}));
        let reads = fragment.reads.iter().map(|reads| {
            let ranges: Vec<[u64; 2]> = reads.ranges.iter().map(|range| [range.start, range.end]).collect();
            json!({"field": reads.field, "file": reads.file, "bytes": reads.bytes(), "ranges": ranges})
        });
        json!({
            "folder": fragment.folder,
            "tiles_in_all": fragment.tile_count,
            "without": without(fragment),
            "late": fragment.late,
            "tiles": tiles.collect::<Vec<_>>(),
            "reads": reads.collect::<Vec<_>>(),
        })
    });
    json!({
        "fields": plan.fields,
        "labels": plan.labels,
        "order": plan.order.to_string(),
        "tiles": plan.tile_count(),
        "bytes": plan.bytes(),
        "without": {
            "of_other_times": plan.left_out.time,
            "outside": plan.left_out.region,
            "by_totals": plan.left_out.totals,
            "hidden": plan.left_out.hidden,
        },
        "fragments": fragments.collect::<Vec<_>>(),
    })
}

/// Returns the number of skipped tiles of a fragment, by reason.
fn without(fragment: &FragmentPlan) -> Value {
    let conditions = fragment.pruned_by.iter().map(|pruned| {
        let (by, field) = match &pruned.by {
            PrunedBy::Box => ("box", None),
            PrunedBy::Statistics(field) => ("statistics", Some(field)),
            PrunedBy::Totals => ("totals", None),
            PrunedBy::FillValues => ("fill_values", None),
            // Several reasons, or reasons of newer versions of the library.
            _ => ("several", None),
        };
        json!({"by": by, "field": field, "tiles": pruned.tiles})
    });
    let conditions: Vec<Value> = conditions.collect();
    json!({"outside": fragment.outside, "hidden": fragment.hidden, "by_condition": conditions})
}
