//! Arrays created by tdb next to arrays created by the reference library.
//!
//! Folders, files and their bytes must be the same. Both sides must refuse schemas that the format
//! forbids.

mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tdb_cases::build::{self, options, state_extents};
use tdb_cases::case::{Case, KEY, seed_of};
use tdb_cases::generate;
use tdb_cases::ours::describe;
use tdb_cases::random::Random;
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::shrink::smaller_cases;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{End, Failure, Kind, Verdict};
use tdb_cases::writer::{set_key, start};
use tdb_filters::EncryptionKey;
use tdb_reference::{NEWEST, Reference};
use tdb_schema::tdb_generic_tile::GenericTileDecoder;
use tdb_schema_text::{from_toml, to_toml};
use tdb_types::{FormatVersion, Layout, Limits};

/// One in `MUTATED` cases is invalid or nearly invalid.
const MUTATED: u64 = 2;

/// Names of counters.
const SAME: &str = "identical arrays";
const REFUSED: &str = "schemas refused by both";
/// Arrays whose schema was mutated and is still valid.
const LET_THROUGH: &str = "identical arrays that are nearly invalid";
const ENCRYPTED: &str = "identical arrays that are encrypted";

/// The kind of cases of this module.
pub struct Create {
    pub seed: u64,
}

/// A schema, and a mutation that makes the schema invalid or nearly invalid.
#[derive(Clone)]
pub struct CreateCase {
    /// The case, without steps and questions.
    case: Case,
    mutation: Option<&'static str>,
}

impl CaseKind for Create {
    type Case = CreateCase;
    type Sides = Reference;

    fn command(&self) -> String {
        "create".to_owned()
    }

    fn start(&self) -> tdb_reference::Result<Reference> {
        start(NEWEST)
    }

    fn case(&self, index: u64) -> Option<CreateCase> {
        let seed = seed_of(self.seed ^ 0xc4ea_7e00, index);
        let mut case = Case { steps: Vec::new(), questions: Vec::new(), ..generate::case(seed) };
        let mutated = index % MUTATED == 1;
        let mutation = mutated.then(|| mutate::mutate(&mut case.array, &mut Random::new(!seed)));
        if case.array.cell_order == Layout::Hilbert {
            state_extents(&mut case.array);
        }
        Some(CreateCase { case, mutation })
    }

    fn examine(&self, case: &CreateCase, run: Run<'_, Reference>) -> Result<Verdict, End> {
        set_key(run.sides, case.case.encrypted);
        Ok(examine(case, run).map_err(|detail| Failure::new(Kind::Schema, detail))?)
    }

    fn smaller(&self, CreateCase { case, mutation }: &CreateCase) -> Vec<CreateCase> {
        smaller_cases(case).into_iter().map(|case| CreateCase { case, mutation: *mutation }).collect()
    }

    fn print(&self, CreateCase { case, mutation }: &CreateCase, _: u64, _: Option<usize>) -> String {
        format!("{mutation:?}, encrypted: {}, {:#?}", case.encrypted, case.array)
    }
}

/// Returns the summary lines.
pub fn lines(counts: &Counts) -> Vec<String> {
    let [same, let_through, encrypted, refused] = [SAME, LET_THROUGH, ENCRYPTED, REFUSED].map(|name| counts.get(name));
    vec![format!(
        "{same} identical arrays ({let_through} of them nearly invalid, {encrypted} encrypted), {refused} schemas refused by both"
    )]
}

fn examine(CreateCase { case, mutation }: &CreateCase, run: Run<'_, Reference>) -> Result<Verdict, String> {
    let Run { sides: reference, folder, counts, .. } = run;
    let (theirs, ours) = (folder.join("theirs"), folder.join("ours"));
    let made = reference.create(&theirs.to_string_lossy(), &case.array);
    let definition = match (made, build::definition(&case.array, FormatVersion::DEFAULT)) {
        (Err(_), Err(reason)) => {
            counts.add(REFUSED, 1);
            let rule = reason.to_string().split_once(": ").map_or(String::new(), |(_, why)| why.to_owned());
            let words = rule.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit() || c == '"'));
            return Ok(Verdict::Refused(words.collect::<Vec<_>>().join(" ")));
        }
        (Err(error), Ok(_)) if is_harsh(&error.to_string()) => {
            return excused("refused by the library alone: extents of more than half of a signed type");
        }
        // The library would refuse every write to this array.
        (Ok(()), Err(error)) if is_never_written(&error.to_string()) => {
            return excused("refused by tdb alone: scaled values of other sizes, dictionaries that reject all writes");
        }
        (Err(error), Ok(_)) => return Err(format!("the library refuses a schema that tdb accepts: {error}")),
        (Ok(()), Err(error)) => return Err(format!("tdb refuses a schema that the library accepts: {error}")),
        (Ok(()), Ok(definition)) => definition,
    };
    // The TOML text must be lossless.
    let text = to_toml(&definition).map_err(|error| describe(&error))?;
    let read = from_toml(&text).map_err(|error| format!("{}\n{text}", describe(&error)))?;
    let (open, create) = options(case.encrypted);
    create.create(&ours, &read).map_err(|error| describe(&error))?;
    compare(&theirs, &ours, case.encrypted)?;
    let theirs = open.open(&theirs).and_then(|array| array.definition());
    let printed = to_toml(&theirs.map_err(|error| describe(&error))?).map_err(|error| describe(&error))?;
    if sorted(&printed) != sorted(&text) {
        return Err(format!("text of the library's schema:\n{printed}\ntext of tdb's schema:\n{text}"));
    }
    // The library must be able to open tdb's array.
    reference
        .fragments(&ours.to_string_lossy())
        .map_err(|error| format!("the library cannot open tdb's array: {error}"))?;
    counts.add(SAME, 1);
    counts.add(LET_THROUGH, u64::from(mutation.is_some()));
    counts.add(ENCRYPTED, u64::from(case.encrypted));
    Ok(Verdict::Agreed { reads: 0, cells: 0, excuses: Vec::new() })
}

