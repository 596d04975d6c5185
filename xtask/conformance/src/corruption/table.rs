//! The table of results of all alterations.

use std::collections::BTreeMap;
use std::fmt;

use tdb_corruption::Class;

use super::judge::{KINDS, Reading};

/// Results of both sides by class of alteration.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<Class, Row>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    made: usize,
    found: usize,
    ours: [usize; KINDS],
    theirs: [usize; KINDS],
    /// Number of alterations of fixtures that the library cannot read even undamaged.
    left_out: usize,
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.made += other.made;
        self.found += other.found;
        self.left_out += other.left_out;
        for (mine, more) in [(&mut self.ours, other.ours), (&mut self.theirs, other.theirs)] {
            mine.iter_mut().zip(more).for_each(|(mine, more)| *mine += more);
        }
    }
}

impl Table {
    pub(super) fn count(&mut self, class: Class, is_found: bool, ours: &Reading, theirs: Option<&Reading>) {
        let row = self.rows.entry(class).or_default();
        row.made += 1;
        row.found += usize::from(is_found);
        row.ours[ours.kind()] += 1;
        match theirs {
            Some(theirs) => row.theirs[theirs.kind()] += 1,
            None => row.left_out += 1,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        for (class, row) in other.rows {
            self.rows.entry(class).or_default().add(&row);
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Row::default();
        self.rows.values().for_each(|row| all.add(row));
        writeln!(f, "{} alterations; {} of fixtures that the library cannot read", all.made, all.left_out)?;
        writeln!(
            f,
            "| effect of the alteration | alterations | detected | tdb: error | silent | library: error | silent | crash | hang | memory | unchanged |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
        let rows = self.rows.iter().map(|(class, row)| (class.text(), row));
        for (text, row) in rows.chain([("all", &all)]) {
            let share = 100.0 * row.found as f64 / row.made.max(1) as f64;
            write!(f, "| {text} | {} | {} ({share:.1} %) | {} | {} |", row.made, row.found, row.ours[0], row.ours[1])?;
            let theirs: Vec<String> = row.theirs.iter().map(ToString::to_string).collect();
            writeln!(f, " {} |", theirs.join(" | "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tdb_corruption::Class;

    use super::{Reading, Table};

    #[test]
    fn table_prints_counts() {
        let mut table = Table::default();
        table.count(Class::Numbers, true, &Reading::Other, Some(&Reading::Other));
        table.count(Class::Numbers, false, &Reading::Refused(String::new()), Some(&Reading::Endless));
        let mut more = Table::default();
        more.count(Class::Nothing, false, &Reading::Same, None);
        table.add(more);
        let text = table.to_string();
        assert!(
            text.contains("| changed cells of fields with sums | 2 | 1 (50.0 %) | 1 | 1 | 0 | 1 | 0 | 1 | 0 | 0 |"),
            "{text}"
        );
        assert!(text.contains("3 alterations; 1 of fixtures"), "{text}");
    }
}
