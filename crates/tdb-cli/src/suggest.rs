//! Suggestions for misspelled names.

use strsim::osa_distance;

/// Returns the most similar known name, or `None` if no name is similar enough.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // At most a third of the letters may be wrong.
    let allowed = name.chars().count() / 3;
    known
        .into_iter()
        .map(|candidate| (osa_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        let known = ["contig", "pos", "qual"];
        assert_eq!(nearest("Quall", known), Some("qual"));
        assert_eq!(nearest("contg", known), Some("contig"));
        // A swap of two letters counts as one mistake.
        assert_eq!(nearest("psi", ["pis"]), Some("pis"));
        assert_eq!(nearest("depth", known), None);
        assert_eq!(nearest("y", ["x", "Y"]), Some("Y"));
        assert_eq!(nearest("z", ["x", "y"]), None);
        assert_eq!(nearest("pos", []), None);
    }
}
