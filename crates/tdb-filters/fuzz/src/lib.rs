//! Properties that hold for any bytes, called by the drivers in `fuzz_targets` and by ordinary
//! tests.
//!
//! The input of [`decode`] and [`roundtrip`] starts with four bytes. They select the format
//! version, the datatype, the role of the tile (see [`Input::role`]) and the values per cell. The
//! number of cells and the length of the pipeline follow as `u16`. The rest are the pipeline and
//! the filtered or unfiltered tile. The input of [`pipeline_parse`] is the format version and the
//! pipeline.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use tdb_filters::{
    BoundPipeline, ChunkIndex, ElementTypes, EncryptionKey, Filter, FilterError, FilterPipeline, Scratch, TileKind,
    TileRole,
};
use tdb_types::{ByteReader, ByteWriter, Datatype, FormatVersion, Limits};

/// The limits used by the fuzz targets, with tiles of at most 1 MiB.
pub fn limits() -> Limits {
    Limits::SMALL.with_tile_bytes(1 << 20)
}

/// The key for decryption and encryption.
pub const KEY: EncryptionKey = EncryptionKey::new(*b"0123456789abcdef0123456789ABCDEF");

/// A parsed pipeline can be printed and written, and the written bytes parse to the same pipeline.
pub fn pipeline_parse(data: &[u8]) {
    let Some((&number, bytes)) = data.split_first() else { return };
    let version = version(number);
    let Ok(pipeline) = FilterPipeline::parse(&mut ByteReader::new(bytes), version) else { return };
    assert!(!pipeline.to_string().is_empty());
    let mut writer = ByteWriter::new();
    match pipeline.write(&mut writer, version) {
        Ok(()) => {
            let mut reader = ByteReader::new(writer.as_slice());
            assert_eq!(FilterPipeline::parse(&mut reader, version).unwrap(), pipeline);
            reader.finish("pipeline").unwrap();
        }
        Err(FilterError::NotInVersion { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Returns `true` if an input of [`decode`] is a decodable tile.
pub fn decodes(data: &[u8]) -> bool {
    let Some(input) = Input::parse(data) else { return false };
    let Ok(bound) = BoundPipeline::bind_with_key(&input.pipeline, input.kind, Some(&KEY)) else { return false };
    bound.decode_tile(input.rest, &mut vec![0; input.len], &mut Scratch::with_limits(limits())).is_ok()
}

/// Successful decoding overwrites the entire tile, and decoding chunk by chunk gives the same
/// bytes.
pub fn decode(data: &[u8]) {
    let Some(input) = Input::parse(data) else { return };
    let Ok(bound) = BoundPipeline::bind_with_key(&input.pipeline, input.kind, Some(&KEY)) else { return };
    let mut scratch = Scratch::with_limits(limits());
    let mut tiles = [vec![0x00; input.len], vec![0xff; input.len]];
    let results = tiles.each_mut().map(|tile| bound.decode_tile(input.rest, tile, &mut scratch));
    assert_eq!(results[0], results[1]);
    if results[0].is_ok() {
        assert!(tiles[0] == tiles[1], "some bytes were not written");
        check_chunks(&bound, input.rest, &tiles[0], &mut scratch);
    }
    if bound.can_carry_offsets() {
        let mut offsets = Vec::new();
        let cells = input.cells;
        let results =
            tiles.each_mut().map(|tile| bound.decode_strings(input.rest, tile, &mut offsets, cells, &mut scratch));
        assert_eq!(results[0], results[1]);
        if results[0].is_ok() {
            assert!(tiles[0] == tiles[1], "some bytes were not written");
            assert_eq!(offsets.len() as u64, cells);
            assert!(offsets.is_sorted() && offsets.iter().all(|&offset| offset <= input.len as u64));
        }
    }
}

fn check_chunks(bound: &BoundPipeline, filtered: &[u8], tile: &[u8], scratch: &mut Scratch) {
    if matches!(bound.kind().role, TileRole::Coordinates { .. }) {
        return; // the chunks are pieces of dimensions
    }
    let index = ChunkIndex::parse(filtered).unwrap();
    assert_eq!(index.unfiltered_len(), tile.len() as u64);
    for chunk in index.chunks() {
        let expected = &tile[chunk.unfiltered.start as usize..chunk.unfiltered.end as usize];
        let mut piece = vec![0xa5; expected.len()];
        bound.decode_chunk(filtered, chunk, &mut piece, scratch).unwrap();
        assert!(piece == expected, "decoding a chunk alone gives other bytes");
    }
}

/// Encoded tiles decode to the original, except with float scale, which loses precision.
pub fn roundtrip(data: &[u8]) {
    let Some(mut input) = Input::parse(data) else { return };
    let cell = usize::try_from(input.kind.cell_size).unwrap();
    let tile = &input.rest[..input.rest.len() / cell * cell];
    // The slowest levels reveal no additional errors.
    for filter in &mut input.pipeline.filters {
        if let Filter::Zstd { level } | Filter::Bzip2 { level } = filter {
            *level = (*level).min(4);
        }
    }
    let Ok(bound) = BoundPipeline::bind_with_key(&input.pipeline, input.kind, Some(&KEY)) else { return };
    let mut iv = [0; 12];
    let mut scratch = Scratch::with_limits(limits()).with_ivs(move || {
        iv[0] = u8::wrapping_add(iv[0], 1);
        iv
    });
    let offsets = input.offsets(tile.len());
    let mut filtered = vec![1, 2, 3];
    if bound.encode_tile(tile, offsets.as_deref(), &mut filtered, &mut scratch).is_err() {
        assert_eq!(filtered, [1, 2, 3]);
        return;
    }
    let mut back = vec![0xa5; tile.len()];
    if bound.carries_offsets() {
        let (mut starts, expected) = (Vec::new(), offsets.unwrap());
        let cells = expected.len() as u64;
        bound.decode_strings(&filtered[3..], &mut back, &mut starts, cells, &mut scratch).unwrap();
        assert_eq!(starts, expected);
    } else {
        bound.decode_tile(&filtered[3..], &mut back, &mut scratch).unwrap();
    }
    let lossy = input.pipeline.filters.iter().any(|filter| matches!(filter, Filter::FloatScale { .. }));
    assert!(lossy || back == tile, "{}", input.pipeline);
}

struct Input<'a> {
    kind: TileKind,
    cells: u64,
    /// Length of the unfiltered tile, in bytes.
    len: usize,
    pipeline: FilterPipeline,
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn parse(data: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(data);
        let version = version(reader.u8("version").ok()?);
        let datatype = Datatype::ALL[usize::from(reader.u8("datatype").ok()?) % Datatype::ALL.len()];
        let role = reader.u8("role").ok()?;
        let kind = Self::role(role, datatype, reader.u8("values").ok()?, version);
        let cells = u64::from(reader.u16("cells").ok()?);
        let pipeline_len = u64::from(reader.u16("length of the pipeline").ok()?);
        let mut pipeline = reader.sub("pipeline", pipeline_len).ok()?;
        let pipeline = FilterPipeline::parse(&mut pipeline, version).ok()?;
        let len = usize::try_from(cells * kind.cell_size).ok()?.min(1 << 20);
        Some(Self { kind, cells, len, pipeline, rest: reader.rest() })
    }

    /// The low bits select the role of the tile. The highest bit selects the tile's datatype for
    /// all filters.
    pub fn role(role: u8, datatype: Datatype, values: u8, version: FormatVersion) -> TileKind {
        let values = u32::from(values % 16) + 1;
        let kind = match role % 6 {
            0 => TileKind::fixed(datatype, values, version),
            1 => TileKind::offsets(version),
            2 => TileKind::var_data(datatype, version),
            3 => TileKind::validity(version),
            4 => TileKind::coordinates(datatype, values, version),
            _ => TileKind::generic(version),
        };
        kind.with_element_types(if role & 0x80 == 0 { ElementTypes::Stage } else { ElementTypes::Tile })
    }

    /// Returns the offsets of cells of different lengths, including empty cells, for tiles of
    /// variable size. Returns `None` for other tiles.
    fn offsets(&self, len: usize) -> Option<Vec<u64>> {
        if self.kind.role != TileRole::VarData {
            return None;
        }
        let (mut offsets, mut end) = (Vec::new(), 0);
        for cell in 0..self.cells {
            offsets.push(end);
            end = (end + cell * cell % 23 / 3 * self.kind.cell_size).min(len as u64);
        }
        Some(offsets)
    }
}

fn version(number: u8) -> FormatVersion {
    let count = FormatVersion::MAX.number();
    FormatVersion::new(u32::from(number) % count + 1).unwrap()
}
