//! How long to wait before a request is made once more.

use std::time::Duration;

/// Before the first repetition.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Waits before the next repetition: longer each time, and never as long as somebody else who began at the same moment.
pub(crate) async fn pause(repetition: usize) {
    let doubled = u32::try_from(repetition).ok().and_then(|times| 2_u32.checked_pow(times));
    let most = doubled.and_then(|times| FIRST.checked_mul(times)).map_or(LONGEST, |pause| pause.min(LONGEST));
    // Half of it, and up to as much again.
    let share = crate::mark::random() as u8;
    tokio::time::sleep(most / 2 + most / 2 * u32::from(share) / 255).await;
}
