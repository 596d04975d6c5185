//! Prints where a fragment's tiles lie with `tdb-fragment` alone: `tile-offsets SCHEMA-FILE FRAGMENT-METADATA-FILE`.

use tdb_fragment::tdb_schema::ArraySchema;
use tdb_fragment::tdb_types::{FormatVersion, Limits};
use tdb_fragment::{FragmentFile, FragmentFolder, GenericTileDecoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [schema, metadata] = [1, 2].map(|index| std::env::args().nth(index).unwrap_or_default()).map(std::fs::read);
    let (schema, _) = ArraySchema::parse_file(&schema?, &Limits::default(), None)?;
    let folder = FragmentFolder { version: FormatVersion::DEFAULT, has_coordinates: false };
    let file = FragmentFile::parse(&metadata?, folder, &schema, &mut GenericTileDecoder::new(Limits::default()), None)?;
    for (field, contents) in file.footer.slots().iter().zip(&file.contents.fields) {
        println!("{}: {:?}", field.display(&schema), contents.tile_offsets.starts());
    }
    Ok(())
}
