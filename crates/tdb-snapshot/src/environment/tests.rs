use std::collections::HashSet;

use super::*;

/// A clock that always returns the same time.
#[derive(Debug)]
struct Fixed(u64);

impl Clock for Fixed {
    fn now(&self) -> io::Result<u64> {
        Ok(self.0)
    }

    fn wait_until(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
struct Nothing;

impl Clock for Nothing {
    fn now(&self) -> io::Result<u64> {
        Err(io::Error::other("stopped"))
    }
}

impl Randomness for Nothing {
    fn fill(&self, _: &mut [u8]) -> io::Result<()> {
        Err(io::Error::other("dry"))
    }
}

fn at(time: u64) -> Environment {
    Environment::system().with_clock(Fixed(time))
}

fn message<T: fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn ivs_differ() {
    let (mut a, mut b) = (Environment::system().random_ivs().unwrap(), Environment::system().random_ivs().unwrap());
    let ivs: HashSet<_> = (0..100).flat_map(|_| [a(), b()]).collect();
    assert_eq!(ivs.len(), 200);
}

#[test]
fn uuids_have_version_variant_and_time() {
    let system = Environment::system();
    let (before, uuid) = (system.now().unwrap(), system.uuid_v7().unwrap());
    assert_eq!((uuid >> 76 & 0xf, uuid >> 62 & 0b11), (7, 0b10));
    // Other tests may have advanced the shared counter beyond the clock.
    assert!((uuid >> 80) + 1 >= u128::from(before) && uuid >> 80 <= u128::from(system.now().unwrap()) + 100);
}

#[test]
fn names_ascend_if_the_clock_stands_still() {
    let environment = at(7);
    let uuids: Vec<u128> = (0..10_000).map(|_| environment.clone().uuid_v7().unwrap()).collect();
    assert!(uuids.is_sorted() && uuids.iter().collect::<HashSet<_>>().len() == uuids.len());
    assert_eq!((uuids[0] >> 80, uuids[0] >> 64 & 0xfff), (7, 0));
    assert_eq!(uuids[9_999] >> 80, 9);
}

#[test]
fn clocks_have_separate_counters() {
    let far = at((1 << 48) - 1).uuid_v7().unwrap();
    assert_eq!(far >> 80, (1 << 48) - 1);
    assert_eq!(at(0).uuid_v7().unwrap() >> 80, 0);
    assert!(Environment::system().uuid_v7().unwrap() < far);
}

#[test]
fn times_that_names_cannot_hold_are_errors() {
    for time in [1 << 48, u64::MAX] {
        let error = at(time).uuid_v7().unwrap_err();
        assert!(matches!(error, ArrayError::Clock { .. }) && error.to_string().contains("48 bits"), "{error}");
    }
    let last = at((1 << 48) - 1);
    assert!((0..4096).all(|_| last.uuid_v7().is_ok()));
    assert!(message(last.uuid_v7()).contains("48 bits"));
}

#[test]
fn waiting_ends() {
    assert!(message(at(5).wait_until_after(5)).contains("found time 5 after waiting until 6"));
    assert!(message(at(u64::MAX).wait_until_after(u64::MAX)).contains("found time 18446744073709551615"));
    at(6).wait_until_after(5).unwrap();
    let system = Environment::system();
    let now = system.now().unwrap();
    system.wait_until_after(now).unwrap();
    assert!(system.now().unwrap() > now);
}

#[test]
fn errors_contain_the_reason() {
    let environment = Environment::system().with_clock(Nothing).with_randomness(Nothing);
    assert_eq!(message(environment.now()), "cannot get the time from the clock: stopped");
    assert_eq!(message(environment.uuid_v7()), "cannot get the time from the clock: stopped");
    assert_eq!(
        message(environment.wait_until_after(3)),
        "cannot get the time from the clock: waiting until 4 is not supported"
    );
    assert!(message(environment.random::<4>()).contains("dry"));
    assert!(environment.random_ivs().is_err());
}
