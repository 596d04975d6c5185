//! Stored statistics, beside those that the cells give.

use tdb_array::tdb_fragment::{
    Distrust, FieldSummariser, FieldTotals, Statistic, StatisticsKind, StatisticsRules, Sum, TileStatistics,
    TileSummary, Tiles, ValueStatistics,
};
use tdb_types::{Datatype, Scalar};

use super::finding::{Finding, FindingKind, Severity};
use super::report::Found;

/// What a tile's cells give.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileFacts {
    /// The statistics of the cells that readers can see.
    pub(crate) visible: TileSummary,
    /// Those of all cells, if there are others.
    pub(crate) whole: Option<TileSummary>,
}

/// One field of a fragment, whose statistics are compared.
pub(super) struct Compared<'a> {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) datatype: Datatype,
    pub(super) rules: StatisticsRules,
    pub(super) tiles: &'a Tiles,
    /// Whether cells are read with other values than those that the statistics are of.
    pub(super) is_lossy: bool,
}

/// What is stored of a field, compared tile after tile with what the cells give, of which only the totals are kept.
pub(super) struct Comparison<'a> {
    of: Compared<'a>,
    stored: Option<TileStatistics>,
    totals: Option<FieldTotals>,
    kind: StatisticsKind,
    visible: FieldSummariser,
    whole: FieldSummariser,
    /// How many tiles there were so far.
    taken: u64,
    /// Whether all of them could be read.
    is_complete: bool,
    notes: Notes,
    found: Found,
}

/// The statistics of some cells, as bytes and as what they are worth.
struct Side<'a> {
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
    sum: Option<u64>,
    nulls: Option<u64>,
    judged: ValueStatistics<'a>,
}

impl<'a> Side<'a> {
    /// The statistics of a tile stand at this `entry`.
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
        let (visible, whole) = (FieldSummariser::new(kind), FieldSummariser::new(kind));
        let (notes, found) = (Notes::default(), Found::default());
        Self { of, stored, totals, kind, visible, whole, taken: 0, is_complete: true, notes, found }
    }

    /// Compares the tiles that follow; one without facts couldn't be read.
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

    /// Compares the totals, and gives what was found.
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
    /// The first side is what is stored, the second what the visible cells give, the third what all cells give.
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
            (FindingKind::Least, sides.each_ref().map(|side| (side.min, side.judged.min))),
            (FindingKind::Greatest, sides.each_ref().map(|side| (side.max, side.judged.max))),
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

    /// A value as people read it.
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

/// What is to be said of one statistic.
enum Judged {
    Same,
    /// It differs, as is known of some writers.
    Known(Distrust),
    Wrong(String),
}

/// A value as it is stored, and what it is worth.
type Bound<'a> = (Option<&'a [u8]>, Statistic<&'a [u8]>);

fn judge(sides: [Bound<'_>; 3], show: impl Fn(&[u8]) -> String) -> Judged {
    // Where both are empty, neither is there.
    let same = |stored: &Bound<'_>, ours: &Bound<'_>| stored.0.unwrap_or_default() == ours.0.unwrap_or_default();
    judge_values(sides, same, |side| side.1.map(&show))
}

/// Judges a statistic as it is stored by what the visible cells give, and what all cells give.
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
        // A writer that met no such values stored what readers rely on: they came into the cells later.
        (
            theirs @ Statistic::Present(_),
            ours @ Statistic::Untrustworthy(_, Distrust::MayHideNan | Distrust::Saturated),
        ) => Judged::Wrong(differs(theirs, ours)),
        // Whoever counted the cells that can't be seen as well was right above.
        (_, Statistic::Untrustworthy(_, distrust)) if distrust != Distrust::EdgeTile => Judged::Known(distrust),
        (Statistic::Absent, Statistic::Absent) => Judged::Same,
        (theirs, ours) => Judged::Wrong(differs(theirs, ours)),
    }
}

fn differs<U: std::fmt::Display>(theirs: Statistic<U>, ours: Statistic<U>) -> String {
    let show = |statistic: Statistic<U>| statistic.stored().map_or("none".to_owned(), |value| value.to_string());
    format!("stored is {}, but the cells give {}", show(theirs), show(ours))
}

/// Floats of dense tiles may have been added up in another order than they lie in; how far apart the sums may be then
/// depends on how many there are.
fn judge_sum(sides: &[(Option<u64>, Statistic<Sum>); 3], tiles: &Tiles) -> Option<Judged> {
    let Some(Sum::F64(stored)) = sides[0].1.stored() else { return None };
    // Which bits a sum has that is no number depends on the processor, and on what was added first.
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

/// How far apart two sums of the same floats may be, as a part of the sum.
const ROUNDING: f64 = 1e-13;

/// What differs as is known of some writers, once for each reason.
#[derive(Default)]
struct Notes(Vec<KnownQuirk>);

struct KnownQuirk {
    kind: FindingKind,
    distrust: Distrust,
    tiles: u64,
    totals: bool,
}

impl Notes {
    fn add(&mut self, kind: FindingKind, tile: Option<u64>, distrust: Distrust) {
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
            (0, _) => "of all tiles together".to_owned(),
            (tiles, false) => format!("of {tiles} tiles"),
            (tiles, true) => format!("of {tiles} tiles and of all together"),
        };
        let what =
            format!("not what the cells give, {what}; known of its writers ({}), and not relied on", self.distrust);
        Finding { severity: Severity::Note, ..Finding::wrong(self.kind, of.file.as_str(), what).of_field(&of.name) }
    }
}
