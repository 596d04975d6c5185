//! What a query would read.

use serde_json::{Value, json};
use tdb_array::Plan;

use crate::failure::Result;
use crate::output::{TextFormat, print_json, print_text};
use crate::terminal::printable;

pub(super) fn print(plan: &Plan, format: TextFormat) -> Result<()> {
    match format {
        TextFormat::Text => print_text(&printable_plan(plan).to_string()),
        TextFormat::Json => print_json(&json(plan)),
    }
}

/// The plan with names that stay on their lines.
fn printable_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let escape = |text: &mut String| *text = printable(text);
    plan.fields.iter_mut().chain(&mut plan.labels).for_each(escape);
    for fragment in &mut plan.fragments {
        escape(&mut fragment.folder);
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
        "fragments": fragments.collect::<Vec<_>>(),
    })
}
