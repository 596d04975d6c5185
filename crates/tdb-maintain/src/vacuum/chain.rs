//! Vacuum files, and the conditions under which the listed files may be deleted.
//!
//! A consolidated file may itself be superseded by a later consolidation, while its vacuum file
//! still exists. Then the last consolidated file of this chain must exist.

use std::collections::HashMap;

use tdb_types::TimestampedName;

use crate::draft::Reason;

/// Decides for each vacuum file whether the listed files may be deleted.
///
/// `parts` returns the name of the consolidated file, in the form used in vacuum files, and the
/// listed files. `is_sane` checks the vacuum file itself. `check` checks that the consolidated file
/// replaces the listed files. The second argument of `check` is `true` if another vacuum file lists
/// the consolidated file, which may be deleted.
pub(super) fn verdicts<T, K>(
    all: &[T],
    parts: impl Fn(&T) -> (&str, &[String]),
    is_sane: impl Fn(&T) -> Result<(), Reason>,
    check: impl Fn(&T, bool) -> Result<K, Reason>,
) -> Vec<Result<K, Reason>> {
    let mut listed_by: HashMap<&str, usize> = HashMap::new();
    for (index, vacuum) in all.iter().enumerate() {
        for target in parts(vacuum).1 {
            listed_by.entry(target.as_str()).or_insert(index);
        }
    }
    let next = |index: usize| all.get(index).and_then(|vacuum| listed_by.get(parts(vacuum).0).copied());
    let mut verdicts: Vec<Option<Result<K, Reason>>> = all.iter().map(|_| None).collect();
    for start in 0..all.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(index) = at.filter(|index| verdicts[*index].is_none() && !path.contains(index)) {
            path.push(index);
            at = next(index);
        }
        // No vacuum file of a cycle is reliable.
        let circle = at.and_then(|index| path.iter().position(|other| *other == index)).unwrap_or(path.len());
        let is_behind_circle = circle < path.len();
        for (place, &index) in path.iter().enumerate().rev() {
            let held = next(index).is_some_and(|next| matches!(verdicts[next], Some(Ok(_))));
            let is_in_circle = is_behind_circle && place >= circle;
            verdicts[index] = Some(is_sane(&all[index]).and_then(|()| match is_in_circle {
                true => Err(Reason::Cycle),
                false => check(&all[index], held),
            }));
        }
    }
    verdicts.into_iter().flatten().collect()
}

/// Checks that all listed files start within the time range of the consolidated file.
pub(super) fn in_its_time<'a>(
    name: &TimestampedName,
    mut targets: impl Iterator<Item = &'a TimestampedName>,
) -> Result<(), Reason> {
    match targets.find(|target| !(name.start()..=name.end()).contains(&target.start())) {
        Some(other) => Err(Reason::OtherTime { name: other.to_string() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vacuum = (&'static str, Vec<String>);

    /// Returns the executed vacuum files, given the existing consolidated files.
    fn carried_out(all: &[(&'static str, &[&str])], there: &[&str]) -> Vec<&'static str> {
        let of = |(name, targets): &(&'static str, &[&str])| {
            (*name, targets.iter().map(|target| (*target).to_owned()).collect())
        };
        let all: Vec<Vacuum> = all.iter().map(of).collect();
        let check = |vacuum: &Vacuum, held: bool| match held || there.contains(&vacuum.0) {
            true => Ok(()),
            false => Err(Reason::NoReplacement),
        };
        let verdicts = verdicts(&all, |vacuum| (vacuum.0, &vacuum.1), |_| Ok(()), check);
        assert_eq!(verdicts.len(), all.len());
        all.iter().zip(verdicts).filter(|(_, verdict)| verdict.is_ok()).map(|(vacuum, _)| vacuum.0).collect()
    }

    #[test]
    fn the_last_of_a_chain_decides() {
        let chain: [(&str, &[&str]); 3] = [("f", &["a", "b"]), ("g", &["f", "c"]), ("h", &["g"])];
        assert_eq!(carried_out(&chain, &["h"]), ["f", "g", "h"]);
        assert_eq!(carried_out(&chain, &["f", "g", "h"]), ["f", "g", "h"]);
        // An existing file suffices for the files before it in the chain.
        assert_eq!(carried_out(&chain, &["g"]), ["f", "g"]);
        assert_eq!(carried_out(&chain, &["f"]), ["f"]);
        assert_eq!(carried_out(&chain, &[]), [""; 0]);
    }

    #[test]
    fn cycles_are_kept() {
        let circle: [(&str, &[&str]); 3] = [("f", &["g"]), ("g", &["f"]), ("e", &["a"])];
        assert_eq!(carried_out(&circle, &["e", "f", "g"]), ["e"]);
        // A file before a cycle must exist.
        let into: [(&str, &[&str]); 3] = [("e", &["a"]), ("f", &["g", "e"]), ("g", &["f"])];
        assert_eq!(carried_out(&into, &["e", "f", "g"]), ["e"]);
        assert_eq!(carried_out(&into, &["f", "g"]), [""; 0]);
        assert_eq!(carried_out(&[("f", &["f", "a"])], &["f"]), [""; 0]);
    }
}
