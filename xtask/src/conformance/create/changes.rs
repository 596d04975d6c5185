//! Arrays and groups that we change beside those that the reference library changes: it must read the same from both.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_array::{ArrayOptions, CreateOptions, Group, MetadataValue, Names, TimeRange};
use tdb_condition::{Condition, Operator};
use tdb_schema::SchemaEvolution;

use super::super::case::{Case, Step, seed_of};
use super::super::examine::set_key;
use super::super::ours::describe;
use super::super::random::Random;
use super::super::{Arguments, JOB_PATIENCE, generate, scratch_folder};
use super::{build, options};
use crate::model::{self, Bytes, Comparison, Evolution, GroupMember, MetadataEntry, ObjectKind};
use crate::reference::{Job, NEWEST, Reference};
use tdb_types::Datatype;

/// Cases, unless told otherwise.
const CASES: u64 = 500;

#[derive(Default)]
struct Tally {
    arrays: u64,
    groups: u64,
    evolutions: u64,
    deletes: u64,
    metadata: u64,
    reads: u64,
    refused_by_both: u64,
    left_out: u64,
    failed: u64,
}

/// Changes arrays on both sides, and has the library read both.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut reference = Reference::start(NEWEST)?;
    for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
        reference.config().insert(setting.to_owned(), "1".to_owned());
    }
    reference.patience(JOB_PATIENCE);
    let (started, mut tally) = (Instant::now(), Tally::default());
    let cases = arguments.cases.unwrap_or(CASES);
    for index in arguments.case.map_or(0..cases, |case| case..case + 1) {
        let seed = seed_of(arguments.seed ^ 0xc4a9_6e00, index);
        let case = generate::case(seed);
        let folder = tempfile::tempdir_in(scratch_folder())?;
        set_key(&mut reference, case.encrypted);
        let result = array(&case, seed, &mut reference, folder.path(), &mut tally).and_then(|()| {
            if index % 10 == 0 { group(seed, &mut reference, folder.path(), &mut tally) } else { Ok(()) }
        });
        if let Err(detail) = result {
            tally.failed += 1;
            println!("\nFAILED: replay with --change --seed {} --case {index}\n{detail}", arguments.seed);
            if tally.failed >= arguments.failures as u64 {
                break;
            }
        }
    }
    let Tally { arrays, groups, evolutions, deletes, metadata, reads, refused_by_both, left_out, failed } = tally;
    println!(
        "{arrays} arrays and {groups} groups changed alike: {evolutions} evolutions, {deletes} deletes, {metadata} changes of metadata; {reads} reads by the library agreed, {refused_by_both} changes refused by both, {left_out} arrays left out, {failed} differences, in {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    if failed > 0 { Err(format!("{failed} differences").into()) } else { Ok(()) }
}

fn array(case: &Case, seed: u64, reference: &mut Reference, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let uris = ["theirs", "ours"].map(|name| folder.join(name).to_string_lossy().into_owned());
    let [theirs, ours] = &uris;
    if reference.create(theirs, &case.array).is_err() {
        tally.left_out += 1;
        return Ok(());
    }
    let definition = build::definition(&case.array).map_err(|error| describe(&error))?;
    options(case.encrypted).1.create(ours, &definition).map_err(|error| describe(&error))?;
    for step in &case.steps {
        let (their_result, our_result) = match step {
            Step::Evolve(evolution) => {
                tally.evolutions += 1;
                let made = evolve(ours, evolution, &case.array.dimensions, case.encrypted);
                (reference.evolve(theirs, evolution), made)
            }
            Step::Delete(condition, time) => {
                tally.deletes += 1;
                let deleted =
                    open(ours, case.encrypted)?.delete_cells(&condition_of(condition), &Names::new().at(*time));
                (reference.delete(theirs, condition, Some(*time)), deleted.map_err(|error| describe(&error)))
            }
            step => {
                let results = [theirs, ours].map(|uri| super::super::examine::carry_out(step, reference, uri));
                let [theirs, ours] = results;
                (theirs, ours.map_err(|error| error.to_string()))
            }
        };
        match (their_result, our_result) {
            (Ok(()), Ok(())) => {}
            // What the library can't do to its own array, nothing can be compared of.
            (Err(_), Err(_)) => {
                tally.refused_by_both += 1;
                return Ok(());
            }
            (Err(error), Ok(())) => return Err(format!("the library refuses what we do: {error} ({step:?})")),
            (Ok(()), Err(error)) => return Err(format!("we refuse what the library does: {error} ({step:?})")),
        }
    }
    metadata(case, seed, reference, &uris)?;
    tally.metadata += 1;
    for question in &case.questions {
        let read = uris.each_ref().map(|uri| reference.read(uri, &question.query).map_err(|error| error.to_string()));
        match &read {
            [Ok(theirs), Ok(ours)] if theirs == ours => tally.reads += 1,
            // Paths stand in messages.
            [Err(_), Err(_)] => tally.refused_by_both += 1,
            _ => return Err(format!("{:?}:\n{read:?}", question.query)),
        }
    }
    tally.arrays += 1;
    Ok(())
}

