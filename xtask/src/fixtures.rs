//! The arrays in `fixtures/`: recipes, and checks against the manifest.

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
use builder::build;
pub use collection::check;
use collection::{Copy, Origin, publish};
use recipe::Recipe;
use recipes::{recipes, releases};

/// Arguments of `cargo xtask fixtures`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Create missing fixtures, and leave existing fixtures unchanged
    Add {
        /// Fixture, recipe of the newest release, or prefix of fixture names followed by `*`; all
        /// by default
        name: Option<String>,
    },
    /// Create fixtures again, and replace the existing ones
    Update {
        /// Fixture, recipe of the newest release, or prefix of fixture names followed by `*`
        name: String,
    },
    /// Read the existing fixtures again with the newest release, and update the expected results
    Ask {
        /// Fixture, recipe of the newest release, or prefix of fixture names followed by `*`; all
        /// by default
        name: Option<String>,
    },
    /// Compare every file of every fixture with the manifest
    Check,
    /// Write the files of a fixture to a folder
    Unpack {
        /// Name of the fixture
        name: String,
        /// Folder to create; may exist if it is empty
        folder: PathBuf,
    },
    /// Convert a fixture from a folder to a pack
    Pack {
        /// Name of the fixture
        name: String,
    },
    /// List the recipes
    List,
}

/// A fixture with its recipe.
#[derive(Clone, Copy)]
struct Plan {
    release: Release,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Array(Recipe),
    /// An array that a release has written and tdb has converted to another format version.
    Rewritten(Recipe, FormatVersion),
    Group(&'static groups::GroupRecipe),
    Tiles,
}

impl Plan {
    /// Returns all fixtures, oldest release first.
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

    /// Returns the fixtures with a name: a fixture, a recipe of the newest release, or a prefix of
    /// fixture names followed by `*`.
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
            What::Tiles => "single tiles by every filter, created together",
        }
    }

    /// Returns the release that wrote the array, or this workspace for a converted array.
    fn writer(&self) -> &'static str {
        if matches!(self.what, What::Rewritten(..)) { OURS } else { self.release.library }
    }

    /// Returns the name of the fixture, for example `v22-by-2.30.0-sparse-strings`.
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

    /// Creates the fixture and replaces an existing one.
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

    /// Writes the array, copies it, and reads the expected results.
    fn array(&self, recipe: &Recipe) -> Result<Files> {
        let built = build(self.release, recipe)?;
        let mut told = None;
        if let What::Rewritten(_, version) = self.what {
            // If no release can read the converted array, it is read before the conversion.
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
                let advice =
                    "committed fixtures must not change; run `cargo xtask fixtures update NAME` to replace this one";
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

/// Returns the plans without a fixture.
fn missing(plans: Vec<Plan>) -> Result<Vec<Plan>> {
    let manifest = Manifest::load()?;
    Ok(plans.into_iter().filter(|plan| !manifest.fixtures.contains_key(&plan.fixture())).collect())
}

/// Creates all fixtures. Reports failures at the end.
fn make_all(plans: impl IntoIterator<Item = Plan>) -> Result<()> {
    let failures: Vec<_> = plans.into_iter().filter_map(|plan| plan.make().err()).collect();
    for failure in &failures {
        println!("{failure}");
    }
    if failures.is_empty() { Ok(()) } else { Err(format!("{} fixtures could not be created", failures.len()).into()) }
}

/// Runs the recipe only for the questions, and reads the existing array. Skips converted arrays.
fn ask_again(plan: &Plan) -> Result<()> {
    let What::Array(recipe) = plan.what else { return Ok(()) };
    let name = plan.fixture();
    let built = build(plan.release, &recipe)?;
    let mut copy = Copy::of(Place::new(&root(), &name).files()?)?;
    let answer = expected::ask(plan.release, &copy.path("array"), &built);
    let expected = answer.map_err(|error| format!("{name}: {error}"))?;
    copy.files.insert("expected.json", expected::to_json(&expected)?.into_bytes());
    publish(&name, &plan.origin(), &copy.files)
}
