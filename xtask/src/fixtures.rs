//! The arrays in `fixtures/`: recipes that make them, and the manifest that they are checked against.

mod ask;
mod collection;
mod expected;
mod filters;
mod groups;
mod kitchen;
mod recipes;

use std::error::Error;
use std::fs;
use std::path::Path;

use clap::Subcommand;
use tdb_testkit::fixtures::{manifest, root};

use crate::reference::{NEWEST, Reference, release};
use collection::Collection;
use kitchen::{Dish, Kitchen};
use recipes::{Recipe, find, recipes};

/// Any failure of a task.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// `cargo xtask fixtures ...`
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make the fixtures that don't exist yet; those that exist stay as they are
    Add {
        /// Make only this one: the name of a recipe or a fixture
        name: Option<String>,
    },
    /// Make a fixture again, in place of the one that exists
    Update {
        /// The name of a recipe or a fixture
        name: String,
    },
    /// Ask the newest release again what the fixtures hold, leaving the arrays as they are
    Ask {
        /// Ask only this one: the name of a recipe or a fixture
        name: Option<String>,
    },
    /// Compare every file with the manifest
    Check,
    /// List the recipes
    List,
}

/// Runs `cargo xtask fixtures`.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.action {
        Action::Add { name: None } => add_missing(),
        Action::Add { name: Some(name) } => {
            let fixture = match groups::find(name) {
                Some(group) => group.fixture_name()?,
                None => fixture_name(&find(name)?)?,
            };
            if manifest().fixtures.contains_key(&fixture) {
                let advice = "committed fixtures don't change; use `fixtures update` if this one must";
                return Err(format!("{name} exists: {advice}").into());
            }
            update(name)
        }
        Action::Update { name } => update(name),
        Action::Ask { name: Some(name) } => ask_again(&mut Kitchen::new(NEWEST)?, &find(name)?),
        Action::Ask { name: None } => {
            let mut kitchen = Kitchen::new(NEWEST)?;
            recipes().iter().try_for_each(|recipe| ask_again(&mut kitchen, recipe))
        }
        Action::Check => check(),
        Action::List => {
            println!("{:<32} single tiles by every filter; made together", filters::NAME);
            for recipe in recipes() {
                println!("{:<32} {}", recipe.name, recipe.about);
            }
            for group in groups::RECIPES {
                println!("{:<32} {}", group.name, group.about);
            }
            Ok(())
        }
    }
}

/// Makes a fixture whether or not it exists.
fn update(name: &str) -> Result<()> {
    match groups::find(name) {
        Some(group) => group.make(),
        None if name == filters::NAME => filters::make(),
        None => make(&mut Kitchen::new(NEWEST)?, &find(name)?),
    }
}

fn add_missing() -> Result<()> {
    let existing = manifest();
    if !existing.fixtures.contains_key(filters::NAME) {
        filters::make()?;
    }
    for group in groups::RECIPES {
        if !existing.fixtures.contains_key(&group.fixture_name()?) {
            group.make()?;
        }
    }
    let mut kitchen = Kitchen::new(NEWEST)?;
    for recipe in recipes() {
        if !existing.fixtures.contains_key(&fixture_name(&recipe)?) {
            make(&mut kitchen, &recipe)?;
        }
    }
    Ok(())
}

pub fn check() -> Result<()> {
    let problems = Collection::load().problems()?;
    for problem in &problems {
        println!("{problem}");
    }
    if problems.is_empty() { Ok(()) } else { Err(format!("{} problems in fixtures/", problems.len()).into()) }
}

/// The folder of the fixture that the newest release makes by a recipe, such as `v22-by-2.30.0-sparse-strings`.
fn fixture_name(recipe: &Recipe) -> Result<String> {
    let writer = release(NEWEST)?;
    Ok(format!("v{}-by-{}-{}", writer.format, writer.library, recipe.name))
}

/// Makes one fixture: writes the array, copies it, asks the newest release what it holds, and enters all files in
/// the manifest.
fn make(kitchen: &mut Kitchen, recipe: &Recipe) -> Result<()> {
    let name = fixture_name(recipe)?;
    let with_name = |error: Box<dyn Error>| -> Box<dyn Error> { format!("{name}: {error}").into() };
    let dish = kitchen.cook(recipe).map_err(with_name)?;
    let mut collection = Collection::load();
    let folder = collection.replace(&name, &dish.array, "array")?;
    if let Err(error) = ask(&folder, &dish) {
        fs::remove_dir_all(&folder)?;
        return Err(with_name(error));
    }
    collection.enter(&name, recipe.name, kitchen.release(), NEWEST)?;
    collection.save()?;
    println!("made {name}");
    Ok(())
}

/// Writes down what the newest release reads from the array in a fixture's folder.
fn ask(folder: &Path, dish: &Dish) -> Result<()> {
    let expected = expected::ask(&mut Reference::start(NEWEST)?, &folder.join("array"), dish)?;
    expected::write(&folder.join("expected.json"), &expected)
}

/// Carries out the recipe for its questions alone, and puts them to the array that is there.
fn ask_again(kitchen: &mut Kitchen, recipe: &Recipe) -> Result<()> {
    let name = fixture_name(recipe)?;
    let mut collection = Collection::load();
    ask(&root().join(&name), &kitchen.cook(recipe)?).map_err(|error| format!("{name}: {error}"))?;
    collection.enter(&name, recipe.name, kitchen.release(), NEWEST)?;
    collection.save()
}
