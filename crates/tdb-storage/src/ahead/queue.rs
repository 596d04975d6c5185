//! Scheduling and eviction of read-ahead requests.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::planned::PlannedFile;
use crate::{CancelToken, Request, Storage, coalesce};

/// The blocks of the planned files, in approximate order of reading.
///
/// The queue requests blocks up to a budget. Reading blocks makes room for further requests. A read
/// of a planned block immediately requests the window of the block and the next window of the file.
#[derive(Debug)]
pub(super) struct Queue {
    storage: Arc<dyn Storage>,
    /// Maximum number of bytes held.
    budget: u64,
    files: Vec<File>,
    /// Windows of files as (file, window), in request order.
    order: Vec<(usize, usize)>,
    state: Mutex<State>,
    arrived: Condvar,
    /// Cancelled when the [`ReadAhead`](super::ReadAhead) is dropped or its token is cancelled.
    pub(super) left: CancelToken,
}

#[derive(Debug)]
struct File {
    path: String,
    size: u64,
    /// Ascending, disjoint ranges, requested separately.
    blocks: Vec<Range<u64>>,
    /// Ranges of indices in `blocks`. The blocks of a window are requested together.
    windows: Vec<Range<usize>>,
}

#[derive(Debug)]
struct State {
    /// The state of each block of each file.
    blocks: Vec<Vec<Block>>,
    /// The next window in `order`. All earlier windows were requested.
    next: usize,
    /// Bytes in memory or in flight.
    held: u64,
}

/// The state of a block.
#[derive(Clone, Debug)]
enum Block {
    /// Not requested yet.
    Planned,
    /// In flight.
    Asked,
    /// In memory, with the number of bytes already read.
    There { bytes: Arc<Vec<u8>>, taken: usize },
    /// Evicted or failed. Readers then read from the storage, which reports the error.
    Gone,
}

/// Maximum number of blocks per file. Later bytes are read on demand, because file sizes are
/// untrusted and may be arbitrary.
const MOST_BLOCKS: usize = 1 << 16;

/// Blocks as (file, block).
type Places = Vec<(usize, usize)>;

impl Queue {
    pub(super) fn new(storage: Arc<dyn Storage>, files: Vec<PlannedFile>, budget: u64) -> Self {
        let profile = storage.profile();
        let window = profile.largest.min(budget / 8).max(1);
        let files: Vec<File> = files.into_iter().map(|file| File::new(file, profile.gap, window)).collect();
        let blocks = files.iter().map(|file| vec![Block::Planned; file.blocks.len()]).collect();
        let state = Mutex::new(State { blocks, next: 0, held: 0 });
        let mut order: Vec<(usize, usize)> = Vec::new();
        // Windows of consecutive files in a folder alternate, to read the files in parallel.
        let folder = |file: usize| files[file].path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let indices: Vec<usize> = (0..files.len()).collect();
        for group in indices.chunk_by(|a, b| folder(*a) == folder(*b)) {
            let most = group.iter().map(|file| files[*file].windows.len()).max().unwrap_or(0);
            for window in 0..most {
                order.extend(
                    group.iter().filter(|file| window < files[**file].windows.len()).map(|file| (*file, window)),
                );
            }
        }
        Self { storage, budget, files, order, state, arrived: Condvar::new(), left: CancelToken::new() }
    }

    /// Creates a queue of bytes already in memory.
    pub(super) fn supplied(storage: Arc<dyn Storage>, path: &str, size: u64, start: u64, bytes: Vec<u8>) -> Self {
        let block = start..start.saturating_add(bytes.len() as u64);
        let file = PlannedFile { path: path.to_owned(), size, ranges: vec![block; 1] };
        let file = File::new(file, 0, u64::MAX);
        // Supplied bytes are kept as long as the queue.
        let there = Block::There { bytes: Arc::new(bytes), taken: 0 };
        let state = Mutex::new(State { blocks: vec![vec![there]], next: 0, held: 0 });
        let (arrived, left) = (Condvar::new(), CancelToken::new());
        Self { storage, budget: 0, files: vec![file], order: Vec::new(), state, arrived, left }
    }

    /// Iterates over the paths of the files, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Returns the size of a file.
    pub(super) fn size(&self, file: usize) -> u64 {
        self.files[file].size
    }

    /// Requests the first blocks, up to the budget.
    pub(super) fn begin(self: &Arc<Self>) {
        let asked = self.advance(&mut self.state());
        self.fetch(asked);
    }

