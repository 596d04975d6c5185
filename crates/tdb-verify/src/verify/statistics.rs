//! Comparison of stored statistics with the statistics of the cells.

use tdb_array::tdb_fragment::{
    FieldSummarizer, FieldTotals, Statistic, StatisticsKind, StatisticsRules, Sum, TileStatistics, TileSummary, Tiles,
    UntrustedReason, ValueStatistics,
};
use tdb_types::{Datatype, Scalar};

use super::finding::{Finding, FindingKind, Severity};
use super::report::Found;

/// Statistics computed from the cells of a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileFacts {
    /// Statistics of the visible cells.
    pub(crate) visible: TileSummary,
    /// Statistics of all cells. `None` if all cells are visible.
    pub(crate) whole: Option<TileSummary>,
}

/// A field whose statistics are compared.
pub(super) struct Compared<'a> {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) datatype: Datatype,
    pub(super) rules: StatisticsRules,
    pub(super) tiles: &'a Tiles,
    /// `true` if the filters are lossy. The stored cells then differ from the values from which the
    /// statistics were computed.
    pub(super) is_lossy: bool,
}

/// The stored statistics of a field, which are compared tile by tile with the statistics of the
/// cells. Only the totals of the cells are kept.
pub(super) struct Comparison<'a> {
    of: Compared<'a>,
    stored: Option<TileStatistics>,
    totals: Option<FieldTotals>,
    kind: StatisticsKind,
    visible: FieldSummarizer,
    whole: FieldSummarizer,
    /// Number of tiles so far.
    taken: u64,
    /// `true` if all tiles were readable.
    is_complete: bool,
    notes: Notes,
    found: Found,
}

/// The statistics of some cells, as stored, and as judged by the rules of the format.
struct Side<'a> {
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
    sum: Option<u64>,
    nulls: Option<u64>,
    judged: ValueStatistics<'a>,
}

impl<'a> Side<'a> {
    /// Returns the statistics of a tile. `entry` is its index in `statistics`, and `tile` its index
    /// in the fragment.
    fn of_tile(statistics: &'a TileStatistics, entry: u64, tile: u64, of: &Compared<'_>) -> Self {
        let at = |values: &[u64]| values.get(usize::try_from(entry).ok()?).copied();
        Self {
            min: statistics.mins.get(entry),
            max: statistics.maxs.get(entry),
            sum: at(&statistics.sums),
            nulls: at(&statistics.null_counts),
            judged: statistics.entry(entry, tile, of.tiles, &of.rules),
        }
    }

    fn of_totals(totals: &'a FieldTotals, of: &Compared<'_>) -> Self {
        Self {
            min: Some(&totals.min),
            max: Some(&totals.max),
            sum: Some(totals.sum),
            nulls: Some(totals.null_count),
            judged: totals.judge(of.tiles, &of.rules),
        }
    }
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        of: Compared<'a>,
        kind: StatisticsKind,
        stored: Option<TileStatistics>,
        totals: Option<FieldTotals>,
    ) -> Self {
        let (visible, whole) = (FieldSummarizer::new(kind), FieldSummarizer::new(kind));
        let (notes, found) = (Notes::default(), Found::default());
        Self { of, stored, totals, kind, visible, whole, taken: 0, is_complete: true, notes, found }
    }

    /// Compares the next tiles. `None` represents an unreadable tile.
    pub(super) fn take<'f>(&mut self, facts: impl Iterator<Item = Option<&'f TileFacts>>) {
        let unknown = TileSummary::unknown(self.kind);
        let mut read = Vec::new();
        for facts in facts {
            let visible = facts.map_or(&unknown, |facts| &facts.visible);
            self.visible.push(visible);
            self.whole.push(facts.and_then(|facts| facts.whole.as_ref()).unwrap_or(visible));
            read.push(facts.is_some());
        }
        let (visible, whole) = (self.visible.take_tiles(), self.whole.take_tiles());
        let first = self.taken;
        self.taken += read.len() as u64;
        self.is_complete &= read.iter().all(|read| *read);
        let Some(stored) = &self.stored else { return };
        for entry in (0u64..).zip(&read).filter(|(_, read)| **read).map(|(entry, _)| entry) {
            let tile = first + entry;
            let sides = [(stored, tile), (&visible, entry), (&whole, entry)];
            let sides = sides.map(|(statistics, entry)| Side::of_tile(statistics, entry, tile, &self.of));
            self.of.compare_sides(&sides, Some(tile), &mut self.notes, &mut self.found);
        }
    }

    /// Compares the totals and returns the findings.
    pub(super) fn finish(mut self) -> Found {
        if let Some(totals) = self.totals.filter(|_| self.is_complete) {
            let ((_, visible), (_, whole)) = (self.visible.finish(), self.whole.finish());
            let sides = [&totals, &visible, &whole].map(|totals| Side::of_totals(totals, &self.of));
            self.of.compare_sides(&sides, None, &mut self.notes, &mut self.found);
        }
        self.notes.0.into_iter().for_each(|note| self.found.push(note.into_finding(&self.of)));
        self.found
    }
}

