//! Means, and rows below their targets.

use std::fmt::Write;

use clap::ValueEnum;

use super::row::Row;
use super::text::seconds;
use crate::workload::Group;

/// Required fraction of the limit, and the mean speedup that suffices instead.
const PART_OF_LIMIT: f64 = 0.7;
const MEAN: f64 = 5.0;
/// Slowdown of several threads that counts as noise.
const NOISE: f64 = 1.1;

/// Returns the geometric means and medians by group and of all groups, and the rows that miss a
/// target.
pub fn summary(rows: &[Row], threads: usize) -> String {
    let mut text = means(rows, threads);
    let below = |row: &&Row| row.cpu_ratio() < row.mark() || row.ratio(1) < row.mark();
    let missed = rows.iter().filter(below).map(|row| {
        format!(
            "{}: {:.2} by CPU time, {:.2} with {threads} threads (target {:.1})",
            row.name,
            row.cpu_ratio(),
            row.ratio(1),
            row.mark()
        )
    });
    list(&mut text, "Below the target", missed);
    let clock = |row: &Row, place: usize| seconds(&row.ours[place]);
    let slower = rows.iter().filter(|row| clock(row, 1) > NOISE * clock(row, 0));
    let slower = slower.map(|row| format!("{}: {:.2} times as long", row.name, clock(row, 1) / clock(row, 0)));
    list(&mut text, &format!("Slower with {threads} threads than with one"), slower);
    let more_memory = |row: &Row, place: usize| {
        let (ours, theirs) = (row.ours[place].peak_memory, row.theirs[place].peak_memory);
        let of = if place == 0 { 1 } else { threads };
        (ours > theirs).then(|| format!("{}: {} MB, {} MB ({of} threads)", row.name, ours >> 20, theirs >> 20))
    };
    let memory = rows.iter().filter_map(|row| more_memory(row, 0).or_else(|| more_memory(row, 1)));
    list(&mut text, "More memory than the reference", memory);
    let short = rows.iter().filter_map(|row| Some((row, row.part_of_limit()?, row.limit?)));
    let short = short.filter(|(_, part, _)| *part < PART_OF_LIMIT);
    let short = short.map(|(row, part, limit)| format!("{}: {:.0} % of {}", row.name, part * 100.0, limit.what));
    list(&mut text, &format!("Below {:.0} % of the limit", PART_OF_LIMIT * 100.0), short);
    text
}

fn list(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    let _ = writeln!(
        text,
        "\n{heading}: {}.\n",
        if lines.is_empty() { "none".to_owned() } else { lines.len().to_string() }
    );
    for line in &lines {
        let _ = writeln!(text, "- {line}");
    }
}

/// Returns the means of each group. The means of all groups weight groups equally, so that a group
/// of many or of extreme rows does not hide the others.
fn means(rows: &[Row], threads: usize) -> String {
    let mut text = format!(
        "| group | rows | CPU time, 1 thread | median | wall clock, 1 thread | wall clock, {threads} threads | at least {MEAN} times | at the target |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: |\n"
    );
    let mut line = |name: &str, rows: &[&Row], means: [f64; 3]| {
        let count = |is_it: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is_it(row)).count();
        let [cpu, one, all] = means;
        let _ = writeln!(
            text,
            "| {name} | {} | **{cpu:.1}** | {:.1} | {one:.1} | {all:.1} | {} | {} |",
            rows.len(),
            median(rows.iter().map(|row| row.cpu_ratio())),
            count(&|row| row.cpu_ratio() >= MEAN),
            count(&|row| row.cpu_ratio() >= row.mark()),
        );
    };
    let mut counted = Vec::new();
    for &group in Group::value_variants() {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.group == group).collect();
        if rows.is_empty() {
            continue;
        }
        let ratios: [&dyn Fn(&Row) -> f64; 3] = [&Row::cpu_ratio, &|row| row.ratio(0), &|row| row.ratio(1)];
        let means = ratios.map(|ratio| mean(rows.iter().map(|row| ratio(row))));
        line(group.name(), &rows, means);
        if group.counts() {
            counted.push(means);
        }
    }
    let rows: Vec<&Row> = rows.iter().filter(|row| row.group.counts()).collect();
    line("all", &rows, [0, 1, 2].map(|column| mean(counted.iter().map(|means| means[column]))));
    text
}

/// Returns the median, of two middle values the lower one.
fn median(ratios: impl Iterator<Item = f64>) -> f64 {
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the geometric mean.
pub(super) fn mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len().max(1) as f64).exp()
}
