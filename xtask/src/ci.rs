//! What continuous integration does behind the tests: one step after the other, each timed, and a summary at the end.
//!
//! What a machine lacks for a step is no failure: the step is skipped, and the summary says how to get it.

mod counts;
mod packages;
mod report;
mod steps;

use std::time::Instant;

use crate::Result;
use report::{Outcome, Report};
use steps::{STEPS, Step};

/// What is done; all of it, if nothing is said.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only these steps
    steps: Vec<String>,
    /// Lists the steps
    #[arg(long)]
    list: bool,
}

/// Runs `cargo xtask ci`.
///
/// # Errors
///
/// If a step fails; the others are done nevertheless.
pub fn run(arguments: &Arguments) -> Result {
    if arguments.list {
        for step in STEPS {
            println!("{:<16} {}", step.name, step.about);
        }
        return Ok(());
    }
    let mut report = Report::default();
    for step in chosen(&arguments.steps)? {
        println!("\n== {}: {}", step.name, step.about);
        let started = Instant::now();
        let outcome = (step.run)();
        let seconds = started.elapsed().as_secs_f64();
        if let Outcome::Failed(reason) = &outcome {
            println!("{reason}");
        }
        println!("-- {}: {} after {seconds:.1} seconds", step.name, outcome.word());
        report.add(step.name, outcome, seconds);
    }
    println!("\n{}", report.text());
    report.result()
}

/// The steps that are named, in the order in which they are done.
fn chosen(names: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("no step {unknown:?}; `cargo xtask ci --list` shows them").into());
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::chosen;
    use super::steps::STEPS;

    fn names(steps: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = steps.iter().map(|name| (*name).to_owned()).collect();
        chosen(&names).expect("they are known").iter().map(|step| step.name).collect()
    }

    #[test]
    fn steps_are_chosen_by_name_and_done_in_order() {
        assert_eq!(names(&["lints", "formatting"]), ["formatting", "lints"]);
        chosen(&["lint".to_owned()]).expect_err("there is no such step");
        assert_eq!(names(&[]).len(), STEPS.len());
        assert!(STEPS.iter().all(|step| names(&[step.name]) == [step.name]));
    }
}
