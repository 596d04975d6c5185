//! Arrays that we create beside those that the reference library creates: the same folders, the same files, the same
//! bytes; and schemas that the format forbids, which both must refuse.

pub mod build;
mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use tdb_array::{ArrayOptions, CreateOptions};
use tdb_filters::EncryptionKey;
use tdb_schema::tdb_generic_tile::GenericTileDecoder;
use tdb_schema_text::{from_toml, to_toml};
use tdb_types::{Datatype, FormatVersion, Layout, Limits};

use super::case::{KEY, seed_of};
use super::generate::integer_of;
use super::ours::describe;
use super::random::Random;
use super::writer::set_key;
use super::{Arguments, JOB_PATIENCE, generate, scratch_folder};
use tdb_reference::model::{ArraySpec, Bytes};
use tdb_reference::{NEWEST, Reference};

/// Cases, unless told otherwise.
const CASES: u64 = 2000;
/// One case in `MUTATED` is made illegal, or nearly so.
const MUTATED: u64 = 2;

#[derive(Default)]
struct Tally {
    same: u64,
    refused_by_both: u64,
    /// Refused by one side, for a known reason.
    only_theirs: u64,
    only_ours: u64,
    /// Of schemas that both made: those that were made illegal in vain.
    let_through: u64,
    encrypted: u64,
    failed: u64,
    /// How often each of our reasons to refuse was given.
    reasons: BTreeMap<String, u64>,
}

/// Creates arrays on both sides and compares them.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut reference = Reference::start(NEWEST)?;
    reference.patience(JOB_PATIENCE);
    let (started, mut tally) = (Instant::now(), Tally::default());
    let cases = arguments.cases.unwrap_or(CASES);
    let range = arguments.case.map_or(0..cases, |case| case..case + 1);
    for index in range {
        let seed = seed_of(arguments.seed ^ 0xc4ea_7e00, index);
        let (mut spec, encrypted) = {
            let case = generate::case(seed);
            (case.array, case.encrypted)
        };
        let mutation = (index % MUTATED == 1).then(|| mutate::mutate(&mut spec, &mut Random::new(!seed)));
        if spec.cell_order == Layout::Hilbert {
            state_extents(&mut spec);
        }
        if arguments.case.is_some() {
            println!("{mutation:?} {spec:#?}");
        }
        let folder = tempfile::tempdir_in(scratch_folder())?;
        set_key(&mut reference, encrypted);
        if let Err(detail) = examine(&spec, mutation.is_some(), encrypted, &mut reference, folder.path(), &mut tally) {
            tally.failed += 1;
            println!("\nFAILED: replay with --create --seed {} --case {index}", arguments.seed);
            println!("{}{detail}", mutation.map_or(String::new(), |what| format!("({what}) ")));
            if tally.failed >= arguments.failures as u64 {
                break;
            }
        }
    }
    let Tally { same, refused_by_both, only_theirs, only_ours, let_through, encrypted, failed, reasons } = tally;
    println!("{only_theirs} times refused by the library alone: extents of more than half of a signed type");
    println!(
        "{only_ours} times refused by us alone: scaled values of other sizes, dictionaries that nothing can be written through"
    );
    for (reason, count) in reasons {
        println!("{count} times refused by both: {reason}");
    }
    println!(
        "{same} arrays created alike ({let_through} of them nearly illegal, {encrypted} encrypted), {refused_by_both} refused by both, {failed} differences, in {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    if failed > 0 { Err(format!("{failed} differences").into()) } else { Ok(()) }
}

/// Says what extents of Hilbert arrays are left out: the library, which is told the order after the domain, takes them for
/// those of another order, and so spans the domain.
pub fn state_extents(spec: &mut ArraySpec) {
    for dimension in spec.dimensions.iter_mut().filter(|dimension| dimension.extent.is_none()) {
        let Some((low, high)) = &dimension.domain else { continue };
        dimension.extent = Some(match dimension.datatype {
            Datatype::Float32 => {
                let value = |bytes: &Bytes| f32::from_le_bytes(bytes[..].try_into().unwrap_or_default());
                Bytes((value(high) - value(low)).to_le_bytes().to_vec())
            }
            Datatype::Float64 => {
                let value = |bytes: &Bytes| f64::from_le_bytes(bytes[..].try_into().unwrap_or_default());
                Bytes((value(high) - value(low)).to_le_bytes().to_vec())
            }
            datatype => {
                let value = |bytes: &Bytes| integer_of(datatype.physical(), bytes);
                let cells = value(high) - value(low) + 1;
                Bytes(cells.to_le_bytes()[..datatype.size()].to_vec())
            }
        });
    }
}

