//! Output of encoded tiles to one fragment, or to several fragments of limited size.

use std::sync::Arc;

use tdb_snapshot::{ArrayError, Result};
use tdb_types::saturating_len;

use super::slices::Slices;
use crate::encoder::EncodedTile;
use crate::fragment::FragmentWriter;
use crate::target::Target;
use crate::windows::EncodedWindow;
use crate::{SealedFragment, WriteIds};

/// The fragments of a stream.
#[derive(Debug)]
pub(super) struct Output {
    target: Arc<Target>,
    names: WriteIds,
    max_fragment_size: Option<u64>,
    /// Slices of a dense region, where fragments may end. `None` for a sparse array.
    pub(super) slices: Option<Box<Slices>>,
    writer: Option<FragmentWriter>,
    sealed: Vec<SealedFragment>,
}

impl Output {
    pub(super) fn new(
        target: &Arc<Target>,
        names: &WriteIds,
        slices: Option<Box<Slices>>,
        max_fragment_size: Option<u64>,
    ) -> Self {
        let (target, names) = (Arc::clone(target), names.clone());
        Self { target, names, max_fragment_size, slices, writer: None, sealed: Vec::new() }
    }

    /// Writes tiles to as many fragments as necessary.
    pub(super) fn write(&mut self, window: EncodedWindow) -> Result<()> {
        let EncodedWindow { mut tiles, lens } = window;
        let sizes: Vec<u64> = (0..lens.len()).map(|tile| tiles.iter().map(|field| field[tile].size()).sum()).collect();
        let mut start = 0;
        while start < lens.len() {
            let end = self.end_of_fragment(&sizes, start)?;
            let some: Vec<Vec<EncodedTile>> =
                tiles.iter_mut().map(|field| field.drain(..end - start).collect()).collect();
            self.writer()?.append(some, &lens[start..end])?;
            if let Some(slices) = &mut self.slices {
                slices.written += (end - start) as u64;
            }
            start = end;
        }
        Ok(())
    }

    /// Returns the end of the tiles from `start` on that belong to the current fragment. If that
    /// fragment is full, ends it first, so that at least one tile belongs to the next fragment.
    fn end_of_fragment(&mut self, sizes: &[u64], start: usize) -> Result<usize> {
        let Some(max) = self.max_fragment_size else { return Ok(sizes.len()) };
        let mut size = self.writer.as_ref().map_or(0, FragmentWriter::data_size);
        if let Some(slices) = &self.slices {
            if slices.written.is_multiple_of(slices.tiles) {
                // The estimated size of the next slice is the size of the last slice.
                let last = size - slices.size_before.min(size);
                if size > 0 && size + last > max {
                    self.end_fragment()?;
                    size = 0;
                }
                if let Some(slices) = &mut self.slices {
                    slices.size_before = size;
                }
            }
            let Some(slices) = &self.slices else { return Ok(sizes.len()) };
            let left = slices.tiles - slices.written % slices.tiles;
            return Ok(sizes.len().min(start + saturating_len(left)));
        }
        if size > 0 && size + sizes[start] > max {
            self.end_fragment()?;
            size = 0;
        }
        let mut end = start;
        while end < sizes.len() && (end == start || size + sizes[end] <= max) {
            size += sizes[end];
            end += 1;
        }
        Ok(end)
    }

    fn writer(&mut self) -> Result<&mut FragmentWriter> {
        if self.writer.is_none() {
            self.writer = Some(match &self.slices {
                None => FragmentWriter::sparse(&self.target, &self.names)?,
                Some(slices) => FragmentWriter::dense(&self.target, &self.names, slices.region.clone())?,
            });
        }
        self.writer.as_mut().ok_or_else(|| ArrayError::Write("missing fragment".to_owned()))
    }

    fn end_fragment(&mut self) -> Result<()> {
        let Some(mut writer) = self.writer.take() else { return Ok(()) };
        if let Some(slices) = &mut self.slices {
            writer = writer.with_domain(slices.end(&self.target))?;
        }
        self.sealed.push(writer.seal()?);
        Ok(())
    }

    /// Ends the last fragment and returns all fragments.
    pub(super) fn finish(mut self) -> Result<Vec<SealedFragment>> {
        self.end_fragment()?;
        Ok(self.sealed)
    }
}
