//! Hostile arrays: every file of every fixture is truncated, changed and exchanged, one file at a
//! time.
//!
//! For any bytes, opening and reading must end with cells or with a typed error that blames the
//! files. Memory must stay within the limits and the budget, and nothing may be written.
//!
//! The ordinary run samples. `TDB_HOSTILE=all cargo test --release -p tdb-array --test it hostile`
//! truncates every file at every length and changes every byte. Another value than `all` selects
//! fixtures by a part of the name.

#![allow(clippy::unwrap_used, unreachable_pub)] // tests may panic

#[path = "../../fuzz/src/attack.rs"]
mod attack;
mod damage;
mod inside;
mod made;
mod watch;

use damage::{Damage, Tree};
use tdb_testkit::Lie;
use tdb_testkit::fixtures::{self, Fixture};
use watch::Watch;

/// Cases per file in the ordinary run.
const SAMPLE: usize = 20;

/// Cases per generic tile in the ordinary run.
const PAYLOADS: usize = 3;

/// A fixture with more cases in the ordinary run: strings and nulls, in fragments without some
/// fields.
const THOROUGH: (&str, usize) = ("v22-by-2.30.0-dense-evolved", 60);

/// Returns the fixtures to attack, and `true` for an exhaustive run.
fn chosen() -> (Vec<Fixture>, bool) {
    let part = std::env::var("TDB_HOSTILE").ok();
    let is_chosen = |name: &str| part.as_ref().is_none_or(|part| part == "all" || name.contains(part));
    (fixtures::all().into_iter().filter(|fixture| is_chosen(fixture.name())).collect(), part.is_some())
}

/// Damages each file in `sample` ways, or in all.
fn damage_files(watch: &Watch, tree: &Tree, sample: Option<usize>, cases: &mut usize) {
    watch.expect_sound(tree);
    for path in tree.paths() {
        let bytes = tree.bytes(path);
        let damages = sample.map_or_else(|| Damage::all(&bytes), |count| Damage::sample(&bytes, count, *cases));
        for damage in damages {
            watch.attack(tree, path, damage.apply(&bytes), &damage, *cases);
            *cases += 1;
        }
    }
}

/// Damages the payload of each generic tile in `count` ways.
fn damage_payloads(watch: &Watch, tree: &Tree, count: usize, cases: &mut usize) {
    inside::damaged_payloads(tree, count, |path, bytes| {
        watch.attack(tree, path, bytes, &format_args!("payload {cases} damaged"), *cases);
        *cases += 1;
    });
}

#[test]
fn damaged_files_are_read_or_refused() {
    let (fixtures, all) = chosen();
    let watch = Watch::start();
    let mut cases = 0;
    for fixture in fixtures {
        let tree = Tree::of(&fixture);
        damage_files(&watch, &tree, (!all).then_some(SAMPLE), &mut cases);
        assert!(tree.is_unchanged(), "{}: reading changed files", tree.name());
        println!("{}: {cases} cases so far", tree.name());
    }
    watch.finish(cases, if all { 1 } else { 10_000 });
}

#[test]
fn damaged_groups_are_walked_or_refused() {
    let (watch, (_, all)) = (Watch::start(), chosen());
    let mut cases = 0;
    for fixture in fixtures::groups() {
        let tree = Tree::of_group(&fixture);
        damage_files(&watch, &tree, (!all).then_some(4 * SAMPLE), &mut cases);
        damage_payloads(&watch, &tree, if all { 300 } else { PAYLOADS }, &mut cases);
    }
    watch.finish(cases, 500);
}

#[test]
fn damage_behind_filters_is_read_or_refused() {
    let (fixtures, all) = chosen();
    let watch = Watch::start();
    let mut cases = 0;
    for fixture in fixtures {
        let tree = Tree::of(&fixture);
        let count = match all {
            true => 300,
            false if tree.name() == THOROUGH.0 => THOROUGH.1,
            false => PAYLOADS,
        };
        damage_payloads(&watch, &tree, count, &mut cases);
    }
    watch.finish(cases, if all { 1 } else { 5000 });
}

#[test]
fn files_of_other_arrays_are_read_or_refused() {
    let (fixtures, all) = chosen();
    let watch = Watch::start();
    let trees: Vec<Tree> = fixtures.iter().map(Tree::of).collect();
    let mut cases = 0;
    for (index, tree) in trees.iter().enumerate() {
        let others = trees.iter().cycle().skip(index + 1).take(if all { trees.len() } else { 8 });
        for other in others {
            made::exchanges(tree, other, |path, bytes| {
                watch.attack(tree, path, bytes, &format_args!("as in {}", other.name()), cases);
                cases += 1;
            });
        }
    }
    watch.finish(cases, 1000);
}

#[test]
fn made_up_arrays_are_read_or_refused() {
    let watch = Watch::start();
    let mut cases = 0;
    for tree in made::arrays() {
        for variant in 0..12 {
            watch.read(&tree, variant);
            cases += 1;
        }
    }
    watch.finish(cases, 100);
}

/// False sizes in listings, in open files and in sparse files on disk. Readers must not allocate
/// memory based on them.
#[test]
fn false_sizes_are_harmless() {
    let (fixtures, all) = chosen();
    let watch = Watch::start();
    let mut cases = 0;
    let trees = fixtures.iter().map(Tree::of).chain(fixtures::groups().into_iter().map(|group| Tree::of_group(&group)));
    for tree in trees {
        let paths: Vec<&str> = tree.paths().collect();
        for lie in Lie::ALL {
            // The metadata of each fragment, and in turn each of the other files.
            let others = if all { paths.len() } else { 2 };
            let first = cases;
            let about = ["", "__fragment_metadata.tdb"].into_iter();
            for path in about.chain((0..others).map(|index| paths[(first + index) % paths.len()])) {
                watch.lie(&tree, path, lie, cases);
                cases += 1;
            }
        }
    }
    watch.finish(cases, 5000);
}
