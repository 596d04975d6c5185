//! Arrays and groups changed by tdb next to arrays and groups changed by the reference library. The
//! library must read the same from both.

use std::path::Path;

use tdb_array::{Array, CreateOptions, Group, TimeRange, WriteIds};
use tdb_cases::build::{self, options};
use tdb_cases::case::{Case, Step, seed_of};
use tdb_cases::compare::difference;
use tdb_cases::ours::{self, Manner, Reading, describe};
use tdb_cases::random::Random;
use tdb_cases::reads::{compare_cells, read_again, settled, with_coordinates};
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::shrink::smaller_cases;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{End, Failure, Kind, Verdict, ask_all, excuse, no_difference, verdict_of};
use tdb_cases::writer::{carry_out, set_key, start};
use tdb_cases::{defects, entries, generate, overhang, print};
use tdb_reference::model::{Bytes, GroupMember, MetadataEntry, ObjectKind};
use tdb_reference::{Job, NEWEST, Reference};
use tdb_types::{Datatype, FormatVersion, Layout};

use super::create;

/// One in `GROUP` cases changes a group.
const GROUP: u64 = 10;

/// Names of counters.
const ARRAYS: &str = "arrays";
const GROUPS: &str = "groups";
const EVOLUTIONS: &str = "evolutions";
const ENCRYPTED: &str = "evolutions of encrypted arrays";
const EXTENSIONS: &str = "evolutions of enumerations";
const EXPANSIONS: &str = "evolutions of current domains";
const DELETES: &str = "deletes";
const METADATA: &str = "changes of metadata";
const READS: &str = "reads";
const OWN_READS: &str = "reads by both sides";
const REFUSED: &str = "changes refused by both";

/// The kind of cases of this module.
pub struct Change {
    pub seed: u64,
}

impl CaseKind for Change {
    type Case = Case;
    type Sides = Reference;

    fn command(&self) -> String {
        "change".to_owned()
    }

    fn start(&self) -> tdb_reference::Result<Reference> {
        start(NEWEST)
    }

    fn case(&self, index: u64) -> Option<Case> {
        let mut case = generate::changed(self.seed_of(index));
        // The library cannot read arrays whose last tile ends at or beyond the end of the datatype.
        if overhang::is_beyond(&case.array) {
            return None;
        }
        if case.array.cell_order == Layout::Hilbert {
            build::state_extents(&mut case.array);
        }
        Some(case)
    }

    fn examine(&self, case: &Case, mut run: Run<'_, Reference>) -> Result<Verdict, End> {
        let seed = self.seed_of(run.index);
        let verdict = verdict_of(array(case, seed, &mut run))?;
        if run.index.is_multiple_of(GROUP) && !matches!(verdict, Verdict::Failed(_)) {
            let of_index = |detail| Failure { of_index: true, ..Failure::changed(detail) };
            group(seed, run.sides, run.folder).map_err(of_index)?;
            run.counts.add(GROUPS, 1);
        }
        Ok(verdict)
    }

    fn smaller(&self, case: &Case) -> Vec<Case> {
        smaller_cases(case)
    }

    fn print(&self, case: &Case, _: u64, question: Option<usize>) -> String {
        print::case(case, question)
    }
}

impl Change {
    fn seed_of(&self, index: u64) -> u64 {
        seed_of(self.seed ^ 0xc4a9_6e00, index)
    }
}

/// Returns the summary lines.
pub fn lines(counts: &Counts) -> Vec<String> {
    let [evolutions, encrypted, extensions, expansions, deletes, metadata] =
        [EVOLUTIONS, ENCRYPTED, EXTENSIONS, EXPANSIONS, DELETES, METADATA].map(|name| counts.get(name));
    let [arrays, groups, reads, own_reads, refused] =
        [ARRAYS, GROUPS, READS, OWN_READS, REFUSED].map(|name| counts.get(name));
    vec![
        format!(
            "{evolutions} evolutions, {encrypted} of them of encrypted arrays, {extensions} of enumerations, {expansions} of current domains; {deletes} deletes, {metadata} changes of metadata"
        ),
        format!(
            "{arrays} arrays and {groups} groups changed alike: {reads} equal reads by the library, {own_reads} of them equal to reads by tdb; {refused} changes refused by both"
        ),
    ]
}

