//! Random aggregates.

use tdb_types::Datatype;

use super::super::case::Case;
use super::super::random::Random;
use super::super::values::Kind;
use tdb_reference::model::{AggregateFunction, AggregateSpec};

/// Aggregate functions with a field.
const FUNCTIONS: [AggregateFunction; 5] = [
    AggregateFunction::Sum,
    AggregateFunction::Min,
    AggregateFunction::Max,
    AggregateFunction::Mean,
    AggregateFunction::NullCount,
];

/// Gives each question a random subset of the supported aggregates.
pub fn ask(random: &mut Random, case: &mut Case) {
    let attributes = case.final_attributes();
    // Time travel may select an older schema with other attributes.
    let evolved = attributes != case.array.attributes;
    let all = candidates(case, true);
    let of_dimensions = candidates(case, false);
    for question in &mut case.questions {
        let known = if evolved && question.query.timestamps.is_some() { &of_dimensions } else { &all };
        let percent = *random.pick(&[0, 10, 30, 60, 100]);
        let mut some = random.subset(known, percent);
        // A single aggregate can sometimes be answered from metadata when several cannot.
        if random.percent(30) {
            some = vec![random.pick(known).clone()];
        }
        random.shuffle(&mut some);
        question.aggregates = some;
    }
}

fn candidates(case: &Case, with_attributes: bool) -> Vec<AggregateSpec> {
    let attributes = if with_attributes { case.final_attributes() } else { Vec::new() };
    let attributes = attributes.iter().map(|attribute| (attribute.name.clone(), Kind::of_attribute(attribute)));
    let dimensions = case.array.dimensions.iter();
    let dimensions = dimensions.map(|dimension| (dimension.name.clone(), Kind::of_dimension(dimension)));
    let of_field = |(name, kind): (String, Kind)| {
        let has = FUNCTIONS.into_iter().filter(move |function| kind.has(*function));
        has.map(move |function| AggregateSpec::of(function, &name)).collect::<Vec<_>>()
    };
    let of_fields = dimensions.chain(attributes).flat_map(of_field);
    std::iter::once(AggregateSpec::count()).chain(of_fields).collect()
}

/// `true` if the library supports the aggregate for this kind of cells.
pub fn is_theirs(function: AggregateFunction, kind: &Kind) -> bool {
    match function {
        AggregateFunction::Count => true,
        AggregateFunction::NullCount => kind.nullable,
        AggregateFunction::Min | AggregateFunction::Max if kind.datatype == Datatype::StringAscii => {
            // The library refuses the minimum and maximum of single characters with any buffer
            // size.
            kind.cell_val_num != Some(1)
        }
        _ => kind.is_number() && kind.datatype != Datatype::Bool,
    }
}
