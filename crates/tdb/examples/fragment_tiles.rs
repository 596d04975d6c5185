//! Parses the schema and the fragment metadata with the format crates alone, and prints all tiles.
//!
//! ```sh
//! cargo run -p tdb-library --example fragment_tiles -- fixtures/v22-by-2.30.0-sparse-2d/array
//! ```

use std::path::{Path, PathBuf};
use std::{fs, io};

use tdb::fragment::{FRAGMENT_METADATA_FILE, FragmentFile, FragmentFolder, GenericTileDecoder};
use tdb::schema::ArraySchema;
use tdb::types::{Limits, TimestampedName};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let array = PathBuf::from(std::env::args().nth(1).ok_or("usage: fragment_tiles ARRAY")?);
    // If the schema evolved, the footer of each fragment names the schema of the fragment.
    let schemas = entries(&array.join("__schema"))?;
    let schema = schemas.iter().rfind(|path| path.is_file()).ok_or("the array has no schema")?;
    // The parsers perform no I/O.
    let (schema, _) = ArraySchema::parse_file(&fs::read(schema)?, &Limits::default(), None)?;
    let kinds = schema.domain().kinds();

    let mut decoder = GenericTileDecoder::new(Limits::default());
    for folder in entries(&array.join("__fragments"))? {
        // The folder's name contains the time and the format of the fragment.
        let name: TimestampedName = folder.file_name().unwrap_or_default().to_string_lossy().parse()?;
        let bytes = fs::read(folder.join(FRAGMENT_METADATA_FILE))?;
        // Only formats 1 and 2 need the flag.
        let place = FragmentFolder { version: name.fragment_version()?, has_coordinates: false };
        let FragmentFile { footer, contents } = FragmentFile::parse(&bytes, place, &schema, &mut decoder, None)?;
        println!("fragment of {} ms, format {}, {} tiles", name.start(), footer.version(), footer.tile_count());
        for tile in 0..footer.tile_count() {
            let cells = footer.cells_in_tile(tile).unwrap_or_default();
            match contents.rtree.mbr(tile) {
                Some(mbr) => println!("tile {tile}: {cells} cells in {}", mbr.display(&kinds)),
                // Dense fragments store no MBRs, because the tile grid determines the coordinates.
                None => println!("tile {tile}: {cells} cells"),
            }
        }
    }
    Ok(())
}

/// Lists a folder, sorted by name.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}
