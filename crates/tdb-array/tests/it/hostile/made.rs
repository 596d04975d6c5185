//! Arrays crafted for an attack.

use std::sync::Arc;

use tdb_array::tdb_metadata::DetailsVersion;
use tdb_array::tdb_metadata::tdb_generic_tile::GenericTile;
use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
use tdb_testkit::fixtures;
use tdb_types::{ByteWriter, CellValNum, Datatype, FormatVersion};

use crate::arrays::footer;
use crate::groups::{details, member};
use crate::hostile::damage::Tree;

/// Name of a schema that is newer than all fixtures.
const YOUNGEST: &str = "__schema/__1800000000000_1800000000000_00000000000000000000000000000001";

/// Calls `body` with files of `other`, for paths in `tree` that hold or may hold files of the same
/// kind.
pub fn exchanges(tree: &Tree, other: &Tree, mut body: impl FnMut(&str, Arc<[u8]>)) {
    let of_kind = |tree: &Tree, kind: &str| -> Vec<String> {
        tree.paths().filter(|path| path.contains(kind) && !path.contains("__enumerations")).map(str::to_owned).collect()
    };
    for kind in ["__schema/", "__fragment_metadata.tdb", "/a0.tdb", "/a0_var.tdb", "/d0.tdb"] {
        let Some(theirs) = of_kind(other, kind).pop() else { continue };
        for ours in of_kind(tree, kind) {
            body(&ours, other.bytes(&theirs));
        }
    }
    // A newer schema with unchanged fragments.
    if let Some(schema) = of_kind(other, "__schema/").pop() {
        body(YOUNGEST, other.bytes(&schema));
    }
}

/// Returns the crafted arrays.
pub fn arrays() -> Vec<Tree> {
    let mut arrays =
        vec![one_large_cell(), tiles_of_one_cell(), commits_of_nothing(), names_that_climb(), a_footer_for_many()];
    arrays.push(a_group_of_itself());
    arrays.extend(other_versions());
    arrays
}

fn array(name: &str, schema: &ArraySchema) -> Tree {
    let folder = if schema.version().number() < 10 { "__array_schema.tdb" } else { YOUNGEST };
    Tree::new(name, vec![(folder.to_owned(), schema.to_file().unwrap())])
}

fn line(high: u64, extent: u64) -> Dimension {
    Dimension::new("d", 0u64..=high).with_tile(extent)
}

/// Before format 6, the schema does not store the fill value. Here it would have 32 GiB.
fn one_large_cell() -> Tree {
    let attribute =
        Attribute::new("a", Datatype::Float64).with_cell_val_num(CellValNum::from_code(u32::MAX - 1).unwrap());
    let schema = SchemaBuilder::dense().version(FormatVersion::new(5).unwrap()).dimension(line(9, 5));
    array("one large cell", &schema.attribute(attribute).build().unwrap())
}

/// A batch may consist of as many tiles as bytes.
fn tiles_of_one_cell() -> Tree {
    let schema = SchemaBuilder::dense().dimension(line(1 << 50, 1)).attribute(Attribute::new("a", Datatype::UInt8));
    array("tiles of one cell", &schema.build().unwrap())
}

/// Many commits of missing fragments in one file.
fn commits_of_nothing() -> Tree {
    let tree = Tree::of(&fixtures::named("v22-by-2.30.0-sparse-1d"));
    let lines = (0..20_000).map(|index| format!("__commits/__{index}_{index}_{index:032x}_22.wrt\n"));
    tree.with("__commits/__1_1_00000000000000000000000000000001_22.con", lines.collect::<String>().into_bytes())
}

/// Paths that lead out of the array.
fn names_that_climb() -> Tree {
    let tree = Tree::of(&fixtures::named("v22-by-2.30.0-sparse-1d"));
    let name = "__1_1_00000000000000000000000000000001_22";
    let lines = ["/etc", "../..", "__commits/..", "__commits/", "a/../__commits", "", ".", "C:\\", "\0"]
        .map(|folder| format!("{folder}/{name}.wrt\n{folder}/{name}/../../x.wrt\n"));
    let tree = tree.with(&format!("__commits/{name}.con"), lines.concat().into_bytes());
    let tree = tree.with(&format!("__commits/{name}.ign"), b"../../x\n/\n\n//\n".to_vec());
    tree.with(&format!("__commits/{name}.vac"), b"../__fragments/\n__fragments\n/\n".to_vec())
}

/// Consolidated footers with the same bytes, most of the file, as the footer of each of many
/// fragments.
fn a_footer_for_many() -> Tree {
    const FRAGMENTS: u32 = 2000;
    let tree = Tree::of(&fixtures::named("v22-by-2.30.0-sparse-1d"));
    let name = |index| format!("__{index}_{index}_{index:032x}_22");
    let mut payload = ByteWriter::new();
    payload.u32(FRAGMENTS);
    for index in 1..=FRAGMENTS {
        payload.string_u64(&name(index));
        payload.u64(u64::from(FRAGMENTS) * 60);
    }
    // A footer ends with the length, which consolidated footers omit.
    let metadata =
        tree.paths().find(|path| path.ends_with("__fragment_metadata.tdb")).map(|path| tree.bytes(path)).unwrap();
    payload.bytes(footer(&metadata));
    payload.bytes(&vec![0; 2 << 20]);
    let mut file = ByteWriter::new();
    GenericTile::write(payload.as_slice(), &mut file).unwrap();
    let span = format!("__1_{FRAGMENTS}_{:032x}_22", 1);
    let lines: String = (1..=FRAGMENTS).map(|index| format!("__commits/{}.wrt\n", name(index))).collect();
    let tree = tree.with(&format!("__fragment_meta/{span}.meta"), file.into_bytes());
    tree.with(&format!("__commits/{span}.con"), lines.into_bytes())
}

/// A group that contains itself under many names.
fn a_group_of_itself() -> Tree {
    let members = (0..2000).map(|index| member("g", true, Some(&format!("{index}")))).collect();
    let file = details(DetailsVersion::Changes, members);
    // In memory, a folder cannot contain itself. A chain of groups with as many members each is the
    // closest approximation.
    let levels = (0..6).map(|depth| "g/".repeat(depth));
    let files = levels.flat_map(|folder| {
        let path = format!("{folder}__group/__1_1_00000000000000000000000000000001_2");
        [(path, file.clone()), (format!("{folder}__tiledb_group.tdb"), Vec::new())]
    });
    Tree::new("a group of itself", files.collect()).into_group()
}

/// Fragments with another version in the name than in the content.
fn other_versions() -> Vec<Tree> {
    let names = ["v22-by-2.30.0-dense-2d-row-row", "v22-by-2.30.0-sparse-strings", "v22-by-2.30.0-sparse-1d"];
    let version = |number: u32| {
        names.map(|name| {
            Tree::of(&fixtures::named(name)).renamed(&format!("{name} as {number}"), |path| {
                let path = path.replace("_22/", &format!("_{number}/")).replace("_22.wrt", &format!("_{number}.wrt"));
                // Older fragments and commits have other paths.
                if number >= 12 {
                    path
                } else {
                    path.replace("__fragments/", "").replace("__commits/", "").replace(".wrt", ".ok")
                }
            })
        })
    };
    (1..=25).chain([99, u32::MAX]).flat_map(version).collect()
}
