//! The results of the steps.

use std::fmt::Write;

use crate::Result;

/// The result of a step.
#[derive(Debug)]
pub enum Outcome {
    Passed,
    Failed(String),
    /// The step was skipped. Contains the missing tool and how to install it.
    Skipped(String),
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "FAILED",
            Self::Skipped(_) => "skipped",
        }
    }
}

impl From<Result> for Outcome {
    fn from(result: Result) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

/// The results of all completed steps, with their durations in seconds.
#[derive(Debug, Default)]
pub struct Report(Vec<(&'static str, Outcome, f64)>);

impl Report {
    pub fn add(&mut self, step: &'static str, outcome: Outcome, seconds: f64) {
        self.0.push((step, outcome, seconds));
    }

    /// Formats a line for each step, and the totals.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (step, outcome, seconds) in &self.0 {
            let _ = write!(text, "{:<8}{seconds:>8.1} s  {step}", outcome.word());
            let reason = match outcome {
                Outcome::Skipped(reason) => Some(reason.as_str()),
                // The complete reason has been printed when the step failed.
                Outcome::Failed(reason) => reason.lines().next(),
                Outcome::Passed => None,
            };
            let _ = writeln!(text, "{}", reason.map(|reason| format!(": {reason}")).unwrap_or_default());
        }
        let count = |word: &str| self.0.iter().filter(|(_, outcome, _)| outcome.word() == word).count();
        let [passed, failed, skipped] = ["passed", "FAILED", "skipped"].map(count);
        let _ = write!(text, "{passed} steps passed, {failed} failed, {skipped} were skipped");
        text
    }

    /// Returns an error that lists the failed steps.
    ///
    /// # Errors
    /// Fails if a step failed.
    pub fn result(&self) -> Result {
        let failed = self.0.iter().filter(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
        let failed: Vec<&str> = failed.map(|(step, ..)| *step).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", ")).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Report};

    #[test]
    fn failed_steps_are_reported_and_skipped_steps_are_not() {
        let mut report = Report::default();
        report.add("one", Outcome::from(Ok(())), 0.25);
        report.add("two", Outcome::Skipped("`rustup target add x`".to_owned()), 0.0);
        report.result().expect("nothing failed");
        report.add("three", Outcome::from(Err("it\nfailed".into())), 75.0);
        let text = "passed       0.2 s  one\nskipped      0.0 s  two: `rustup target add x`\n\
                    FAILED      75.0 s  three: it\n1 steps passed, 1 failed, 1 were skipped";
        assert_eq!(report.text(), text);
        assert_eq!(report.result().expect_err("one failed").to_string(), "failed: three");
    }
}