impl Compared<'_> {
    /// Compares statistics. `sides` contains the stored statistics, the statistics of the visible
    /// cells, and the statistics of all cells.
    fn compare_sides(&self, sides: &[Side<'_>; 3], tile: Option<u64>, notes: &mut Notes, found: &mut Found) {
        let [stored, visible, whole] = sides;
        let is_lossy = self.is_lossy;
        let value = |bytes: &[u8]| self.value(bytes);
        let number = |count: u64| count.to_string();
        let mut wrong = |kind, judged: Judged| match judged {
            Judged::Same => {}
            Judged::Known(distrust) => notes.add(kind, tile, distrust),
            Judged::Wrong(what) => {
                found.push(Finding::wrong(kind, self.file.as_str(), what).of_field(&self.name).of_tile(tile));
            }
        };
        let bounds = [
            (FindingKind::Minimum, sides.each_ref().map(|side| (side.min, side.judged.min))),
            (FindingKind::Maximum, sides.each_ref().map(|side| (side.max, side.judged.max))),
        ];
        for (kind, sides) in bounds.into_iter().filter(|_| !is_lossy) {
            wrong(kind, judge(sides, value));
        }
        let sums = sides.each_ref().map(|side| (side.sum, side.judged.sum));
        let shown = |sum: Sum| sum.to_string();
        let judged = match judge_sum(&sums, self.tiles) {
            Some(judged) => judged,
            None => judge_values(sums, |(stored, _), (ours, _)| stored == ours, |side| side.1.map(shown)),
        };
        if !is_lossy {
            wrong(FindingKind::Sum, judged);
        }
        let nulls = [stored, visible, whole].map(|side| (side.nulls, side.judged.null_count));
        wrong(
            FindingKind::NullCount,
            judge_values(nulls, |(stored, _), (ours, _)| stored == ours, |side| side.1.map(number)),
        );
    }

    /// Formats a value.
    fn value(&self, bytes: &[u8]) -> String {
        let text = matches!(self.datatype, Datatype::Char | Datatype::StringAscii);
        match Scalar::from_le_bytes(self.datatype.physical(), bytes).filter(|_| !text) {
            Some(scalar) => scalar.to_string(),
            None => {
                let shown = &bytes[..bytes.len().min(64)];
                format!("{:?}", String::from_utf8_lossy(shown))
            }
        }
    }
}

/// Verdict on one statistic.
enum Judged {
    Same,
    /// A known deviation of some writers.
    Known(UntrustedReason),
    Wrong(String),
}

/// A value as stored, and the same value with the information whether readers trust it.
type Bound<'a> = (Option<&'a [u8]>, Statistic<&'a [u8]>);