    /// Copies bytes of a file to the start of `buffer`, waiting for bytes in flight. Returns the
    /// number of bytes copied, which is 0 if the byte at `offset` is not planned, was evicted or
    /// failed.
    pub(super) fn take(self: &Arc<Self>, file: usize, offset: u64, buffer: &mut [u8]) -> usize {
        let File { blocks, windows, .. } = &self.files[file];
        let index = blocks.partition_point(|block| block.start <= offset);
        let Some(index) = index.checked_sub(1).filter(|index| offset < blocks[*index].end) else { return 0 };
        let mut state = self.state();
        if let Block::Planned = state.blocks[file][index] {
            let window = windows.partition_point(|blocks| blocks.end <= index);
            let mut asked = self.ask(&mut state, (file, window));
            asked.extend(self.ask(&mut state, (file, window + 1)));
            self.make_room(&mut state, (file, window));
            drop(state);
            self.fetch(asked);
            state = self.state();
        }
        while let Block::Asked = state.blocks[file][index] {
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let Block::There { bytes, taken } = &mut state.blocks[file][index] else { return 0 };
        let start = usize::try_from(offset - blocks[index].start).unwrap_or(usize::MAX);
        let len = bytes.len().saturating_sub(start).min(buffer.len());
        *taken = taken.saturating_add(len);
        let (bytes, is_read) = (bytes.clone(), *taken >= bytes.len());
        // A completely read block makes room for the remaining windows. After the last window, the
        // block stays in memory, because it may be read again.
        let asked = if is_read && state.next < self.order.len() {
            self.let_go(&mut state, (file, index));
            self.advance(&mut state)
        } else {
            Places::new()
        };
        drop(state);
        self.fetch(asked);
        buffer[..len].copy_from_slice(&bytes[start..start + len]);
        len
    }

    /// Marks the planned blocks of a window as in flight, and returns them.
    fn ask(&self, state: &mut State, (file, window): (usize, usize)) -> Places {
        let blocks = self.files[file].windows.get(window).cloned().unwrap_or_default();
        let mut asked = Places::new();
        for index in blocks {
            if let block @ Block::Planned = &mut state.blocks[file][index] {
                *block = Block::Asked;
                state.held += self.len(file, index);
                asked.push((file, index));
            }
        }
        asked
    }

    /// Marks further windows as in flight once a quarter of the budget is free, and returns their
    /// blocks. Few large calls are better than many small calls.
    fn advance(&self, state: &mut State) -> Places {
        let mut asked = Places::new();
        if state.next > 0 && state.held > self.budget - self.budget / 4 {
            return asked;
        }
        while let Some(window) = self.order.get(state.next)
            && (state.held < self.budget || state.held == 0)
        {
            asked.extend(self.ask(state, *window));
            state.next += 1;
        }
        asked
    }

    /// Evicts blocks until the budget is met. Blocks of the same file before the previous window go
    /// first, followed by the blocks planned last in any file.
    ///
    /// Without eviction, reads out of order would keep bytes of every file.
    fn make_room(&self, state: &mut State, (file, window): (usize, usize)) {
        let passed = 0..self.files[file].windows[window.saturating_sub(1)].start;
        let passed: Places = passed.map(|index| (file, index)).collect();
        let is_needed = |place: &(usize, usize)| place.0 == file && (window..=window + 1).contains(&place.1);
        let last = self.order.iter().rev().filter(|place| !is_needed(place));
        let last = last.flat_map(|(file, window)| self.files[*file].windows[*window].clone().map(move |i| (*file, i)));
        for (file, index) in passed.into_iter().chain(last) {
            if state.held <= self.budget {
                break;
            }
            if let Block::There { .. } = state.blocks[file][index] {
                self.let_go(state, (file, index));
            }
        }
    }

    fn let_go(&self, state: &mut State, (file, index): (usize, usize)) {
        state.blocks[file][index] = Block::Gone;
        state.held = state.held.saturating_sub(self.len(file, index));
    }

    fn len(&self, file: usize, index: usize) -> u64 {
        let block = &self.files[file].blocks[index];
        block.end - block.start
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of bytes in memory or in flight.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.state().held
    }

    /// Requests blocks without waiting. Each block is readable on arrival.
    fn fetch(self: &Arc<Self>, places: Places) {
        if places.is_empty() || self.left.is_cancelled() {
            places.iter().for_each(|place| self.settle(*place, None));
            return;
        }
        let asked = Asked { queue: self.clone(), places };
        let job = move || {
            let queue = &asked.queue;
            let request = |(file, index): &(usize, usize)| {
                let File { path, size, blocks, .. } = &queue.files[*file];
                Request::range(path.clone(), blocks[*index].clone(), *size)
            };
            let requests: Vec<Request> = asked.places.iter().map(request).collect();
            queue.storage.fetch_each(&requests, &queue.left, &mut |place, answer| {
                let bytes = answer.map(|fetched| fetched.bytes);
                if let Some(place) = asked.places.get(place) {
                    queue.settle(*place, bytes.ok());
                }
            });
        };
        if self.storage.profile().is_immediate {
            job();
        } else {
            // If no thread can be created, dropping the job settles the blocks.
            let _ = thread::Builder::new().name("tdb-read-ahead".to_owned()).spawn(job);
        }
    }

    /// Stores the outcome of a requested block.
    fn settle(&self, (file, index): (usize, usize), bytes: Option<Vec<u8>>) {
        let mut state = self.state();
        if let Block::Asked = state.blocks[file][index] {
            match bytes {
                Some(bytes) => state.blocks[file][index] = Block::There { bytes: Arc::new(bytes), taken: 0 },
                None => self.let_go(&mut state, (file, index)),
            }
        }
        drop(state);
        self.arrived.notify_all();
    }
}

impl File {
    fn new(file: PlannedFile, gap: u64, window: u64) -> Self {
        let cut = |range: Range<u64>| {
            let end = range.end;
            let step = usize::try_from(window).unwrap_or(usize::MAX);
            range.step_by(step).map(move |start| start..end.min(start.saturating_add(window)))
        };
        let blocks: Vec<_> = coalesce(&file.ranges, gap).into_iter().flat_map(cut).take(MOST_BLOCKS).collect();
        let (mut windows, mut first, mut bytes) = (Vec::new(), 0, 0_u64);
        for (index, block) in blocks.iter().enumerate() {
            bytes += block.end - block.start;
            if bytes >= window || index + 1 == blocks.len() {
                windows.push(first..index + 1);
                (first, bytes) = (index + 1, 0);
            }
        }
        Self { path: file.path, size: file.size, blocks, windows }
    }
}

/// Blocks in flight. Dropping this value settles the blocks, so that no reader waits forever.
struct Asked {
    queue: Arc<Queue>,
    places: Places,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.places.iter().for_each(|place| self.queue.settle(*place, None));
    }
}
