//! Continuous integration after the tests: runs and times each step, and prints a summary.
//!
//! If the machine lacks a tool for a step, the step is skipped. The summary says how to install the
//! tool.

pub(crate) mod api;
mod apt;
mod counts;
mod packages;
pub(crate) mod python;
mod report;
mod steps;
mod viewer;

use std::time::Instant;

use crate::Result;
use report::{Outcome, Report};
use steps::{STEPS, Step};

/// Arguments of `cargo xtask ci`. By default runs the short steps.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run only these steps
    steps: Vec<String>,
    /// Also run the long steps
    #[arg(long, conflicts_with = "steps")]
    long: bool,
    /// Duration of the preceding tests in seconds, for the summary
    #[arg(long, value_name = "SECONDS")]
    tests_took: Option<f64>,
    /// List the steps
    #[arg(long)]
    list: bool,
}

/// Runs `cargo xtask ci`.
///
/// # Errors
/// Fails if a step fails. The remaining steps run nevertheless.
pub fn run(arguments: &Arguments) -> Result {
    if arguments.list {
        for step in STEPS {
            println!("{:<27} {:<6} {}", step.name, if step.is_long { "long" } else { "short" }, step.about);
        }
        return Ok(());
    }
    let mut report = Report::default();
    if let Some(seconds) = arguments.tests_took {
        report.add("tests", Outcome::Passed, seconds);
    }
    for step in chosen(arguments)? {
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

/// Returns the named steps, or the steps of the selected form, in execution order.
fn chosen(arguments: &Arguments) -> Result<Vec<&'static Step>> {
    let Arguments { steps: names, long, .. } = arguments;
    if let Some(unknown) = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Err(format!("no step {unknown:?}; `cargo xtask ci --list` shows them").into());
    }
    let is_chosen = |step: &&Step| match names.is_empty() {
        true => *long || !step.is_long,
        false => names.iter().any(|name| name == step.name),
    };
    Ok(STEPS.iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::steps::STEPS;
    use super::{Arguments, chosen};

    fn names(steps: &[&str], long: bool) -> Vec<&'static str> {
        let steps = steps.iter().map(|name| (*name).to_owned()).collect();
        let arguments = Arguments { steps, long, tests_took: None, list: false };
        chosen(&arguments).expect("known steps").iter().map(|step| step.name).collect()
    }

    #[test]
    fn steps_run_by_name_and_in_order() {
        assert_eq!(names(&["counts", "formatting"], false), ["formatting", "counts"]);
        let unknown = Arguments { steps: vec!["lint".to_owned()], long: false, tests_took: None, list: false };
        chosen(&unknown).expect_err("an unknown step");
        assert!(STEPS.iter().all(|step| names(&[step.name], false) == [step.name]));
    }

    #[test]
    fn short_form_omits_long_steps() {
        let (short, long) = (names(&[], false), names(&[], true));
        assert_eq!(long.len(), STEPS.len());
        assert!(short.contains(&"lints") && !short.contains(&"packages"));
    }
}
