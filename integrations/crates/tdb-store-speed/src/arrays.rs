//! Test arrays, created by the reference library.

use std::fs;
use std::path::Path;

use futures_util::{StreamExt, TryStreamExt, stream};
use tdb_object_store::object_store::path::Path as Location;
use tdb_object_store::object_store::{ObjectStoreExt, PutPayload};
use tdb_reference::model::{ArraySpec, attribute, dimension};
use tdb_types::Datatype;

use crate::cells::write_of;
use crate::outcome::Result;
use crate::place::Place;
use crate::task::{CELLS, DOMAIN, FEW, MANY, TEN, WRITTEN};
use crate::theirs::Theirs;

/// Number of concurrent uploads.
const AT_ONCE: usize = 16;

/// Returns the schema: a dimension, a number, a string.
fn schema() -> ArraySpec {
    let position = dimension("position", Datatype::UInt32, [0, DOMAIN - 1], 1000);
    let attributes = [attribute("depth", Datatype::Float64), attribute("name", Datatype::StringAscii).var()];
    ArraySpec::sparse([position], attributes)
}

/// Creates the arrays on disk, and uploads them.
pub(crate) fn make(place: &Place, theirs: &mut Theirs, fragments: u32) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, fragments, count) in [(TEN, 10, CELLS), (WRITTEN, 10, CELLS), (MANY, fragments, FEW)] {
        let array = folder.path().join(name);
        let uri = array.to_str().ok_or("the path of the temporary folder is not UTF-8")?.to_owned();
        let reference = theirs.on_disk()?;
        reference.create(&uri, &schema())?;
        for fragment in 0..fragments {
            let mut write = write_of(fragment * count, count);
            write.timestamp = Some(1 + u64::from(fragment));
            reference.write(&uri, &write)?;
        }
        upload(place, &array, name)?;
    }
    Ok(())
}

fn upload(place: &Place, array: &Path, name: &str) -> Result<()> {
    let (store, root) = (place.store()?, place.path(name));
    let mut files = Vec::new();
    find(array, &root, &mut files)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let uploads = files.into_iter().map(|(path, location)| {
        let store = store.clone();
        async move {
            let bytes = fs::read(path)?;
            store.put(&Location::parse(location)?, PutPayload::from(bytes)).await?;
            Ok::<_, Box<dyn std::error::Error>>(())
        }
    });
    runtime.block_on(stream::iter(uploads).buffer_unordered(AT_ONCE).try_for_each(|()| async { Ok(()) }))
}

/// Collects the files below a folder, with target paths.
fn find(folder: &Path, location: &str, files: &mut Vec<(std::path::PathBuf, String)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let (entry, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        let location = format!("{location}/{}", entry.to_str().ok_or("a file name is not UTF-8")?);
        if path.is_dir() {
            find(&path, &location, files)?;
        } else {
            files.push((path, location));
        }
    }
    Ok(())
}
