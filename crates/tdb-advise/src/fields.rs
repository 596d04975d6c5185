//! Advice on filters, by field.

use crate::advice::{Advice, AdviceKind, AdviceLevel, AdvisedCommand, Figure, FigureUnit};
use crate::costs::{ENUMERATION, LARGE, RANDOM, SHARE, percent, scaled};
use crate::report::{FieldFacts, FieldTrials};
use crate::seen::Seen;
use tdb_job::Bytes;

/// Text of an empty filter list.
const NONE: &str = "no filters";

/// Returns advice based on a sample.
pub(super) fn of_sample(seen: &Seen, trials: &[FieldTrials]) -> Vec<Advice> {
    let mut advice = Vec::new();
    for tried in trials {
        let Some(field) = seen.fields.iter().find(|field| field.name == tried.name) else { continue };
        advice.extend(better_filters(seen, field, tried));
        advice.extend(few_strings(seen, field, tried));
    }
    one_command(&mut advice);
    advice
}

/// Combines the advised filters of all fields in one migration.
fn one_command(advice: &mut [Advice]) {
    let is_worth = |advice: &Advice| advice.kind == AdviceKind::Filters && advice.level != AdviceLevel::Note;
    let remedies = advice.iter().filter(|advice| is_worth(advice)).flat_map(|advice| &advice.remedy);
    let all: Vec<String> = remedies.flat_map(|remedy| remedy.options.iter().cloned()).collect();
    for advice in advice.iter_mut().filter(|advice| is_worth(advice)) {
        advice.remedy = vec![AdvisedCommand::new("migrate", all.iter().cloned())];
    }
}

/// Suggests the best filter list if the saving is large enough. Otherwise, may suggest dropping a
/// needless compressor.
fn better_filters(seen: &Seen, field: &FieldFacts, tried: &FieldTrials) -> Option<Advice> {
    let (own, best) = (tried.trials.first()?, tried.best()?);
    let saved = own.stored.saturating_sub(best.stored);
    if own.filters == best.filters || saved < own.stored / SHARE {
        return needless(seen, field, tried);
    }
    let stored = field.stored[0].saturating_add(field.stored[1]);
    let then = scaled(stored, best.stored, own.stored);
    let what = format!(
        "{} sampled tiles take {}% of their unfiltered size with {}, and {}% with {}",
        tried.tiles,
        percent(own.stored, tried.decoded),
        spoken(&own.filters),
        percent(best.stored, tried.decoded),
        spoken(&best.filters),
    );
    let figures = vec![
        Figure::bytes("stored bytes of the field", stored, then),
        Figure::new("time to unfilter the sample", FigureUnit::Nanoseconds, own.decoding, best.decoding),
        Figure::new("time to filter the sample", FigureUnit::Nanoseconds, own.encoding, best.encoding),
    ];
    let saves = seen.costs.of(0, stored - then);
    let remedy = vec![migrate(field, &best.filters)];
    let advice = seen.advice(AdviceKind::Filters, Some(&field.name), what, figures, saves, remedy);
    // Saved disk space matters even without a wait.
    let is_large = stored - then >= LARGE && stored - then >= stored / 2;
    let level = if is_large { advice.level.min(AdviceLevel::Weak) } else { advice.level };
    Some(Advice { level, ..advice })
}

