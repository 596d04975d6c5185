//! Prints the file offsets of the tiles of each field, with `tdb-fragment` as the only crate of
//! tdb: `tile-offsets SCHEMA-FILE FRAGMENT-METADATA-FILE`.

use tdb_fragment::tdb_schema::ArraySchema;
use tdb_fragment::tdb_types::{FormatVersion, Limits};
use tdb_fragment::{FragmentFile, FragmentFolder, GenericTileDecoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [_, schema, metadata] = &std::env::args().collect::<Vec<_>>()[..] else {
        return Err("usage: tile-offsets SCHEMA-FILE FRAGMENT-METADATA-FILE".into());
    };
    let (schema, metadata) = (std::fs::read(schema)?, std::fs::read(metadata)?);
    let (schema, _) = ArraySchema::parse_file(&schema, &Limits::default(), None)?;
    let folder = FragmentFolder { version: FormatVersion::DEFAULT, has_coordinates: false };
    let file = FragmentFile::parse(&metadata, folder, &schema, &mut GenericTileDecoder::new(Limits::default()), None)?;
    for (field, contents) in file.footer.slots().iter().zip(&file.contents.fields) {
        println!("{}: {:?}", field.display(&schema), contents.tile_offsets.starts());
    }
    Ok(())
}
