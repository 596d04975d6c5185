//! Prints a fragment's metadata: its contents, and the location of its tiles in the data files.
//!
//! ```sh
//! cd fixtures/v22-by-2.30.0-sparse-2d/array
//! cargo run -p tdb-fragment --example metadata -- __schema/__1* __fragments/__1*
//! ```

use std::path::Path;

use tdb_fragment::tdb_schema::ArraySchema;
use tdb_fragment::tdb_types::{Limits, TimestampedName};
use tdb_fragment::{FRAGMENT_METADATA_FILE, FragmentFile, FragmentFolder, GenericTileDecoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [_, schema, fragment, ..] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: metadata SCHEMA-FILE FRAGMENT-FOLDER".into());
    };
    let (schema, _) = ArraySchema::parse_file(&std::fs::read(schema)?, &Limits::default(), None)?;

    // The folder's name has the time and the format of the fragment.
    let fragment = Path::new(fragment);
    let name = fragment.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name: TimestampedName = name.parse()?;
    let folder =
        FragmentFolder { version: name.fragment_version()?, has_coordinates: fragment.join("__coords.tdb").exists() };
    println!("format {}, written at {} ms", folder.version, name.start());

    let bytes = std::fs::read(fragment.join(FRAGMENT_METADATA_FILE))?;
    let mut decoder = GenericTileDecoder::new(Limits::default());
    let file = FragmentFile::parse(&bytes, folder, &schema, &mut decoder, None)?;
    println!("{} tiles", file.footer.tile_count());
    if let Some(domain) = &file.footer.header().non_empty_domain {
        println!("cells lie in {}", domain.display(&schema.domain().kinds()));
    }
    for (field, contents) in file.footer.slots().iter().zip(&file.contents.fields) {
        println!("{}: tiles begin at {:?}", field.display(&schema), contents.tile_offsets.starts());
    }
    Ok(())
}
