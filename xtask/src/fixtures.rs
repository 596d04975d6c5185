//! The arrays in `fixtures/`: recipes that make them, and the manifest that they are checked against.

mod ask;
mod bench;
mod builder;
mod collection;
mod expected;
mod filters;
mod groups;
mod recipe;
mod recipes;
mod rewrite;

use std::path::PathBuf;

use clap::Subcommand;
use tdb_testkit::fixtures::{Files, Kind, Manifest, OURS, Place, root};
use tdb_types::FormatVersion;

use crate::Result;
use crate::reference::{NEWEST, Release, release};
use builder::FixtureBuilder;
use collection::{Copy, Origin, publish};
use recipe::Recipe;
use recipes::{recipes, releases};

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
        /// Make only these: the name of a fixture or of a recipe of the newest release, or the beginning of names and a star
        name: Option<String>,
    },
    /// Make a fixture again, in place of the one that exists
    Update {
        /// The name of a fixture, or of a recipe of the newest release, or the beginning of names and a star
        name: String,
    },
    /// Ask the newest release again what the fixtures hold, leaving the arrays as they are
    Ask {
        /// Ask only these, named as for `add`
        name: Option<String>,
    },
    /// Compare every file of every fixture with the manifest
    Check,
    /// Write the files of a fixture into a folder, to look at them with other tools
    Unpack {
        /// The name of the fixture
        name: String,
        /// The folder, which must be empty or not there yet
        folder: PathBuf,
    },
    /// Keep a fixture as a pack that is a folder now
    Pack {
        /// The name of the fixture
        name: String,
    },
    /// List the recipes
    List,
}

/// One fixture that there is a recipe for.
#[derive(Clone, Copy)]
struct Plan {
    release: Release,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Array(Recipe),
    /// An array that is given another version after a release has written it.
    Rewritten(Recipe, FormatVersion),
    Group(&'static groups::GroupRecipe),
    Tiles,
}

impl Plan {
    /// Every fixture, oldest release first.
    fn all() -> Result<Vec<Self>> {
        let newest = release(NEWEST)?;
        let mut arrays: Vec<_> = releases::families().collect();
        arrays.push((newest, recipes()));
        let plans = arrays.into_iter().flat_map(|(release, recipes)| {
            let groups = groups::recipes(release).map(What::Group);
            recipes.into_iter().map(What::Array).chain(groups).map(move |what| Self { release, what })
        });
        let rewritten = rewrite::plans()?
            .map(|(release, recipe, version)| Self { release, what: What::Rewritten(recipe, version) });
        Ok(std::iter::once(Self { release: newest, what: What::Tiles }).chain(plans).chain(rewritten).collect())
    }

    /// Those of a name: a fixture's, a recipe's of the newest release, or the beginning of several fixtures' up to a
    /// star.
    fn of_name(name: &str) -> Result<Vec<Self>> {
        let wanted = |plan: &Self| match name.strip_suffix('*') {
            Some(beginning) => plan.fixture().starts_with(beginning),
            None => plan.fixture() == name || plan.writer() == NEWEST && plan.recipe() == name,
        };
        let found: Vec<_> = Self::all()?.into_iter().filter(wanted).collect();
        if found.is_empty() {
            return Err(format!("no recipe {name:?}; `cargo xtask fixtures list` shows them").into());
        }
        Ok(found)
    }

    fn recipe(&self) -> &'static str {
        match self.what {
            What::Array(recipe) | What::Rewritten(recipe, _) => recipe.name,
            What::Group(group) => group.name,
            What::Tiles => filters::NAME,
        }
    }