fn open(uri: &str, encrypted: bool) -> Result<tdb_array::Array, String> {
    let options: ArrayOptions = options(encrypted).0.between(TimeRange::ALL).threads(1);
    options.open(uri).map_err(|error| describe(&error))
}

fn evolve(uri: &str, spec: &Evolution, dimensions: &[model::DimensionSpec], encrypted: bool) -> Result<(), String> {
    let mut evolution = SchemaEvolution::new();
    for attribute in &spec.add_attributes {
        evolution = evolution.add_attribute(build::attribute(attribute));
    }
    for name in &spec.drop_attributes {
        evolution = evolution.drop_attribute(name);
    }
    for enumeration in &spec.add_enumerations {
        evolution = evolution.add_enumeration(build::enumeration(enumeration).map_err(|error| describe(&error))?);
    }
    for enumeration in &spec.extend_enumerations {
        evolution = evolution.extend_enumeration(&enumeration.name, build::enumeration_values(enumeration));
    }
    if let Some(ranges) = &spec.expand_current_domain {
        evolution = evolution.expand_current_domain(build::current_domain(dimensions, ranges));
    }
    let names = spec.timestamp.map_or_else(Names::new, |time| Names::new().at(time));
    open(uri, encrypted)?.evolve(&evolution, &names).map_err(|error| describe(&error))
}

/// The same condition, as we are told it.
fn condition_of(condition: &model::Condition) -> Condition {
    match condition {
        model::Condition::Compare { field, comparison, value: Some(value) } => {
            let operator = match comparison {
                Comparison::Less => Operator::Less,
                Comparison::LessOrEqual => Operator::LessOrEqual,
                Comparison::Greater => Operator::Greater,
                Comparison::GreaterOrEqual => Operator::GreaterOrEqual,
                Comparison::Equal => Operator::Equal,
                Comparison::NotEqual => Operator::NotEqual,
            };
            Condition::Compare { field: field.clone(), operator, value: value.0.clone() }
        }
        model::Condition::Compare { field, comparison, value: None } => {
            Condition::Null { field: field.clone(), negated: *comparison == Comparison::NotEqual }
        }
        model::Condition::Member { field, values, negated } => Condition::Member {
            field: field.clone(),
            negated: *negated,
            values: values.iter().map(|value| &value.0).collect(),
        },
        model::Condition::And(left, right) => condition_of(left).and(condition_of(right)),
        model::Condition::Or(left, right) => condition_of(left).or(condition_of(right)),
        model::Condition::Not(inner) => condition_of(inner).not(),
    }
}

/// Some keys with values of any type.
fn entries(random: &mut Random) -> Vec<MetadataEntry> {
    let count = random.between(1, 5);
    (0..count)
        .map(|index| {
            // The library has no metadata of any type at all.
            let datatype = *random.pick(Datatype::ALL);
            let datatype = if datatype == Datatype::Any { Datatype::Blob } else { datatype };
            let count = random.between(1, 4);
            let bytes = (0..count * datatype.size()).map(|_| random.below(256) as u8).collect();
            let key = if random.percent(10) { format!("k é {index}") } else { format!("k{index}") };
            MetadataEntry { key, datatype, count: count as u32, value: Bytes(bytes) }
        })
        .collect()
}

fn value(entry: &MetadataEntry) -> Result<MetadataValue, String> {
    MetadataValue::new(entry.datatype, entry.value.0.clone()).map_err(|error| error.to_string())
}

