//! Facts about fragments, known without reading cells.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tdb_array::tdb_rtree::NdRange;
use tdb_array::tdb_schema::{ArraySchema, Attribute};
use tdb_array::{Array, Fragment};
use tdb_types::TimestampedName;

use tdb_job::Result;

/// The facts about a committed, visible fragment, or the expected facts about a planned fragment.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) name: TimestampedName,
    /// Path of the folder. Empty for a planned fragment.
    pub(super) folder: String,
    pub(super) bytes: u64,
    /// The MBR of all cells. `None` if the fragment has no cells.
    pub(super) domain: Option<NdRange>,
    /// `true` if cells have timestamps.
    pub(super) has_times: bool,
    /// Names of attributes that were dropped or redefined in the array's schema. After a
    /// consolidation, readers of earlier times would see other values of these attributes.
    pub(super) dropped: Vec<String>,
}

impl Facts {
    /// Collects the facts about a fragment. `refilled` lists the attributes whose fill value has
    /// changed.
    fn of(array: &Array, fragment: &Fragment, refilled: &BTreeSet<String>) -> Result<Self> {
        let own = fragment.schema().attributes();
        let is_lost = |own: &&Attribute| {
            attribute(array.schema(), own.name()).is_none_or(|known| {
                let is_same_type = (known.datatype(), known.cell_val_num()) == (own.datatype(), own.cell_val_num());
                // If the current attribute is not nullable, nulls would become values.
                !is_same_type || own.is_nullable() && !known.is_nullable()
            })
        };
        let lost = own.iter().filter(is_lost).map(|attribute| attribute.name().to_owned());
        let lacks = |name: &&String| attribute(fragment.schema(), name).is_none();
        let dropped = lost.chain(refilled.iter().filter(lacks).cloned()).collect();
        Ok(Self {
            name: fragment.name().clone(),
            folder: fragment.folder().to_owned(),
            bytes: fragment.bytes()?,
            domain: fragment.bounds().map(Cow::into_owned),
            has_times: fragment.footer().header().has_timestamps,
            dropped,
        })
    }

    /// Collects the facts about all fragments, oldest first.
    pub(super) fn of_all(array: &Array) -> Result<Vec<Self>> {
        let refilled = refilled(array)?;
        array.fragments()?.iter().map(|fragment| Self::of(array, fragment, &refilled)).collect()
    }

    /// Returns `true` if the fragment has a time range and no cell timestamps.
    pub(super) fn is_undated(&self) -> bool {
        !self.has_times && self.name.start() < self.name.end()
    }

    /// Returns `true` if the MBRs intersect.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.domain.as_ref().zip(other.domain.as_ref()).is_some_and(|(own, other)| own.intersects(other))
    }

    /// Returns the expected facts about the fragment that a step will write. `number` makes the
    /// placeholder name unique. Returns `None` if there are no fragments.
    pub(super) fn joined(some: &[&Self], number: usize) -> Option<Self> {
        let first = some.first()?;
        let last = some.iter().max_by_key(|facts| facts.name.end())?;
        let start = some.iter().map(|facts| facts.name.start()).min()?;
        Some(Self {
            name: TimestampedName::new(first.name.form(), start, last.name.end(), (number as u128) << 64),
            folder: String::new(),
            bytes: some.iter().map(|facts| facts.bytes).fold(0, u64::saturating_add),
            domain: union(some.iter().filter_map(|facts| facts.domain.as_ref())),
            has_times: true,
            dropped: Vec::new(),
        })
    }
}

fn attribute<'a>(schema: &'a ArraySchema, name: &str) -> Option<&'a Attribute> {
    schema.attributes().iter().find(|attribute| attribute.name() == name)
}

/// Returns the attributes of the current schema that have another fill value in an earlier schema.
fn refilled(array: &Array) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let fill = |attribute: &Attribute| {
        (attribute.fill_value().into_owned(), attribute.is_nullable() && !attribute.fill_valid())
    };
    for path in array.schema_paths().iter().filter(|path| *path != array.schema_path()) {
        let earlier = array.schema_at(path)?;
        let is_other =
            |own: &&Attribute| attribute(&earlier, own.name()).is_some_and(|earlier| fill(earlier) != fill(own));
        names.extend(array.schema().attributes().iter().filter(is_other).map(|own| own.name().to_owned()));
    }
    Ok(names)
}

/// Returns the MBR of all subarrays, or `None` if there are none.
pub(super) fn union<'d>(domains: impl IntoIterator<Item = &'d NdRange>) -> Option<NdRange> {
    let mut domains = domains.into_iter();
    let mut union = domains.next()?.clone();
    domains.for_each(|domain| union.expand(domain));
    Some(union)
}

/// Collects the names of fragments, for lookups.
pub(super) fn names_of<'f>(facts: impl IntoIterator<Item = &'f Facts>) -> BTreeSet<&'f str> {
    facts.into_iter().map(|facts| facts.name.as_str()).collect()
}
