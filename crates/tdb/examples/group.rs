//! Creates a group of two arrays with metadata, and lists the members.
//!
//! ```sh
//! cargo run -p tdb-library --example group
//! ```

use tdb::array::MetadataValue;
use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::Datatype;
use tdb::{Array, Group};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("survey");
    Group::create(&path)?;
    for (name, datatype) in [("heights", Datatype::Int16), ("slopes", Datatype::Float32)] {
        let schema = SchemaBuilder::dense()
            .dimension(Dimension::new("y", 0i32..=99).with_tile(10))
            .dimension(Dimension::new("x", 0i32..=99).with_tile(10))
            .attribute(Attribute::new("value", datatype))
            .build()?;
        Array::create(path.join(name), schema)?;
    }

    // URIs relative to the group stay valid if the folder moves. The key of a member is its name,
    // or else its URI.
    let group = Group::open(&path)?;
    group.change().add("heights", true, None).add("slopes", true, Some("slopes in degrees")).commit()?;
    let year = MetadataValue::new(Datatype::Int32, 2024i32.to_le_bytes().into())?;
    group.write_metadata().put("title", MetadataValue::text("Survey of the valley")?).put("year", year).commit()?;

    // A group is a snapshot. Open the group again to see the changes.
    let group = Group::open(&path)?;
    for (key, value) in group.metadata()?.iter() {
        println!("{key}: {value}");
    }
    for member in group.members() {
        let array: Array = group.open_member(member)?;
        let datatypes: Vec<_> = array.schema().attributes().iter().map(|field| field.datatype().to_string()).collect();
        println!("{} {:?} at {}: {}", member.kind, member.key(), member.uri, datatypes.join(", "));
    }
    Ok(())
}
