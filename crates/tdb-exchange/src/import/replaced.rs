//! The set of superseded rows.

/// Numbers of rows that later rows supersede, as a bitmap with one bit per row.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    words: Vec<u64>,
}

impl Replaced {
    pub(super) fn add(&mut self, number: u64) {
        let (word, bit) = place(number);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bit;
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(number: u64) -> (usize, u64) {
    (tdb_types::saturating_len(number / 64), 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_in_any_order() {
        let mut replaced = Replaced::default();
        let numbers = [64, 1, 1000, 63, 128];
        numbers.iter().for_each(|number| replaced.add(*number));
        let found: Vec<u64> = (0..2000).filter(|number| replaced.contains(*number)).collect();
        assert_eq!(found, [1, 63, 64, 128, 1000]);
    }
}
