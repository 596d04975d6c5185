//! Histories as text.

use std::fmt::Write as _;

use tdb_cases::history::{Deed, History};
use tdb_cases::print;

/// Formats the array, followed by at least one line per turn.
pub fn history(history: &History) -> String {
    let mut text = print::array(&history.case());
    let _ = writeln!(text, "created by {:?} in format {}", history.creator, history.version);
    for turn in &history.turns {
        let _ = write!(text, "{:?}: ", turn.side);
        match &turn.deed {
            Deed::Step(step) => text.push_str(&print::step(&history.case(), step)),
            deed => drop(writeln!(text, "{deed:?}")),
        }
    }
    text
}
