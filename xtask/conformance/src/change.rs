//! Arrays and groups that we change beside those that the reference library changes: it must read the same from both.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_array::{ArrayOptions, CreateOptions, Group, MetadataValue, Names, TimeRange};

use super::both_write::reading;
use super::case::{Case, Step, seed_of};
use super::compare::difference;
use super::create::options;
use super::examine::{compare_cells, read_again, settled, with_coordinates};
use super::ours::{self, Manner, describe};
use super::overhang;
use super::random::Random;
use super::writer::{carry_out, set_key};
use super::{Arguments, JOB_PATIENCE, defects, generate, print, scratch_folder};
use tdb_reference::model::{Bytes, GroupMember, MetadataEntry, ObjectKind};
use tdb_reference::{Job, NEWEST, Reference};
use tdb_types::{Datatype, FormatVersion, Layout};

/// Cases, unless told otherwise.
const CASES: u64 = 500;

#[derive(Default)]
struct Tally {
    arrays: u64,
    groups: u64,
    evolutions: u64,
    /// Of encrypted arrays.
    encrypted: u64,
    /// Of enumerations.
    extensions: u64,
    /// Of current domains.
    expansions: u64,
    deletes: u64,
    metadata: u64,
    reads: u64,
    /// Those that we did too.
    own_reads: u64,
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
        let mut case = generate::changed(seed);
        // Tiles that end with the datatype or beyond can't be read by the library.
        if overhang::is_beyond(&case.array) {
            continue;
        }
        if case.array.cell_order == Layout::Hilbert {
            super::create::state_extents(&mut case.array);
        }
        let folder = tempfile::tempdir_in(scratch_folder())?;
        if arguments.case.is_some() {
            println!("{}", print::case(&case, None));
        }
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
    let Tally { arrays, groups, evolutions, encrypted, extensions, expansions, deletes, metadata, .. } = tally;
    let Tally { reads, own_reads, refused_by_both, left_out, failed, .. } = tally;
    println!(
        "{evolutions} evolutions, {encrypted} of them of encrypted arrays, {extensions} of enumerations, {expansions} of current domains; {deletes} deletes, {metadata} changes of metadata"
    );
    println!(
        "{arrays} arrays and {groups} groups changed alike: {reads} reads by the library agreed, {own_reads} of them with ours; {refused_by_both} changes refused by both, {left_out} arrays left out, {failed} differences, in {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    if failed > 0 { Err(format!("{failed} differences").into()) } else { Ok(()) }
}

/// The array of a case by both sides. Of encrypted arrays that evolve the library's is not encrypted: it couldn't read it.
struct Sides<'a> {
    case: &'a Case,
    reference: &'a mut Reference,
    theirs: String,
    ours: String,
    /// Whether the library's array is encrypted.
    encrypted: bool,
}

impl Sides<'_> {
    /// Has the library work on its own array from now on.
    fn on_theirs(&mut self) -> &mut Reference {
        set_key(self.reference, self.encrypted);
        self.reference
    }

    /// Has the library work on our array from now on.
    fn on_ours(&mut self) -> &mut Reference {
        set_key(self.reference, self.case.encrypted);
        self.reference
    }

    /// Has both sides do a step.
    fn carry_out(&mut self, step: &Step) -> [Result<(), String>; 2] {
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        let by_library = carry_out(step, self.on_theirs(), &theirs).map_err(|error| error.to_string());
        let own = match step {
            Step::Evolve(_) | Step::Delete(..) => ours::carry_out(step, self.case, &ours, Manner::by(0)),
            _ => carry_out(step, self.on_ours(), &ours).map_err(|error| error.to_string()),
        };
        [by_library, own]
    }

    /// Whether the files of enumerations say the same, and the schemas.
    fn compare_schemas(&self) -> Result<(), String> {
        let files =
            |uri: &str, encrypted| super::create::tree(&Path::new(uri).join("__schema/__enumerations"), encrypted);
        let (theirs, ours) = (files(&self.theirs, self.encrypted)?, files(&self.ours, self.case.encrypted)?);
        if theirs != ours {
            return Err(format!("other enumerations:\n theirs {theirs:02x?}\n ours   {ours:02x?}"));
        }
        let [theirs, ours] = [open(&self.theirs, self.encrypted)?, open(&self.ours, self.case.encrypted)?];
        let (theirs, ours) = (theirs.schema(), ours.schema());
        let alike = theirs.attributes() == ours.attributes()
            && theirs.current_domain() == ours.current_domain()
            && theirs.version() == ours.version();
        // The library gives dimensions without filters those of the coordinates as their own.
        if alike { Ok(()) } else { Err(format!("other schemas:\n theirs {theirs:#?}\n ours   {ours:#?}")) }
    }

    /// Has the library read both, and us ours.
    fn compare_reads(&mut self, tally: &mut Tally) -> Result<(), String> {
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        let (before, after) = (self.case, &as_it_became(self.case));
        for question in &before.questions {
            // All schemas are younger than what questions of the past see, and then the first one counts.
            let is_past = question.query.timestamps.is_some_and(|(_, end)| end < generate::AFTER_ALL);
            let case = if is_past { before } else { after };
            let query = with_coordinates(case, question);
            let expected = read_again(self.on_theirs(), &theirs, &query).0;
            let got = read_again(self.on_ours(), &ours, &query).0;
            let (expected, got) = match (expected, got) {
                (Ok(expected), Ok(got)) => (expected, got),
                // Paths stand in messages.
                (Err(_), Err(_)) => {
                    tally.refused_by_both += 1;
                    continue;
                }
                other => return Err(format!("{query:?}:\n{other:?}")),
            };
            if let Some(detail) = difference(&expected, &reading(&got), &settled(case, question, &expected)) {
                return Err(format!("{query:?}:\n{detail}"));
            }
            tally.reads += 1;
            let known = defects::is_wrong(case, question).or_else(|| defects::lacks_cells(case, question, &expected));
            if known.is_none() {
                compare_cells(case, question, &ours, &expected).map_err(|failure| failure.detail)?;
                tally.own_reads += 1;
            }
        }
        Ok(())
    }
}