fn judge(sides: [Bound<'_>; 3], show: impl Fn(&[u8]) -> String) -> Judged {
    // An empty value equals a missing value.
    let same = |stored: &Bound<'_>, ours: &Bound<'_>| stored.0.unwrap_or_default() == ours.0.unwrap_or_default();
    judge_values(sides, same, |side| side.1.map(&show))
}

/// Compares a stored statistic with the statistics of the visible cells and of all cells.
fn judge_values<T: Copy, U: std::fmt::Display>(
    [stored, visible, whole]: [T; 3],
    same: impl Fn(&T, &T) -> bool,
    statistic: impl Fn(T) -> Statistic<U>,
) -> Judged {
    if same(&stored, &visible) || same(&stored, &whole) {
        return Judged::Same;
    }
    let (theirs, ours) = (statistic(stored), statistic(visible));
    match (theirs, ours) {
        // Readers trust the stored value, so the writer found no such values. The cells must have
        // changed later.
        (
            theirs @ Statistic::Present(_),
            ours @ Statistic::Untrustworthy(_, UntrustedReason::MayHideNan | UntrustedReason::Saturated),
        ) => Judged::Wrong(differs(theirs, ours)),
        // A comparison above has already accepted statistics that include invisible cells.
        (_, Statistic::Untrustworthy(_, distrust)) if distrust != UntrustedReason::EdgeTile => Judged::Known(distrust),
        (Statistic::Absent, Statistic::Absent) => Judged::Same,
        (theirs, ours) => Judged::Wrong(differs(theirs, ours)),
    }
}

fn differs<U: std::fmt::Display>(theirs: Statistic<U>, ours: Statistic<U>) -> String {
    let show = |statistic: Statistic<U>| statistic.stored().map_or("none".to_owned(), |value| value.to_string());
    format!("stored {}, computed from the cells {}", show(theirs), show(ours))
}

/// Compares sums of floats. In dense tiles, the writer may have added floats in another order than
/// the stored order. The possible deviation grows with the number of cells. Returns `None` if the
/// sums must be equal or are not sums of floats.
fn judge_sum(sides: &[(Option<u64>, Statistic<Sum>); 3], tiles: &Tiles) -> Option<Judged> {
    let Some(Sum::F64(stored)) = sides[0].1.stored() else { return None };
    // The bits of a NaN sum depend on the processor and on the order of additions.
    let is_no_number =
        |ours: &(Option<u64>, Statistic<Sum>)| matches!(ours.1.stored(), Some(Sum::F64(ours)) if ours.is_nan());
    if stored.is_nan() && sides[1..].iter().any(is_no_number) {
        return Some(Judged::Same);
    }
    if !matches!(tiles, Tiles::Dense(_)) {
        return None;
    }
    let near = |ours: &(Option<u64>, Statistic<Sum>)| match ours.1.stored() {
        Some(Sum::F64(ours)) => (stored - ours).abs() <= ROUNDING * stored.abs().max(ours.abs()),
        _ => false,
    };
    sides[1..].iter().any(near).then_some(Judged::Same)
}

/// Maximum relative difference of two sums of the same floats.
const ROUNDING: f64 = 1e-13;

/// Known deviations of writers, with one note per kind and reason.
#[derive(Default)]
struct Notes(Vec<KnownQuirk>);

struct KnownQuirk {
    kind: FindingKind,
    distrust: UntrustedReason,
    tiles: u64,
    totals: bool,
}

impl Notes {
    fn add(&mut self, kind: FindingKind, tile: Option<u64>, distrust: UntrustedReason) {
        let known = self.0.iter().position(|note| note.kind == kind && note.distrust == distrust);
        let index = known.unwrap_or_else(|| {
            self.0.push(KnownQuirk { kind, distrust, tiles: 0, totals: false });
            self.0.len() - 1
        });
        let note = &mut self.0[index];
        note.tiles += u64::from(tile.is_some());
        note.totals |= tile.is_none();
    }
}

impl KnownQuirk {
    fn into_finding(self, of: &Compared<'_>) -> Finding {
        let what = match (self.tiles, self.totals) {
            (0, _) => "over all tiles".to_owned(),
            (tiles, false) => format!("of {tiles} tiles"),
            (tiles, true) => format!("of {tiles} tiles and over all tiles"),
        };
        let what = format!(
            "differs from the cells, {what}; a known fault of its writers ({}), which readers tolerate",
            self.distrust
        );
        Finding { severity: Severity::Note, ..Finding::wrong(self.kind, of.file.as_str(), what).of_field(&of.name) }
    }
}
