//! Which bytes of files are asked for when, and how long they are kept.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::planned::PlannedFile;
use crate::{CancelToken, Request, Storage, coalesce};

/// Bytes of files that will be read, about in this order. As many as may be held are asked for at once; what was read makes
/// room for what comes next. A read of bytes that weren't asked for yet asks for them, with what follows in the same file.
#[derive(Debug)]
pub(super) struct Queue {
    storage: Arc<dyn Storage>,
    /// Bytes that may be held.
    budget: u64,
    files: Vec<File>,
    /// Windows of files, in the order in which they are asked for.
    order: Vec<(usize, usize)>,
    state: Mutex<State>,
    arrived: Condvar,
    /// Nobody will read any more.
    left: CancelToken,
}

#[derive(Debug)]
struct File {
    path: String,
    size: u64,
    /// One request each; ascending and disjoint.
    blocks: Vec<Range<u64>>,
    /// Blocks that are asked for together.
    windows: Vec<Range<usize>>,
}

#[derive(Debug)]
struct State {
    /// Of each file.
    blocks: Vec<Vec<Block>>,
    /// Windows before this one in the order have been asked for.
    next: usize,
    /// Bytes that are there or on their way.
    held: u64,
}

/// A block's state.
#[derive(Clone, Debug)]
enum Block {
    /// To be asked for.
    Planned,
    /// On its way.
    Asked,
    /// In memory; so many bytes of it were read.
    There { bytes: Arc<Vec<u8>>, taken: usize },
    /// Read, or not to be had: there was an error, which a plain read will give.
    Gone,
}

/// Most blocks of a file. What lies behind them is read plainly: sizes are what other files say, and may be anything.
const MOST_BLOCKS: usize = 1 << 16;

/// Blocks of files.
type Places = Vec<(usize, usize)>;

impl Queue {
    pub(super) fn new(storage: Arc<dyn Storage>, files: Vec<PlannedFile>, budget: u64) -> Self {
        let profile = storage.profile();
        let window = profile.largest.min(budget / 8).max(1);
        let files: Vec<File> = files.into_iter().map(|file| File::new(file, profile.gap, window)).collect();
        let blocks = files.iter().map(|file| vec![Block::Planned; file.blocks.len()]).collect();
        let state = Mutex::new(State { blocks, next: 0, held: 0 });
        let mut order: Vec<(usize, usize)> = Vec::new();
        // Files of one folder are read side by side.
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

    /// Bytes that are there already.
    pub(super) fn supplied(storage: Arc<dyn Storage>, path: &str, size: u64, start: u64, bytes: Vec<u8>) -> Self {
        let block = start..start.saturating_add(bytes.len() as u64);
        let file = PlannedFile { path: path.to_owned(), size, ranges: vec![block; 1] };
        let file = File::new(file, 0, u64::MAX);
        // They stay as long as they were supplied for.
        let there = Block::There { bytes: Arc::new(bytes), taken: 0 };
        let state = Mutex::new(State { blocks: vec![vec![there]], next: 0, held: 0 });
        let (arrived, left) = (Condvar::new(), CancelToken::new());
        Self { storage, budget: 0, files: vec![file], order: Vec::new(), state, arrived, left }
    }

    /// The paths of the files, in their order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// A file's size.
    pub(super) fn size(&self, file: usize) -> u64 {
        self.files[file].size
    }

    /// Asks for as much as there is room for.
    pub(super) fn begin(self: &Arc<Self>) {
        let asked = self.advance(&mut self.state());
        self.fetch(asked);
    }

    /// What says that nobody will read any more: then what wasn't asked of the storage yet is not asked for, and what is on its way
    /// is given up.
    pub(super) fn left(&self) -> &CancelToken {
        &self.left
    }

    /// Copies bytes of a file to the beginning of `buffer`, waiting for them if they are on their way; how many.
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
        // As long as nobody waits for the room, it may be read once more.
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

    /// Marks the planned blocks of a window as asked for.
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

    /// Asks for what comes next, once there is room for a good part of what may be held: few calls are better than many.
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

    /// Lets go of blocks if more are held than may be: first of those of the same file that were passed, then of those that were
    /// to be read last, wherever they are. Reads that don't keep to the order would otherwise hold something of every file.
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

    /// Bytes that are there or on their way.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.state().held
    }

    /// Asks for blocks without waiting for them: each can be read as soon as it has come.
    fn fetch(self: &Arc<Self>, places: Places) {
        if places.is_empty() || self.left.is_cancelled() {
            places.iter().for_each(|place| self.settle(*place, None));
            return;
        }
        let asked = Asked { queue: self.clone(), places };
        // Without threads the blocks are gone at once.
        spawn(move || {
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
        });
    }

    /// Says what came of a block that was asked for.
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

/// Blocks that somebody may wait for: whatever happens, they don't stay so.
struct Asked {
    queue: Arc<Queue>,
    places: Places,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.places.iter().for_each(|place| self.queue.settle(*place, None));
    }
}

/// Runs a job that waits, on a thread of its own; false if there can't be one.
fn spawn(job: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new().name("tdb-read-ahead".to_owned()).spawn(job).is_ok()
}
