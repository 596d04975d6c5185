//! Statistics about the features of the cases.

use std::collections::BTreeMap;

use tdb_types::ArrayType;

use super::case::{Case, Step};
use super::overhang;
use super::selection::{Form, Interval, Selection};
use tdb_reference::model::Pipeline;

/// Number of occurrences by category and name.
#[derive(Debug, Default)]
pub struct Coverage(BTreeMap<&'static str, BTreeMap<String, u64>>);

impl Coverage {
    pub fn count(&mut self, kind: &'static str, name: impl Into<String>) {
        *self.0.entry(kind).or_default().entry(name.into()).or_default() += 1;
    }

    pub fn merge(&mut self, other: Self) {
        for (kind, counts) in other.0 {
            for (name, count) in counts {
                *self.0.entry(kind).or_default().entry(name).or_default() += count;
            }
        }
    }

    /// Counts the features that are present.
    fn features(&mut self, features: &[(&str, bool)]) {
        features.iter().filter(|(_, has)| *has).for_each(|(feature, _)| self.count("features", *feature));
    }

    /// Counts the features of a case on which both sides agree.
    pub fn case(&mut self, case: &Case) {
        let array = &case.array;
        self.count("arrays", format!("{}, {} dimensions", array.array_type.name(), array.dimensions.len()));
        self.count("orders", format!("tiles {}, cells {}", array.tile_order.name(), array.cell_order.name()));
        let is_beyond = overhang::is_beyond(array);
        self.features(&[
            ("duplicates allowed", array.allows_dups),
            ("encrypted", case.encrypted),
            ("unsorted cells", case.disordered),
            ("equal coordinates in one fragment, without duplicates allowed", case.repeated),
            ("current domain", array.current_domain.is_some()),
            ("dense last tile that ends with the datatype or beyond", is_beyond),
            ("cells in such a last tile", is_beyond && overhang::is_written(case)),
        ]);
        for dimension in &array.dimensions {
            let kind = if array.array_type == ArrayType::Dense { "dense dimensions" } else { "sparse dimensions" };
            self.count(kind, dimension.datatype.name());
            self.pipeline("filters of dimensions", &dimension.filters);
        }
        for (kind, pipeline) in [
            ("filters of coordinates", &array.coords_filters),
            ("filters of offsets", &array.offsets_filters),
            ("filters of validity", &array.validity_filters),
        ] {
            pipeline.iter().for_each(|pipeline| self.pipeline(kind, pipeline));
        }
        for attribute in &array.attributes {
            self.count("attributes", attribute.datatype.name());
            let number = match attribute.cell_val_num {
                None => "variable",
                Some(1) => "one value",
                Some(_) => "several values",
            };
            self.count("cells of attributes", number);
            self.features(&[
                ("nullable", attribute.nullable),
                ("fill value", attribute.fill.is_some()),
                ("enumeration", attribute.enumeration.is_some()),
                ("anonymous attribute", attribute.name.is_empty()),
            ]);
            self.pipeline("filters of attributes", &attribute.filters);
        }
        self.count("attributes per array", array.attributes.len().to_string());
        self.steps(case);
        for question in &case.questions {
            self.count("reads", format!("{} {}", array.array_type.name(), question.query.layout.name()));
            let ranges: usize = question.query.ranges.iter().map(|ranges| ranges.ranges.len()).sum();
            self.count("ranges per read", if ranges > 6 { "more".to_owned() } else { ranges.to_string() });
            self.selection(&question.selection);
            for aggregate in &question.aggregates {
                let name = aggregate.to_string();
                self.count("aggregates", name.split('(').next().unwrap_or_default());
            }
            self.features(&[("time travel", question.query.timestamps.is_some())]);
        }
    }

    fn selection(&mut self, selection: &Selection) {
        let some = |count: usize| match count {
            0 => "none",
            1 => "one",
            2..=20 => "several",
            _ => "many",
        };
        if let Some(points) = &selection.points {
            self.count("selections", format!("{} points", some(points.len())));
        }
        if let Some(boxes) = &selection.boxes {
            self.count("selections", format!("{} boxes", some(boxes.len())));
        }
        for Form { interval, .. } in &selection.forms {
            let is_prefix = matches!(interval, Interval::Prefix(_));
            self.count("selections", if is_prefix { "prefixes" } else { "ranges in other forms" });
        }
        if selection.outside.is_some() {
            self.count("selections", "points outside of the domain");
        }
    }

    fn steps(&mut self, case: &Case) {
        self.count("writes per array", case.writes().count().to_string());
        for step in &case.steps {
            match step {
                Step::Write(write) => {
                    self.count("writes", format!("{} {}", case.array.array_type.name(), write.layout.name()));
                }
                Step::Evolve(_) => self.count("features", "schema evolution"),
                Step::Delete(..) => self.count("features", "deletion by a condition"),
                Step::Consolidate(mode) => self.count("features", format!("consolidation of {mode}")),
                Step::Vacuum(mode) => self.count("features", format!("vacuum of {mode}")),
            }
        }
    }

    fn pipeline(&mut self, kind: &'static str, pipeline: &Pipeline) {
        for filter in &pipeline.filters {
            let name = format!("{filter:?}");
            let name = name.split([' ', '{']).next().unwrap_or_default().to_lowercase();
            self.count(kind, name);
        }
    }

    /// Formats one line per category.
    pub fn text(&self) -> String {
        let line = |(kind, counts): (&&str, &BTreeMap<String, u64>)| {
            let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
            format!("{kind}: {}\n", counts.join("; "))
        };
        self.0.iter().map(line).collect()
    }
}