/// The arrays of both sides. If an encrypted array evolves, the library's array is not encrypted,
/// because the library could not read it afterwards.
struct Sides<'a> {
    case: &'a Case,
    reference: &'a mut Reference,
    theirs: String,
    ours: String,
    /// `true` if the library's array is encrypted.
    encrypted: bool,
}

impl Sides<'_> {
    /// Configures the library for its own array.
    fn on_theirs(&mut self) -> &mut Reference {
        set_key(self.reference, self.encrypted);
        self.reference
    }

    /// Configures the library for tdb's array.
    fn on_ours(&mut self) -> &mut Reference {
        set_key(self.reference, self.case.encrypted);
        self.reference
    }

    /// Runs a step on both sides.
    fn carry_out(&mut self, step: &Step) -> [Result<(), String>; 2] {
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        let by_library = carry_out(step, self.on_theirs(), &theirs).map_err(|error| error.to_string());
        let own = match step {
            Step::Evolve(_) | Step::Delete(..) => ours::carry_out(step, self.case, &ours, Manner::by(0)),
            _ => carry_out(step, self.on_ours(), &ours).map_err(|error| error.to_string()),
        };
        [by_library, own]
    }

    /// Runs a step on both sides, and fails if only one side succeeds.
    fn both_carry_out(&mut self, step: &Step, counts: &mut Counts) -> Result<(), End> {
        let refused = |detail: String| Err(Failure::changed(format!("{detail} ({step:?})")).into());
        match self.carry_out(step) {
            [Ok(()), Ok(())] => Ok(()),
            // No comparison is possible after the library refuses the step for its own array.
            [Err(_), Err(_)] => {
                counts.add(REFUSED, 1);
                Err(End::Verdict(Verdict::Agreed { reads: 0, cells: 0, excuses: Vec::new() }))
            }
            // If an encrypted array evolves, only tdb's array is encrypted. A step may also time
            // out.
            [Ok(()), Err(error)] if is_theirs(self.case, step, &error) => {
                excuse(Some("cannot apply a step to the array of tdb, but to its own array"))
            }
            [Err(error), Ok(())] => refused(format!("the library refuses a step that tdb applies: {error}")),
            [Ok(()), Err(error)] => refused(format!("tdb refuses a step that the library applies: {error}")),
        }
    }

    /// Compares the enumeration files and the schemas of both arrays.
    fn compare_schemas(&self) -> Result<(), String> {
        let files = |uri: &str, encrypted| create::tree(&Path::new(uri).join("__schema/__enumerations"), encrypted);
        let (theirs, ours) = (files(&self.theirs, self.encrypted)?, files(&self.ours, self.case.encrypted)?);
        if theirs != ours {
            return Err(format!("enumerations differ:\n library {theirs:02x?}\n tdb     {ours:02x?}"));
        }
        let [theirs, ours] = [open(&self.theirs, self.encrypted)?, open(&self.ours, self.case.encrypted)?];
        let (theirs, ours) = (theirs.schema(), ours.schema());
        let alike = theirs.attributes() == ours.attributes()
            && theirs.current_domain() == ours.current_domain()
            && theirs.version() == ours.version();
        // The library stores the coordinate filters in dimensions without filters, so dimensions
        // are not compared.
        if alike { Ok(()) } else { Err(format!("schemas differ:\n library {theirs:#?}\n tdb     {ours:#?}")) }
    }

    /// Reads both arrays with the library, and tdb's array with tdb. Returns the number of compared
    /// cells.
    fn compare_reads(&mut self, counts: &mut Counts) -> Result<Verdict, End> {
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        let (before, after) = (self.case, &as_it_became(self.case));
        ask_all(before.questions.len(), |index, _| {
            let question = &before.questions[index];
            // All schemas are newer than the time range of questions about the past. The first
            // schema applies.
            let is_past = question.query.timestamps.is_some_and(|(_, end)| end < generate::AFTER_ALL);
            let case = if is_past { before } else { after };
            let query = with_coordinates(case, question);
            let expected = read_again(self.on_theirs(), &theirs, &query).0;
            let got = read_again(self.on_ours(), &ours, &query).0;
            let (expected, got) = match (expected, got) {
                (Ok(expected), Ok(got)) => (expected, got),
                // Messages contain paths, and are not compared.
                (Err(_), Err(_)) => {
                    counts.add(REFUSED, 1);
                    return Err(End::Excused("refused by both".to_owned()));
                }
                other => return Err(Failure::changed(format!("{query:?}:\n{other:?}")).into()),
            };
            let detail = difference(&expected, &Reading::of(&got), &settled(case, question, &expected));
            no_difference(Kind::Changed, detail.map(|detail| format!("{query:?}:\n{detail}")))?;
            counts.add(READS, 1);
            let known = defects::is_wrong(case, question).or_else(|| defects::lacks_cells(case, question, &expected));
            if known.is_none() {
                compare_cells(case, question, &ours, &expected)?;
                counts.add(OWN_READS, 1);
            }
            Ok(expected.cells)
        })
    }
}

