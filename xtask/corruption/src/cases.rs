//! Sequences of damage.

use tdb_testkit::hostile::SplitMix64;

use crate::alter::Alteration;
use crate::damage::Damage;
use crate::groups;
use crate::subject::Subject;

/// Damages all subjects in turn, endlessly. A seed yields the same sequence in every run.
#[derive(Debug)]
pub struct Cases<'a> {
    subjects: &'a [Subject],
    rng: SplitMix64,
    next: usize,
}

impl<'a> Cases<'a> {
    /// Creates a sequence for at least one subject.
    #[must_use]
    pub fn new(subjects: &'a [Subject], seed: u64) -> Self {
        Self { subjects, rng: SplitMix64::new(seed), next: 0 }
    }

    fn damage(&mut self, subject: &Subject) -> Option<Damage> {
        if subject.is_group() && self.rng.below(3) == 0 {
            return groups::damage(subject, &mut self.rng);
        }
        let (path, bytes) = pick(subject.files(), &mut self.rng);
        let alteration = Alteration::sample(bytes, &mut self.rng)?;
        Some(Damage::of_file(path, alteration, alteration.apply(bytes)))
    }
}

impl<'a> Iterator for Cases<'a> {
    type Item = (&'a Subject, Damage);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let subject = &self.subjects[self.next % self.subjects.len()];
            self.next += 1;
            if let Some(damage) = self.damage(subject) {
                return Some((subject, damage));
            }
        }
    }
}

/// Picks a random file. All files have the same chance, or a chance proportional to their size.
fn pick<'f>(files: &'f [(String, Vec<u8>)], rng: &mut SplitMix64) -> &'f (String, Vec<u8>) {
    if rng.below(2) == 0 {
        return &files[rng.below(files.len())];
    }
    let all: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let mut at = rng.below(all.max(1));
    let place = files.iter().position(|(_, bytes)| {
        let is_here = at < bytes.len();
        at = at.saturating_sub(bytes.len());
        is_here
    });
    &files[place.unwrap_or(0)]
}