    fn about(&self) -> &'static str {
        match self.what {
            What::Array(recipe) | What::Rewritten(recipe, _) => recipe.about,
            What::Group(group) => group.about,
            What::Tiles => "single tiles by every filter; made together",
        }
    }

    /// What gave the array the form that it has.
    fn writer(&self) -> &'static str {
        if matches!(self.what, What::Rewritten(..)) { OURS } else { self.release.library }
    }

    /// The name of the fixture, such as `v22-by-2.30.0-sparse-strings`.
    fn fixture(&self) -> String {
        match self.what {
            What::Tiles => filters::NAME.to_owned(),
            What::Rewritten(_, version) => format!("v{version}-by-{OURS}-{}", self.recipe()),
            _ => format!("v{}-by-{}-{}", self.release.format, self.release.library, self.recipe()),
        }
    }

    fn origin(&self) -> Origin {
        let kind = match self.what {
            What::Array(_) | What::Rewritten(..) => Kind::Array,
            What::Group(_) => Kind::Group,
            What::Tiles => Kind::Tiles,
        };
        Origin { kind, recipe: self.recipe(), writer: self.writer() }
    }

    /// Makes it, in place of the one that may exist.
    fn make(&self) -> Result<()> {
        let name = self.fixture();
        let made = match self.what {
            What::Array(recipe) | What::Rewritten(recipe, _) => self.array(&recipe),
            What::Group(group) => group.make(self.release),
            What::Tiles => filters::make(),
        };
        let files = made.map_err(|error| format!("{name}: {error}"))?;
        publish(&name, &self.origin(), &files)?;
        println!("made {name}");
        Ok(())
    }

    /// Writes the array, copies it, and asks what it holds.
    fn array(&self, recipe: &Recipe) -> Result<Files> {
        let built = FixtureBuilder::new(self.release.library)?.run(recipe)?;
        let mut told = None;
        if let What::Rewritten(_, version) = self.what {
            // What can't be asked afterwards is asked before.
            if !rewrite::is_read(version) {
                told = Some(expected::ask(self.release, &built.array, &built)?);
            }
            rewrite::rewrite(&built.array, version)?;
        }
        let copy = Copy::of_made(&built.array, "array")?;
        let mut expected = match told {
            Some(expected) => expected,
            None => expected::ask(self.release, &copy.path("array"), &built)?,
        };
        if let What::Rewritten(_, version) = self.what {
            rewrite::retell(&mut expected, version);
        }
        let mut files = copy.files;
        files.insert("expected.json", expected::to_json(&expected)?.into_bytes());
        Ok(files)
    }
}

/// Runs `cargo xtask fixtures`.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.action {
        Action::Add { name: None } => make_all(missing(Plan::all()?)?),
        Action::Add { name: Some(name) } => {
            let missing = missing(Plan::of_name(name)?)?;
            if missing.is_empty() {
                let advice = "committed fixtures don't change; use `fixtures update` if this one must";
                return Err(format!("{name} exists: {advice}").into());
            }
            make_all(missing)
        }
        Action::Update { name } => make_all(Plan::of_name(name)?),
        Action::Ask { name } => {
            let plans = name.as_ref().map_or_else(Plan::all, |name| Plan::of_name(name))?;
            plans.iter().try_for_each(ask_again)
        }
        Action::Check => check(),
        Action::Unpack { name, folder } => collection::unpack(name, folder),
        Action::Pack { name } => collection::pack(name),
        Action::List => {
            for plan in Plan::all()? {
                println!("{:<48} {}", plan.fixture(), plan.about());
            }
            Ok(())
        }
    }
}

/// Compares every file of every fixture with the manifest.
pub fn check() -> Result<()> {
    collection::check()
}

/// Those that there are no fixtures of yet.
fn missing(plans: Vec<Plan>) -> Result<Vec<Plan>> {
    let manifest = Manifest::load()?;
    Ok(plans.into_iter().filter(|plan| !manifest.fixtures.contains_key(&plan.fixture())).collect())
}

/// Makes all of them, and names at the end those that could not be made.
fn make_all(plans: impl IntoIterator<Item = Plan>) -> Result<()> {
    let failures: Vec<_> = plans.into_iter().filter_map(|plan| plan.make().err()).collect();
    for failure in &failures {
        println!("{failure}");
    }
    if failures.is_empty() { Ok(()) } else { Err(format!("{} fixtures could not be made", failures.len()).into()) }
}

/// Carries out the recipe for its questions alone, and puts them to the array that is there. Rewritten arrays were asked
/// when they were made.
fn ask_again(plan: &Plan) -> Result<()> {
    let What::Array(recipe) = plan.what else { return Ok(()) };
    let name = plan.fixture();
    let built = FixtureBuilder::new(plan.release.library)?.run(&recipe)?;
    let mut copy = Copy::of(Place::new(&root(), &name).files()?)?;
    let answer = expected::ask(plan.release, &copy.path("array"), &built);
    let expected = answer.map_err(|error| format!("{name}: {error}"))?;
    copy.files.insert("expected.json", expected::to_json(&expected)?.into_bytes());
    publish(&name, &plan.origin(), &copy.files)
}
