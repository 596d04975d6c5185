//! The `u64` lists of the footer, as a table shared by the reader, the writer and the size
//! computation.

use tdb_types::{ByteReader, ByteWriter, Feature, FormatVersion, Result};

use crate::field::{FieldSlots, FragmentField};

/// The number of values in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// A single value.
    One,
    /// A value per field.
    PerField,
    /// A value per field that may have variable-size data: per attribute with combined coordinates,
    /// else per field.
    PerVarField,
}

/// A row of the table: a list, its versions, and its length.
#[derive(Clone, Copy, Debug)]
struct Row {
    list: List,
    name: &'static str,
    /// The feature that a version needs to have the list. `None` if all versions have it.
    gate: Option<Feature>,
    count: Count,
}

macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident: $name:literal, $gate:expr, $count:ident;)*) => {
        /// A list of `u64` in the footer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum List { $($(#[$doc])* $list,)* }

        /// The lists, in footer order.
        const ROWS: &[Row] = &[$(Row { list: List::$list, name: $name, gate: $gate, count: Count::$count }),*];
    };
}

lists! {
    /// Sizes of the data files of fixed-size cells or offsets.
    FileSizes: "file size", None, PerField;
    /// Sizes of the data files of variable-size values.
    FileVarSizes: "file var size", None, PerVarField;
    /// Sizes of the data files of validity.
    FileValiditySizes: "file validity size", Some(Feature::Validity), PerField;
    /// The offset of the section with the R-tree.
    RTree: "R-tree offset", Some(Feature::FragmentFooter), One;
    /// Offsets of the sections with tile offsets.
    TileOffsets: "tile offsets offset", Some(Feature::FragmentFooter), PerField;
    /// Offsets of the sections with tile offsets of variable-size values.
    TileVarOffsets: "tile var offsets offset", Some(Feature::FragmentFooter), PerVarField;
    /// Offsets of the sections with unfiltered tile sizes of variable-size values.
    TileVarSizes: "tile var sizes offset", Some(Feature::FragmentFooter), PerVarField;
    /// Offsets of the sections with tile offsets of validity.
    TileValidityOffsets: "tile validity offsets offset", Some(Feature::Validity), PerField;
    /// Offsets of the sections with tile minimums.
    TileMins: "tile mins offset", Some(Feature::TileStatistics), PerField;
    /// Offsets of the sections with tile maximums.
    TileMaxs: "tile maxs offset", Some(Feature::TileStatistics), PerField;
    /// Offsets of the sections with tile sums.
    TileSums: "tile sums offset", Some(Feature::TileStatistics), PerField;
    /// Offsets of the sections with tile null counts.
    TileNullCounts: "tile null counts offset", Some(Feature::TileStatistics), PerField;
    /// The offset of the section with the statistics of the whole fragment.
    FragmentStatistics: "fragment statistics offset", Some(Feature::FragmentStatistics), One;
    /// The offset of the section with the processed conditions.
    ProcessedConditions: "processed conditions offset", Some(Feature::ProcessedConditions), One;
}

impl List {
    /// Iterates over all lists, in footer order.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ROWS.iter().map(|row| row.list)
    }

    /// Returns the name of a value of the list.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the length of the list in a fragment of `version` with these fields, or 0 if the
    /// version lacks the list.
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

/// The values of all lists of a footer, in a single allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    values: Vec<u64>,
    /// The start of each list in `values`, and the end of the last list.
    starts: [usize; ROWS.len() + 1],
}

impl Lists {
    /// Creates the lists of `version`, filled with zeros.
    #[must_use]
    pub fn zeroed(version: FormatVersion, slots: &FieldSlots) -> Self {
        let starts = starts(version, slots);
        Self { values: vec![0; starts[ROWS.len()]], starts }
    }

    /// Returns the size of the lists in a footer, in bytes.
    #[must_use]
    pub fn serialized_len(version: FormatVersion, slots: &FieldSlots) -> u64 {
        8 * starts(version, slots)[ROWS.len()] as u64
    }

    /// Parses the lists. `explain` names a field for recorded spans.
    ///
    /// # Errors
    /// Fails if the bytes are truncated.
    pub fn parse(
        reader: &mut ByteReader<'_>,
        version: FormatVersion,
        slots: &FieldSlots,
        explain: impl Fn(FragmentField) -> String,
    ) -> Result<Self> {
        let starts = starts(version, slots);
        if reader.spans().is_none() {
            // Without recorded spans, all values can be read at once.
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

    /// Returns the values of a list. Empty if the version lacks the list.
    #[must_use]
    pub fn get(&self, list: List) -> &[u64] {
        let index = list as usize;
        &self.values[self.starts[index]..self.starts[index + 1]]
    }

    /// Returns the values of a list for modification. Empty if the version lacks the list.
    pub fn get_mut(&mut self, list: List) -> &mut [u64] {
        let index = list as usize;
        &mut self.values[self.starts[index]..self.starts[index + 1]]
    }

    /// Returns the total number of values.
    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns `true` if the lengths of the lists match a fragment of `version` with these fields.
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

    /// Compares the number of `u64` values with the format specification, for each family of
    /// versions.
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
            assert_eq!(Lists::serialized_len(version, &slots), 8 * expected, "version {version}");
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
    fn rows_are_indexed_by_their_list() {
        assert!(ROWS.iter().enumerate().all(|(index, row)| row.list as usize == index));
    }
}
