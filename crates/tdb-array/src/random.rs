//! Random numbers, for names and for encryption.

use crate::{ArrayError, Result};

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| ArrayError::Randomness { why: error.to_string() })?;
    Ok(bytes)
}

/// A source of initialisation vectors for encryption: 96 bits that begin anywhere and count upwards, so that two sources
/// of the same key meet as rarely as can be.
pub(crate) fn random_ivs() -> Result<impl FnMut() -> [u8; 12] + Send + Sync + 'static> {
    let mut start = [0; 16];
    start.iter_mut().zip(random::<12>()?).for_each(|(byte, random)| *byte = random);
    let mut next = u128::from_le_bytes(start);
    Ok(move || {
        next = next.wrapping_add(1);
        let [iv @ .., _, _, _, _] = next.to_le_bytes();
        iv
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ivs_differ() {
        let (mut a, mut b) = (random_ivs().unwrap(), random_ivs().unwrap());
        let ivs: HashSet<_> = (0..100).flat_map(|_| [a(), b()]).collect();
        assert_eq!(ivs.len(), 200);
    }
}