/// The case as questions see it: a current domain that became wider doesn't narrow them.
fn as_it_became(case: &Case) -> Case {
    let widens = |step: &Step| matches!(step, Step::Evolve(evolution) if evolution.expand_current_domain.is_some());
    let mut case = case.clone();
    if case.steps.iter().any(widens) {
        case.array.current_domain = None;
    }
    case
}

fn array(case: &Case, seed: u64, reference: &mut Reference, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let [theirs, ours] = ["theirs", "ours"].map(|name| folder.join(name).to_string_lossy().into_owned());
    let evolves = case.steps.iter().any(|step| matches!(step, Step::Evolve(_)));
    let mut sides = Sides { case, reference, theirs, ours, encrypted: case.encrypted && !evolves };
    let uri = sides.theirs.clone();
    if sides.on_theirs().create(&uri, &case.array).is_err() {
        tally.left_out += 1;
        return Ok(());
    }
    ours::create(&sides.ours, case, FormatVersion::DEFAULT)?;
    for step in &case.steps {
        match step {
            Step::Evolve(evolution) => {
                tally.evolutions += 1;
                tally.encrypted += u64::from(case.encrypted);
                tally.extensions += u64::from(!evolution.extend_enumerations.is_empty());
                tally.expansions += u64::from(evolution.expand_current_domain.is_some());
            }
            Step::Delete(..) => tally.deletes += 1,
            _ => {}
        }
        match sides.carry_out(step) {
            [Ok(()), Ok(())] => {}
            // What the library can't do to its own array, nothing can be compared of.
            [Err(_), Err(_)] => {
                tally.refused_by_both += 1;
                return Ok(());
            }
            // Of evolved arrays ours alone is encrypted; and a job may come to no end.
            [Ok(()), Err(error)] if is_theirs(case, step, &error) => {
                tally.left_out += 1;
                return Ok(());
            }
            [Err(error), Ok(())] => return Err(format!("the library refuses what we do: {error} ({step:?})")),
            [Ok(()), Err(error)] => return Err(format!("we refuse what the library does: {error} ({step:?})")),
        }
    }
    sides.compare_schemas()?;
    metadata(&mut sides, seed)?;
    tally.metadata += 1;
    sides.compare_reads(tally)?;
    tally.arrays += 1;
    Ok(())
}

/// Whether the library couldn't do to our array what it did to its own, for a reason that is known.
fn is_theirs(case: &Case, step: &Step, error: &str) -> bool {
    let ours = matches!(step, Step::Evolve(_) | Step::Delete(..));
    !ours && (defects::explanation(case, None, error).is_some() || error.contains("was stopped after"))
}

fn open(uri: &str, encrypted: bool) -> Result<tdb_array::Array, String> {
    let options: ArrayOptions = options(encrypted).0.between(TimeRange::ALL).threads(1);
    options.open(uri).map_err(|error| describe(&error))
}

/// Some keys with values of any type.
pub fn entries(random: &mut Random) -> Vec<MetadataEntry> {
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

/// As we are told it.
pub fn value(entry: &MetadataEntry) -> Result<MetadataValue, String> {
    MetadataValue::new(entry.datatype, entry.value.0.clone()).map_err(|error| error.to_string())
}

fn metadata(sides: &mut Sides<'_>, seed: u64) -> Result<(), String> {
    let (theirs, ours) = (sides.theirs.clone(), sides.ours.clone());
    let random = &mut Random::new(!seed);
    for time in 0..random.between(1, 3) as u64 {
        let time = 1_700_000_500_000 + 10 * time;
        let put = entries(random);
        let delete = random.subset(&put, 30).into_iter().map(|entry| entry.key).collect::<Vec<_>>();
        let job = Job::ChangeMetadata {
            uri: theirs.clone(),
            put: put.clone(),
            delete: delete.clone(),
            timestamp: Some(time),
        };
        sides.on_theirs().done(job).map_err(|error| error.to_string())?;
        let mut writer = open(&ours, sides.case.encrypted)?.write_metadata().names(Names::new().at(time));
        for entry in &put {
            writer = writer.put(entry.key.as_str(), value(entry)?);
        }
        for key in delete {
            writer = writer.delete(key);
        }
        writer.commit().map_err(|error| describe(&error))?;
    }
    let files = |uri: &str, encrypted| super::create::tree(&Path::new(uri).join("__meta"), encrypted);
    let folders = [files(&theirs, sides.encrypted)?, files(&ours, sides.case.encrypted)?];
    if folders[0] != folders[1] {
        return Err(format!("other files of metadata: {folders:?}"));
    }
    let read = [sides.on_theirs().metadata(&theirs, None), sides.on_ours().metadata(&ours, None)];
    let read = read.map(|read| read.map_err(|error| error.to_string()));
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
