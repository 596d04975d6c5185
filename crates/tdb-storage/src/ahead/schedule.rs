//! When which bytes of a file are asked for, and how long they are kept.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{PlannedFile, spawn};
use crate::{Request, Storage, coalesce};

/// The bytes of a file that will be read, in blocks that are one request each, and these in windows. A read of a window has the
/// next one asked for, and lets go of those before the last one.
#[derive(Debug)]
pub(super) struct Schedule {
    storage: Arc<dyn Storage>,
    path: String,
    size: u64,
    /// Ascending and disjoint.
    blocks: Vec<Range<u64>>,
    /// Which blocks are asked for together.
    windows: Vec<Range<usize>>,
    states: Mutex<Vec<State>>,
    arrived: Condvar,
}

/// A block's state.
#[derive(Clone, Debug)]
enum State {
    /// To be asked for.
    Planned,
    /// On its way.
    Asked,
    There(Arc<Vec<u8>>),
    /// Not to be had here any more, or never: there was an error, which a plain read will give.
    Gone,
}

/// Windows that may be in memory at once: the one that is read, the one before it, which another thread may be reading, and
/// the next.
const HELD: u64 = 3;

impl Schedule {
    /// `share` is how many bytes may be held at once; if `fits`, all of them may.
    pub(super) fn new(storage: Arc<dyn Storage>, file: PlannedFile, share: u64, fits: bool) -> Self {
        let profile = storage.profile();
        let window = if fits { u64::MAX } else { (share / HELD).max(1) };
        let merged = coalesce(&file.ranges, profile.gap);
        let most = profile.largest.min(window).max(1);
        let cut = |range: Range<u64>| {
            let end = range.end;
            let step = usize::try_from(most).unwrap_or(usize::MAX);
            range.step_by(step).map(move |start| start..end.min(start.saturating_add(most)))
        };
        let blocks: Vec<_> = merged.into_iter().flat_map(cut).collect();
        let (mut windows, mut first, mut bytes) = (Vec::new(), 0, 0_u64);
        for (index, block) in blocks.iter().enumerate() {
            bytes += block.end - block.start;
            if bytes >= window || index + 1 == blocks.len() {
                windows.push(first..index + 1);
                (first, bytes) = (index + 1, 0);
            }
        }
        let states = Mutex::new(vec![State::Planned; blocks.len()]);
        Self { storage, path: file.path, size: file.size, blocks, windows, states, arrived: Condvar::new() }
    }

    /// Bytes that are there already.
    pub(super) fn supplied(storage: Arc<dyn Storage>, path: &str, size: u64, start: u64, bytes: Vec<u8>) -> Self {
        let block = start..start.saturating_add(bytes.len() as u64);
        let states = Mutex::new(vec![State::There(Arc::new(bytes))]);
        let (blocks, windows) = (vec![block], Vec::from([0..1]));
        Self { storage, path: path.to_owned(), size, blocks, windows, states, arrived: Condvar::new() }
    }

    /// The file's size.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Asks for the first windows of files, in one call.
    pub(super) fn begin(storage: &Arc<dyn Storage>, schedules: Vec<Arc<Self>>) {
        let mut asked = Vec::new();
        for schedule in schedules {
            let blocks = schedule.ask(&mut schedule.states(), 0);
            asked.extend(blocks.map(|block| (schedule.clone(), block)));
        }
        fetch(storage, Asked(asked));
    }

    /// Copies bytes to the beginning of `buffer`, waiting for them if they are on their way; how many.
    pub(super) fn take(self: &Arc<Self>, offset: u64, buffer: &mut [u8]) -> usize {
        let index = self.blocks.partition_point(|block| block.start <= offset);
        let Some(index) = index.checked_sub(1).filter(|index| offset < self.blocks[*index].end) else { return 0 };
        let window = self.windows.partition_point(|blocks| blocks.end <= index);
        let mut states = self.states();
        let blocks = [window, window + 1].into_iter().flat_map(|window| self.ask(&mut states, window));
        let asked: Vec<_> = blocks.collect::<Vec<_>>().into_iter().map(|block| (self.clone(), block)).collect();
        if !asked.is_empty() {
            let kept = self.windows[window.saturating_sub(1)].start;
            states[..kept].fill(State::Gone);
            drop(states);
            fetch(&self.storage, Asked(asked));
            states = self.states();
        }
        while let State::Asked = states[index] {
            states = self.arrived.wait(states).unwrap_or_else(PoisonError::into_inner);
        }
        let State::There(bytes) = states[index].clone() else { return 0 };
        drop(states);
        let start = usize::try_from(offset - self.blocks[index].start).unwrap_or(usize::MAX);
        let there = bytes.get(start..).unwrap_or_default();
        let len = there.len().min(buffer.len());
        buffer[..len].copy_from_slice(&there[..len]);
        len
    }

    /// Marks the planned blocks of a window as asked for.
    fn ask(&self, states: &mut MutexGuard<'_, Vec<State>>, window: usize) -> impl Iterator<Item = usize> + use<> {
        let blocks = self.windows.get(window).cloned().unwrap_or_default();
        let planned: Vec<usize> = blocks.filter(|block| matches!(states[*block], State::Planned)).collect();
        planned.iter().for_each(|block| states[*block] = State::Asked);
        planned.into_iter()
    }

    /// How many blocks take memory, or are about to.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.states().iter().filter(|state| matches!(state, State::There(_) | State::Asked)).count()
    }

    fn states(&self) -> MutexGuard<'_, Vec<State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, block: usize, state: State) {
        let mut states = self.states();
        if let State::Asked = states[block] {
            states[block] = state;
        }
        drop(states);
        self.arrived.notify_all();
    }
}

/// Blocks that somebody may wait for: whatever happens, they don't stay so.
struct Asked(Vec<(Arc<Schedule>, usize)>);

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.iter().for_each(|(schedule, block)| schedule.set(*block, State::Gone));
    }
}

/// Asks for blocks without waiting for them.
fn fetch(storage: &Arc<dyn Storage>, asked: Asked) {
    if asked.0.is_empty() {
        return;
    }
    let storage = storage.clone();
    // Without threads the blocks are gone at once.
    spawn(move || {
        let request = |(schedule, block): &(Arc<Schedule>, usize)| {
            Request::range(schedule.path.clone(), schedule.blocks[*block].clone(), schedule.size)
        };
        let requests: Vec<Request> = asked.0.iter().map(request).collect();
        for ((schedule, block), answer) in asked.0.iter().zip(storage.fetch(&requests)) {
            if let Ok(fetched) = answer {
                schedule.set(*block, State::There(Arc::new(fetched.bytes)));
            }
        }
    });
}
