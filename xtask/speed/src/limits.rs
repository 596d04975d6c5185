//! Speed limits of the machine.

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};

use sha2::{Digest, Sha256};
use tdb_reference::Stopwatch;

use super::arrays::{Codec, SpeedArray};

/// Single-threaded speeds of this machine in bytes per second.
pub struct Machine {
    pub threads: usize,
    pub copy: f64,
    pub page_cache: f64,
    /// First write to newly allocated memory.
    pub fresh: f64,
    /// Writes to a new file in memory.
    pub new_file: f64,
}

/// The direction of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Encode,
    Decode,
}

pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the median speed of five runs over `bytes` bytes, by CPU time. Comparisons with limits
/// use CPU time, because it depends less on other load.
fn speed(bytes: usize, mut run: impl FnMut()) -> f64 {
    run();
    let mut seconds: Vec<f64> = (0..5)
        .map(|_| {
            let start = Stopwatch::start();
            run();
            start.cpu_seconds()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    bytes as f64 / seconds[2]
}

pub fn measure() -> Result<Machine, Box<dyn Error>> {
    const BYTES: usize = 256 << 20;
    let from = vec![7u8; BYTES];
    let mut to = vec![0u8; BYTES];
    let copy = speed(BYTES, || to.copy_from_slice(std::hint::black_box(&from)));
    let fresh = speed(BYTES, || {
        let mut memory = vec![0_u8; BYTES];
        memory.fill(7);
        std::hint::black_box(memory);
    });
    let mut file: File = tempfile::tempfile()?;
    file.write_all(&from)?;
    let mut failed = None;
    let page_cache = speed(BYTES, || {
        let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_exact(&mut to));
        failed = read.err();
    });
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let new_file = speed(BYTES, || {
        let path = folder.path().join("new");
        let written =
            File::create(&path).and_then(|mut file| file.write_all(&from)).and_then(|()| fs::remove_file(&path));
        failed = written.err().or(failed.take());
    });
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(Machine { threads: threads(), copy, page_cache, fresh, new_file }),
    }
}

/// Chunk size in bytes, as in pipelines.
const CHUNK: usize = 64 << 10;

/// Returns the single-threaded speed of a codec on 64 KiB chunks of the array's cells, in bytes of
/// cells per second.
pub fn codec(codec: Codec, array: &SpeedArray, direction: Direction) -> Result<f64, Box<dyn Error>> {
    let mut sample = array.writes[0].clone();
    sample.cells = sample.cells.min(1 << 20);
    let cells = sample.materialise().cells;
    let cells = &cells.last().ok_or("no column")?.values;
    let mut compress = compressor(codec)?;
    let mut failed = None;
    let speed = match direction {
        Direction::Encode => {
            let mut out = Vec::new();
            speed(cells.len(), || {
                for chunk in cells.chunks(CHUNK) {
                    failed = compress(chunk, &mut out).err().or(failed.take());
                }
            })
        }
        Direction::Decode => {
            let mut compressed = |chunk| {
                let mut out = Vec::new();
                compress(chunk, &mut out).map(|()| out)
            };
            let chunks = cells.chunks(CHUNK).map(&mut compressed).collect::<Result<Vec<_>, _>>()?;
            let mut out = cells.to_vec();
            let mut decompress = decompressor(codec)?;
            speed(cells.len(), || {
                for (chunk, out) in chunks.iter().zip(out.chunks_mut(CHUNK)) {
                    failed = decompress(chunk, out).err().or(failed.take());
                }
            })
        }
    };
    match failed {
        Some(error) => Err(error),
        None => Ok(speed),
    }
}

type Compress = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> Result<(), Box<dyn Error>>>;

/// Returns a function that compresses a chunk into a buffer. It reuses contexts and buffers, as
/// encoders do.
fn compressor(codec: Codec) -> Result<Compress, Box<dyn Error>> {
    Ok(match codec {
        Codec::Zstd => {
            let mut compressor = zstd::bulk::Compressor::new(3)?;
            Box::new(move |chunk, out| {
                out.resize(zstd::zstd_safe::compress_bound(chunk.len()), 0);
                let len = compressor.compress_to_buffer(chunk, &mut out[..])?;
                out.truncate(len);
                Ok(())
            })
        }
        Codec::Lz4 => {
            let mut table = lz4_flex::block::CompressTable::large();
            Box::new(move |chunk, out| {
                out.resize(lz4_flex::block::get_maximum_output_size(chunk.len()), 0);
                let len = lz4_flex::block::compress_into_with_table(chunk, out, &mut table)?;
                out.truncate(len);
                Ok(())
            })
        }
        Codec::Bzip2 => Box::new(|chunk, out| {
            out.clear();
            let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::new(1));
            encoder.write_all(chunk)?;
            encoder.finish().map(drop).map_err(Into::into)
        }),
        Codec::Gzip => {
            let mut deflate = flate2::Compress::new(flate2::Compression::new(6), true);
            Box::new(move |chunk, out| {
                deflate.reset();
                out.clear();
                out.reserve(chunk.len() + chunk.len() / 8 + 128);
                deflate.compress_vec(chunk, out, flate2::FlushCompress::Finish).map(drop).map_err(Into::into)
            })
        }
        Codec::Sha256 => Box::new(|chunk, out| {
            out.clear();
            out.extend_from_slice(&Sha256::digest(chunk));
            Ok(())
        }),
    })
}

type Decompress = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<(), Box<dyn Error>>>;

fn decompressor(codec: Codec) -> Result<Decompress, Box<dyn Error>> {
    Ok(match codec {
        Codec::Zstd => {
            let mut decompressor = zstd::bulk::Decompressor::new()?;
            Box::new(move |chunk, out| decompressor.decompress_to_buffer(chunk, out).map(drop).map_err(Into::into))
        }
        // Data are not changed, only compared with their digest.
        Codec::Sha256 => Box::new(|digest, out| match Sha256::digest(out)[..] == *digest {
            true => Ok(()),
            false => Err("digests differ".into()),
        }),
        Codec::Lz4 => Box::new(|chunk, out| lz4_flex::block::decompress_into(chunk, out).map(drop).map_err(Into::into)),
        Codec::Bzip2 => Box::new(|chunk, out| Ok(bzip2::read::BzDecoder::new(chunk).read_exact(out)?)),
        Codec::Gzip => {
            let mut inflate = flate2::Decompress::new(true);
            Box::new(move |chunk, out| {
                inflate.reset(true);
                inflate.decompress(chunk, out, flate2::FlushDecompress::Finish).map(drop).map_err(Into::into)
            })
        }
    })
}