/// Returns the case as questions see it. An expanded current domain does not restrict reads.
fn as_it_became(case: &Case) -> Case {
    let mut case = case.clone();
    if case.evolutions().any(|evolution| evolution.expand_current_domain.is_some()) {
        case.array.current_domain = None;
    }
    case
}

fn array(case: &Case, seed: u64, run: &mut Run<'_, Reference>) -> Result<Verdict, End> {
    let [theirs, ours] = ["theirs", "ours"].map(|name| run.folder.join(name).to_string_lossy().into_owned());
    let encrypted = case.encrypted && case.evolutions().next().is_none();
    let mut sides = Sides { case, reference: run.sides, theirs, ours, encrypted };
    let uri = sides.theirs.clone();
    excuse(sides.on_theirs().create(&uri, &case.array).err().map(|_| "refuses to create the array"))?;
    ours::create(&sides.ours, case, FormatVersion::DEFAULT).map_err(Failure::changed)?;
    for step in &case.steps {
        count_step(case, step, run.counts);
        sides.both_carry_out(step, run.counts)?;
    }
    sides.compare_schemas().and_then(|()| metadata(&mut sides, seed)).map_err(Failure::changed)?;
    run.counts.add(METADATA, 1);
    run.counts.add(ARRAYS, 1);
    sides.compare_reads(run.counts)
}

fn count_step(case: &Case, step: &Step, counts: &mut Counts) {
    match step {
        Step::Evolve(evolution) => {
            counts.add(EVOLUTIONS, 1);
            counts.add(ENCRYPTED, u64::from(case.encrypted));
            counts.add(EXTENSIONS, u64::from(!evolution.extend_enumerations.is_empty()));
            counts.add(EXPANSIONS, u64::from(evolution.expand_current_domain.is_some()));
        }
        Step::Delete(..) => counts.add(DELETES, 1),
        _ => {}
    }
}

/// `true` for a known failure of the library on tdb's array.
fn is_theirs(case: &Case, step: &Step, error: &str) -> bool {
    let ours = matches!(step, Step::Evolve(_) | Step::Delete(..));
    !ours && (defects::explanation(case, None, error).is_some() || error.contains("was stopped after"))
}

fn open(uri: &str, encrypted: bool) -> Result<Array, String> {
    options(encrypted).0.between(TimeRange::ALL).threads(1).open(uri).map_err(|error| describe(&error))
}