fn metadata(case: &Case, seed: u64, reference: &mut Reference, uris: &[String; 2]) -> Result<(), String> {
    let random = &mut Random::new(!seed);
    for time in 0..random.between(1, 3) as u64 {
        let time = 1_700_000_500_000 + 10 * time;
        let put = entries(random);
        let delete = random.subset(&put, 30).into_iter().map(|entry| entry.key).collect::<Vec<_>>();
        let job = Job::ChangeMetadata {
            uri: uris[0].clone(),
            put: put.clone(),
            delete: delete.clone(),
            timestamp: Some(time),
        };
        reference.done(job).map_err(|error| error.to_string())?;
        let mut writer = open(&uris[1], case.encrypted)?.write_metadata().names(Names::new().at(time));
        for entry in &put {
            writer = writer.put(entry.key.as_str(), value(entry)?);
        }
        for key in delete {
            writer = writer.delete(key);
        }
        writer.commit().map_err(|error| describe(&error))?;
    }
    let folders = uris.each_ref().map(|uri| super::tree(&Path::new(uri).join("__meta"), case.encrypted));
    if folders[0] != folders[1] {
        return Err(format!("other files of metadata: {folders:?}"));
    }
    let read = uris.each_ref().map(|uri| reference.metadata(uri, None).map_err(|error| error.to_string()));
    if read[0] == read[1] && read[0].is_ok() { Ok(()) } else { Err(format!("other metadata: {read:?}")) }
}

/// A group with members that come and go, and metadata.
fn group(seed: u64, reference: &mut Reference, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    set_key(reference, false);
    let random = &mut Random::new(seed);
    let path = folder.join("group");
    let ours = |error: tdb_array::ArrayError| describe(&error);
    CreateOptions::new().create_group(&path).map_err(ours)?;
    let count = random.between(1, 5);
    for index in 0..count {
        CreateOptions::new().create_group(path.join(format!("m{index}"))).map_err(ours)?;
        let open = Group::open(&path).map_err(ours)?;
        let (name, uri) = (format!("n{index}"), format!("m{index}"));
        let absolute = random.percent(30);
        let uri = if absolute { path.join(&uri).to_string_lossy().into_owned() } else { uri };
        let name = random.percent(70).then_some(name);
        open.change().add(uri, !absolute, name.as_deref()).commit().map_err(ours)?;
    }
    // The library goes on with what we made, and we with what it made.
    let group = Group::open(&path).map_err(ours)?;
    let gone = group.members().first().map(|member| member.key().to_owned());
    if let Some(gone) = gone.filter(|_| random.percent(50)) {
        group.change().remove(gone).commit().map_err(ours)?;
    }
    let uri = path.to_string_lossy().into_owned();
    let by_library =
        GroupMember { uri: "m0".into(), name: Some("again".into()), kind: ObjectKind::Group, relative: true };
    let put = entries(random);
    let job = Job::ChangeGroup { uri: uri.clone(), add: vec![by_library], remove: Vec::new(), put, delete: Vec::new() };
    reference.done(job).map_err(|error| error.to_string())?;
    // Names of one millisecond by different libraries are in no order.
    std::thread::sleep(std::time::Duration::from_millis(2));
    let entry = MetadataEntry { key: "k0".into(), datatype: Datatype::Int8, count: 1, value: Bytes(vec![7]) };
    let group = Group::open(&path).map_err(ours)?;
    group.write_metadata().put("k0", value(&entry)?).delete("k1").commit().map_err(ours)?;
    let group = Group::open(&path).map_err(ours)?;
    let told = reference.describe_group(&uri).map_err(|error| error.to_string())?;
    let mut theirs: Vec<_> = told.members.iter().map(|member| (member.uri.clone(), member.name.clone())).collect();
    let whole = |member: &tdb_array::Member| match member.relative {
        true => format!("file://{uri}/{}", member.uri),
        false => member.uri.clone(),
    };
    let mut own: Vec<_> = group.members().iter().map(|member| (whole(member), member.name.clone())).collect();
    theirs.sort();
    own.sort();
    let own_metadata: Vec<_> = group.metadata().map_err(ours)?.iter().map(|(key, _)| key.into_owned()).collect();
    let their_metadata: Vec<_> = told.metadata.iter().map(|entry| entry.key.clone()).collect();
    if theirs != own || own_metadata != their_metadata || !told.metadata.contains(&entry) {
        return Err(format!("groups:\n theirs {told:?}\n ours   {own:?} {own_metadata:?}"));
    }
    tally.groups += 1;
    Ok(())
}