/// Suggests dropping a compressor if no tried list compresses the field.
fn needless(seen: &Seen, field: &FieldFacts, tried: &FieldTrials) -> Option<Advice> {
    let own = tried.trials.first()?;
    let is_best = tried.best().is_some_and(|best| best.filters == NONE);
    if percent(own.stored, tried.decoded) < RANDOM || own.filters == NONE || !is_best {
        return None;
    }
    let stored = field.stored[0].saturating_add(field.stored[1]);
    let what = format!(
        "{} sampled tiles take {}% of their unfiltered size with {}, and no tried filter list saves more: the bytes are nearly random, and unfiltering only takes time",
        tried.tiles,
        percent(own.stored, tried.decoded),
        spoken(&own.filters)
    );
    let decoding = scaled(own.decoding, stored, own.stored);
    let figures = vec![
        Figure::bytes("stored bytes of the field", stored, scaled(stored, tried.decoded, own.stored)),
        Figure::new("time to unfilter the field, estimated from the sample", FigureUnit::Nanoseconds, decoding, 0),
    ];
    let more = scaled(stored, tried.decoded, own.stored).saturating_sub(stored);
    let saves = std::time::Duration::from_nanos(decoding).saturating_sub(seen.costs.of(0, more));
    // Times differ between machines and runs, so only large differences are reported.
    let remedy = vec![migrate(field, NONE)];
    Some(seen.advice(AdviceKind::Filters, Some(&field.name), what, figures, saves, remedy))
}

/// Suggests an enumeration for a field with few distinct strings.
fn few_strings(seen: &Seen, field: &FieldFacts, tried: &FieldTrials) -> Option<Advice> {
    let different = tried.different?;
    let known = seen.schema().attributes().iter().find(|attribute| attribute.name() == field.name)?;
    // Each value must be frequent, so that further values are unlikely.
    if known.enumeration().is_some() || different == 0 || tried.cells < ENUMERATION as u64 * different {
        return None;
    }
    let decoded = field.decoded[0].saturating_add(field.decoded[1]);
    let then = field.decoded[0] / 8;
    let what = format!(
        "{} sampled cells have only {different} distinct values: an enumeration would store one byte per cell, and conditions would compare integers",
        tried.cells
    );
    let figures = vec![Figure::bytes("bytes of the field before filtering", decoded, then)];
    Some(Advice {
        level: AdviceLevel::Note,
        ..seen.advice(
            AdviceKind::Enumeration,
            Some(&field.name),
            what,
            figures,
            seen.costs.decoding(decoded - then.min(decoded)),
            vec![],
        )
    })
}

fn migrate(field: &FieldFacts, filters: &str) -> AdvisedCommand {
    AdvisedCommand::new("migrate", ["--filters".to_owned(), format!("{}={filters}", field.name)])
}

fn spoken(filters: &str) -> String {
    if filters == NONE { "no filters".to_owned() } else { format!("`{filters}`") }
}

/// Lists the fields whose stored size suggests better filters. Used without a sample.
pub(super) fn untried(seen: &Seen) -> Option<Advice> {
    let is_poor = |field: &&FieldFacts| {
        let (stored, decoded) = (field.stored_bytes(), field.decoded_bytes());
        percent(stored, decoded) >= RANDOM
    };
    let mut poor: Vec<&FieldFacts> = seen.readable_fields().filter(is_poor).collect();
    // The stored size is the upper bound of the saving. If reading these bytes takes no noticeable
    // time, only large fields without filters remain, because filters may halve their size.
    if seen.costs.of(0, stored_bytes(&poor)) < seen.costs.worth {
        poor.retain(|field| field.filters == NONE && field.stored_bytes() >= 2 * LARGE);
    }
    if poor.is_empty() {
        return None;
    }
    let stored = stored_bytes(&poor);
    let names: Vec<String> = poor.iter().map(|field| format!("{:?} ({})", field.name, field.filters)).collect();
    let what = format!(
        "{} take {}, about as much as without filters: run `tdb advise --sample` to try other filters",
        names.join(", "),
        Bytes(stored)
    );
    let figures = vec![Figure::bytes("stored bytes of these fields", stored, None)];
    let remedy = vec![AdvisedCommand::new("advise", ["--sample", "16"])];
    Some(Advice {
        level: AdviceLevel::Note,
        ..seen.advice(AdviceKind::Untried, None, what, figures, std::time::Duration::ZERO, remedy)
    })
}

fn stored_bytes(fields: &[&FieldFacts]) -> u64 {
    fields.iter().fold(0, |sum, field| sum.saturating_add(field.stored_bytes()))
}