fn metadata(sides: &mut Sides<'_>, seed: u64) -> Result<(), String> {
    let (theirs, ours) = (sides.theirs.clone(), sides.ours.clone());
    let random = &mut Random::new(!seed);
    for time in 0..random.between(1, 3) as u64 {
        let time = 1_700_000_500_000 + 10 * time;
        let put = entries::entries(random);
        let delete = random.subset(&put, 30).into_iter().map(|entry| entry.key).collect::<Vec<_>>();
        let writer = open(&ours, sides.case.encrypted)?.write_metadata().ids(WriteIds::new().at(time));
        entries::change(writer, &put, &delete)?;
        let job = Job::ChangeMetadata { uri: theirs.clone(), put, delete, timestamp: Some(time) };
        sides.on_theirs().done(job).map_err(|error| error.to_string())?;
    }
    let files = |uri: &str, encrypted| create::tree(&Path::new(uri).join("__meta"), encrypted);
    let folders = [files(&theirs, sides.encrypted)?, files(&ours, sides.case.encrypted)?];
    if folders[0] != folders[1] {
        return Err(format!("other files of metadata: {folders:?}"));
    }
    let read = [sides.on_theirs().metadata(&theirs, None), sides.on_ours().metadata(&ours, None)];
    let read = read.map(|read| read.map_err(|error| error.to_string()));
    if read[0] == read[1] && read[0].is_ok() { Ok(()) } else { Err(format!("metadata differ: {read:?}")) }
}

/// Prefixes of member folders. A web URI would encode, decode or cut some of them.
const FOLDERS: [&str; 8] = ["m", "a b", "%20", "50%", "x#", "x?", "é", "a+"];

/// Changes a group with members and metadata by both sides.
fn group(seed: u64, reference: &mut Reference, folder: &Path) -> Result<(), String> {
    set_key(reference, false);
    let random = &mut Random::new(seed);
    let path = folder.join("group");
    let ours = |error: tdb_array::ArrayError| describe(&error);
    CreateOptions::new().create_group(&path).map_err(ours)?;
    let count = random.between(1, 5);
    let folders: Vec<String> = (0..count).map(|index| format!("{}{index}", random.pick(&FOLDERS))).collect();
    for (index, folder) in folders.iter().enumerate() {
        CreateOptions::new().create_group(path.join(folder)).map_err(ours)?;
        let open = Group::open(&path).map_err(ours)?;
        let name = format!("n{index}");
        let absolute = random.percent(30);
        let uri = if absolute { path.join(folder).to_string_lossy().into_owned() } else { folder.clone() };
        let name = random.percent(70).then_some(name);
        open.change().add(uri, !absolute, name.as_deref()).commit().map_err(ours)?;
    }
    // Each side continues with the files of the other side.
    let group = Group::open(&path).map_err(ours)?;
    let gone = group.members().first().map(|member| member.key().to_owned());
    if let Some(gone) = gone.filter(|_| random.percent(50)) {
        group.change().remove(gone).commit().map_err(ours)?;
    }
    let uri = path.to_string_lossy().into_owned();
    let by_library =
        GroupMember { uri: folders[0].clone(), name: Some("again".into()), kind: ObjectKind::Group, relative: true };
    let put = entries::entries(random);
    let job = Job::ChangeGroup { uri: uri.clone(), add: vec![by_library], remove: Vec::new(), put, delete: Vec::new() };
    reference.done(job).map_err(|error| error.to_string())?;
    // Files of different libraries have no defined order within one millisecond.
    std::thread::sleep(std::time::Duration::from_millis(2));
    let entry = MetadataEntry { key: "k0".into(), datatype: Datatype::Int8, count: 1, value: Bytes(vec![7]) };
    let group = Group::open(&path).map_err(ours)?;
    group.write_metadata().put("k0", entries::value(&entry)?).delete("k1").commit().map_err(ours)?;
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
        return Err(format!("groups:\n library {told:?}\n tdb     {own:?} {own_metadata:?}"));
    }
    Ok(())
}