fn examine(
    spec: &ArraySpec,
    mutated: bool,
    encrypted: bool,
    reference: &mut Reference,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let (theirs, ours) = (folder.join("theirs"), folder.join("ours"));
    let made = reference.create(&theirs.to_string_lossy(), spec);
    let definition = build::definition(spec, FormatVersion::DEFAULT);
    let (definition, create) = match (made, definition) {
        (Err(_), Err(reason)) => {
            tally.refused_by_both += 1;
            let rule = reason.to_string().split_once(": ").map_or(String::new(), |(_, why)| why.to_owned());
            let words = rule.split(' ').filter(|word| !word.contains(|c: char| c.is_ascii_digit() || c == '"'));
            *tally.reasons.entry(words.collect::<Vec<_>>().join(" ")).or_default() += 1;
            return Ok(());
        }
        (Err(error), Ok(_)) if is_harsh(&error.to_string()) => {
            tally.only_theirs += 1;
            return Ok(());
        }
        // It could never be written: the library says so then.
        (Ok(()), Err(error)) if is_never_written(&error.to_string()) => {
            tally.only_ours += 1;
            return Ok(());
        }
        (Err(error), Ok(_)) => return Err(format!("the library refuses what we take: {error}")),
        (Ok(()), Err(error)) => return Err(format!("we refuse what the library takes: {error}")),
        (Ok(()), Ok(definition)) => (definition, options(encrypted).1),
    };
    // The text must say everything.
    let text = to_toml(&definition).map_err(|error| describe(&error))?;
    let read = from_toml(&text).map_err(|error| format!("{}\n{text}", describe(&error)))?;
    create.create(&ours, &read).map_err(|error| describe(&error))?;
    compare(&theirs, &ours, encrypted)?;
    let theirs = options(encrypted).0.open(&theirs).and_then(|array| array.definition());
    let printed = to_toml(&theirs.map_err(|error| describe(&error))?).map_err(|error| describe(&error))?;
    if sorted(&printed) != sorted(&text) {
        return Err(format!("the text of theirs:\n{printed}\nthe text of ours:\n{text}"));
    }
    // The library opens it.
    reference.fragments(&ours.to_string_lossy()).map_err(|error| format!("the library can't open ours: {error}"))?;
    tally.same += 1;
    tally.let_through += u64::from(mutated);
    tally.encrypted += u64::from(encrypted);
    Ok(())
}

/// Whether the library refuses an extent that it would have chosen itself: one of more than half of a signed type.
fn is_harsh(error: &str) -> bool {
    let negative = error.contains("Tile extent -") && error.contains("exceeds range on dimension domain");
    // Nor the extent 0 of a domain of one float, which it stores where it is told none.
    negative || error.contains("Tile extent must be greater than 0")
}

/// Whether we refuse filters through which nothing could ever be written.
fn is_never_written(error: &str) -> bool {
    error.contains("float_scale does not work") || error.contains("dictionary does not work")
}

/// The lines of a text; enumerations have no order.
fn sorted(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// How to open and how to make an array.
pub(super) fn options(encrypted: bool) -> (ArrayOptions, CreateOptions) {
    let key = || EncryptionKey::new(*KEY);
    match encrypted {
        true => (ArrayOptions::new().key(key()), CreateOptions::new().key(key())),
        false => (ArrayOptions::new(), CreateOptions::new()),
    }
}

/// Whether two arrays have the same folders and files, which say the same, but for the names that chance gives.
///
/// What zlib makes of the same bytes is its own affair: files are compared as they are after decompression.
pub fn compare(theirs: &Path, ours: &Path, encrypted: bool) -> Result<(), String> {
    let (theirs, ours) = (tree(theirs, encrypted)?, tree(ours, encrypted)?);
    let shapes = [&theirs, &ours].map(|tree| tree.keys().collect::<Vec<_>>());
    if shapes[0] != shapes[1] {
        return Err(format!("other files:\n theirs {:?}\n ours   {:?}", shapes[0], shapes[1]));
    }
    match theirs.iter().find(|(path, bytes)| ours.get(*path) != Some(bytes)) {
        Some((path, bytes)) => Err(format!("{path}:\n theirs {bytes:02x?}\n ours   {:02x?}", ours.get(path))),
        None => Ok(()),
    }
}

/// What all files say by their paths, and nothing for folders; names with a time or chance are put plainly.
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

/// Overwrites what stands for a UUID: 32 hexadecimal digits.
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