fn excused(reason: &str) -> Result<Verdict, String> {
    Ok(Verdict::Excused(reason.to_owned()))
}

/// `true` if the library refuses an extent of more than half of a signed type, although the library
/// would choose this extent itself.
fn is_harsh(error: &str) -> bool {
    let negative = error.contains("Tile extent -") && error.contains("exceeds range on dimension domain");
    // The library also refuses the extent 0 of a domain of a single float, although it stores 0 if
    // no extent is given.
    negative || error.contains("Tile extent must be greater than 0")
}

/// `true` if tdb refuses filters that would reject every write.
fn is_never_written(error: &str) -> bool {
    error.contains("float_scale does not support") || error.contains("dictionary does not support")
}

/// Returns the lines of a text in a fixed order, because enumerations have no defined order.
fn sorted(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// Compares the folders and files of two arrays, except for random names. Compares files after
/// decompression, because zlib versions may compress the same bytes differently.
pub fn compare(theirs: &Path, ours: &Path, encrypted: bool) -> Result<(), String> {
    let (theirs, ours) = (tree(theirs, encrypted)?, tree(ours, encrypted)?);
    let shapes = [&theirs, &ours].map(|tree| tree.keys().collect::<Vec<_>>());
    if shapes[0] != shapes[1] {
        return Err(format!("files differ:\n library {:?}\n tdb     {:?}", shapes[0], shapes[1]));
    }
    match theirs.iter().find(|(path, bytes)| ours.get(*path) != Some(bytes)) {
        Some((path, bytes)) => Err(format!("{path}:\n library {bytes:02x?}\n tdb     {:02x?}", ours.get(path))),
        None => Ok(()),
    }
}

/// Returns the decompressed contents of all files by path, with `None` for folders. Replaces
/// timestamps and UUIDs in names.
pub(super) fn tree(root: &Path, encrypted: bool) -> Result<BTreeMap<String, Option<Vec<u8>>>, String> {
    let mut decoder = GenericTileDecoder::new(Limits::default());
    if encrypted {
        decoder = decoder.with_key(EncryptionKey::new(*KEY));
    }
    let mut tree = BTreeMap::new();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| error.to_string())? {
            let entry = entry.map_err(|error| error.to_string())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.path().is_dir();
            let is_plain = is_folder || !name.bytes().any(|byte| byte.is_ascii_digit());
            let mut inside = format!("{path}{}", if is_plain { name } else { "__N".to_owned() });
            while tree.contains_key(&inside) {
                inside.push('+');
            }
            if is_folder {
                folders.push((entry.path(), format!("{inside}/")));
                tree.insert(inside, None);
                continue;
            }
            let mut bytes = fs::read(entry.path()).map_err(|error| error.to_string())?;
            if let Ok(tile) = decoder.decode_file(&bytes, None) {
                bytes = [tile.header.version.to_string().as_bytes(), b" ", &tile.payload].concat();
            }
            hide_chance(&mut bytes);
            tree.insert(inside, Some(bytes));
        }
    }
    Ok(tree)
}

/// Overwrites UUIDs, which are runs of 32 hexadecimal digits.
fn hide_chance(bytes: &mut [u8]) {
    let mut run = 0;
    for index in 0..=bytes.len() {
        let is_digit = bytes.get(index).is_some_and(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte));
        if is_digit {
            run += 1;
            continue;
        }
        if run == 32 {
            bytes[index - 32..index].fill(b'-');
        }
        run = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_shrinks_while_it_fails() {
        let kind = Create { seed: 1 };
        let is_large = |case: &CreateCase| case.case.array.attributes.len() > 2 && case.case.array.dimensions.len() > 2;
        let mut cases = (0..).filter_map(|index| kind.case(index));
        let case = cases.find(|case| is_large(case) && case.mutation.is_some()).expect("one of many");
        let wanted = case.case.array.attributes[1].name.clone();
        let has_it = |case: &CreateCase| case.case.array.attributes.iter().any(|attribute| attribute.name == wanted);
        let failure = || Failure::new(Kind::Schema, "it has the attribute".to_owned());
        let (smaller, _) = kind.shrink(case.clone(), failure(), &mut |smaller| has_it(smaller).then(failure));
        let array = &smaller.case.array;
        assert_eq!((array.attributes.len(), array.dimensions.len(), smaller.mutation), (1, 1, case.mutation));
        assert!(array.attributes[0].filters.filters.is_empty() && !smaller.case.encrypted);
    }
}
