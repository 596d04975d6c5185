//! The `u64` lists of the footer, as one table that the reader, the writer and the size computation iterate alike.

use tdb_types::{ByteReader, ByteWriter, Feature, FormatVersion, Result};

use crate::field::{FieldSlots, FragmentField};

/// How many numbers a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// One.
    One,
    /// One per field.
    PerField,
    /// One per field that may have variable-size data: per attribute while coordinates are combined, else per field.
    PerVarField,
}

/// A row of the table: which versions have the list, and how many numbers it has.
#[derive(Clone, Copy, Debug)]
struct Row {
    list: List,
    name: &'static str,
    /// The list is there if the version has this; always, if nothing is said.
    gate: Option<Feature>,
    count: Count,
}

macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident: $name:literal, $gate:expr, $count:ident;)*) => {
        /// A list of `u64` in the footer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum List { $($(#[$doc])* $list,)* }

        /// The lists in the order in which the footer has them.
        const ROWS: &[Row] = &[$(Row { list: List::$list, name: $name, gate: $gate, count: Count::$count }),*];
    };
}

lists! {
    /// Sizes of the data files with fixed-size cells or offsets.
    FileSizes: "file size", None, PerField;
    /// Sizes of the data files with variable-size values.
    FileVarSizes: "file var size", None, PerVarField;
    /// Sizes of the data files with validity.
    FileValiditySizes: "file validity size", Some(Feature::Validity), PerField;
    /// Where the R-tree is.
    RTree: "R-tree offset", Some(Feature::FragmentFooter), One;
    /// Where the tile offsets are.
    TileOffsets: "tile offsets offset", Some(Feature::FragmentFooter), PerField;
    /// Where the offsets of tiles of variable-size values are.
    TileVarOffsets: "tile var offsets offset", Some(Feature::FragmentFooter), PerVarField;
    /// Where the unfiltered sizes of tiles of variable-size values are.
    TileVarSizes: "tile var sizes offset", Some(Feature::FragmentFooter), PerVarField;
    /// Where the offsets of validity tiles are.
    TileValidityOffsets: "tile validity offsets offset", Some(Feature::Validity), PerField;
    /// Where the least values of tiles are.
    TileMins: "tile mins offset", Some(Feature::TileStatistics), PerField;
    /// Where the greatest values of tiles are.
    TileMaxs: "tile maxs offset", Some(Feature::TileStatistics), PerField;
    /// Where the sums of tiles are.
    TileSums: "tile sums offset", Some(Feature::TileStatistics), PerField;
    /// Where the null counts of tiles are.
    TileNullCounts: "tile null counts offset", Some(Feature::TileStatistics), PerField;
    /// Where the statistics of the whole fragment are.
    FragmentStatistics: "fragment statistics offset", Some(Feature::FragmentStatistics), One;
    /// Where the conditions are that were applied already.
    ProcessedConditions: "processed conditions offset", Some(Feature::ProcessedConditions), One;
}

impl List {
    /// Every list, in the order in which the footer has them.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ROWS.iter().map(|row| row.list)
    }

    /// What one number of the list is.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// How many numbers the list has in a fragment of `version` with these fields; 0 if the version lacks it.
    #[must_use]
    pub fn len_in(self, version: FormatVersion, slots: &FieldSlots) -> usize {
        self.row().len(version, slots)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

impl Row {
    fn len(&self, version: FormatVersion, slots: &FieldSlots) -> usize {
        if self.gate.is_some_and(|feature| !version.has(feature)) {
            return 0;
        }
        match self.count {
            Count::One => 1,
            Count::PerField => slots.len(),
            Count::PerVarField => slots.var_len(),
        }
    }
}

/// The values of all lists of one footer, in one allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    values: Vec<u64>,
    /// Where each list begins in `values`, and where the last one ends.
    starts: [usize; ROWS.len() + 1],
}

impl Lists {
    /// All lists that `version` has, of zeros.
    #[must_use]
    pub fn zeroed(version: FormatVersion, slots: &FieldSlots) -> Self {
        let starts = starts(version, slots);
        Self { values: vec![0; starts[ROWS.len()]], starts }
    }

    /// Bytes that the lists take in a footer.
    #[must_use]
    pub fn serialised_len(version: FormatVersion, slots: &FieldSlots) -> u64 {
        8 * starts(version, slots)[ROWS.len()] as u64
    }

    /// Reads the lists; `explain` names a field for the record of spans.
    ///
    /// # Errors
    /// Truncated.
    pub fn parse(
        reader: &mut ByteReader<'_>,
        version: FormatVersion,
        slots: &FieldSlots,
        explain: impl Fn(FragmentField) -> String,
    ) -> Result<Self> {
        let starts = starts(version, slots);
        if reader.spans().is_none() {
            // Nobody wants to know the single numbers: all of them in one go.
            return Ok(Self { values: reader.u64_list("footer lists", starts[ROWS.len()] as u64)?, starts });
        }
        let mut values = Vec::new();
        for row in ROWS {
            for slot in 0..row.len(version, slots) {
                values.push(reader.u64(row.name)?);
                if let (true, Some(field)) = (row.count != Count::One, slots.field(slot)) {
                    reader.explain(|| explain(field));
                }
            }
        }
        Ok(Self { values, starts })
    }

    /// Writes the lists.
    pub fn write(&self, writer: &mut ByteWriter) {
        writer.u64_list(&self.values);
    }

    /// The values of a list; empty if the version lacks it.
    #[must_use]
    pub fn get(&self, list: List) -> &[u64] {
        let index = list as usize;
        &self.values[self.starts[index]..self.starts[index + 1]]
    }

    /// The values of a list, to be changed; their number is fixed.
    pub fn get_mut(&mut self, list: List) -> &mut [u64] {
        let index = list as usize;
        &mut self.values[self.starts[index]..self.starts[index + 1]]
    }

    /// How many numbers all lists have together.
    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Whether these are as many numbers as a fragment of `version` with these fields has.
    pub(crate) fn fit(&self, version: FormatVersion, slots: &FieldSlots) -> bool {
        self.starts == starts(version, slots)
    }
}

fn starts(version: FormatVersion, slots: &FieldSlots) -> [usize; ROWS.len() + 1] {
    let mut starts = [0; ROWS.len() + 1];
    for (index, row) in ROWS.iter().enumerate() {
        starts[index + 1] = starts[index] + row.len(version, slots);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of `u64` in the lists, as the format's description gives it for each family of versions.
    #[test]
    fn sizes() {
        let (a, d) = (3u64, 2u64);
        for version in FormatVersion::all() {
            let slots = FieldSlots::new(version, 3, 2, false, false);
            let n = a + 1 + d;
            let expected = match version.number() {
                1 | 2 => (a + 1) + a,
                3 | 4 => (a + 1) + a + 1 + (a + 1) + a + a,
                5 | 6 => 2 * n + 1 + 3 * n,
                7..=10 => 3 * n + 1 + 4 * n,
                11 => 3 * n + 1 + 8 * n,
                12..=15 => 3 * n + 1 + 8 * n + 1,
                _ => 3 * n + 1 + 8 * n + 2,
            };
            assert_eq!(Lists::serialised_len(version, &slots), 8 * expected, "version {version}");
        }
    }

    #[test]
    fn table() {
        let lines = ROWS.iter().map(|row| {
            let since = row.gate.map_or(1, |feature| feature.row().since);
            format!("{since:>2} {:<11} {}", format!("{:?}", row.count), row.name)
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn rows_stand_where_their_list_looks_for_them() {
        assert!(ROWS.iter().enumerate().all(|(index, row)| row.list as usize == index));
    }
}
