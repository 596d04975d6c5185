//! Delays between retries.

use std::time::Duration;

/// Maximum delay before the first retry.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(5);

/// Waits before a retry. The delay doubles each time, with random jitter against synchronized
/// clients.
pub(crate) async fn pause(repetition: usize) {
    let doubled = u32::try_from(repetition).ok().and_then(|times| 2_u32.checked_pow(times));
    let most = doubled.and_then(|times| FIRST.checked_mul(times)).map_or(LONGEST, |pause| pause.min(LONGEST));
    // Waits between half of the delay and the full delay.
    let share = crate::mark::random() as u8;
    tokio::time::sleep(most / 2 + most / 2 * u32::from(share) / 255).await;
}
