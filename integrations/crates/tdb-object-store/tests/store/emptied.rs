//! A store with listed empty folders, like SeaweedFS, which keeps files in folders.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tdb_array::{ArrayError, ArrayOptions, CreateOptions};
use tdb_object_store::{ObjectStorage, object_store};
use tdb_relocate::{CopyTo, MoveTo, Remove};
use tdb_storage::{LocalStorage, Storage};
use tdb_testkit::fixtures;

#[derive(Clone, Debug, Default)]
struct Lingering {
    files: Arc<InMemory>,
    folders: Arc<Mutex<BTreeSet<String>>>,
}

impl Lingering {
    fn make_folders(&self, file: &Path) {
        let mut below = file.as_ref();
        while let Some((folder, _)) = below.rsplit_once('/') {
            self.folders.lock().unwrap().insert(folder.to_owned());
            below = folder;
        }
    }

    async fn is_empty(&self, folder: &str) -> bool {
        let files: Vec<_> = self.files.list(Some(&Path::from(folder))).try_collect().await.unwrap();
        let inside = format!("{folder}/");
        files.is_empty() && !self.folders.lock().unwrap().iter().any(|other| other.starts_with(&inside))
    }

    async fn remove(&self, name: Path) -> Result<Path> {
        let is_folder = self.folders.lock().unwrap().contains(name.as_ref());
        if is_folder && self.is_empty(name.as_ref()).await {
            self.folders.lock().unwrap().remove(name.as_ref());
        }
        self.files.delete(&name).await.map(|()| name)
    }
}

impl fmt::Display for Lingering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lingering")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Lingering {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.make_folders(location);
        self.files.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.make_folders(location);
        self.files.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.files.get_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let remove = move |name: Path| {
            let store = store.clone();
            async move { store.remove(name).await }
        };
        locations.and_then(remove).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.files.list_with_delimiter(prefix).await?;
        let inside = prefix.map_or(String::new(), |prefix| format!("{prefix}/"));
        for folder in self.folders.lock().unwrap().iter() {
            let folder = Path::from(folder.as_str());
            let is_directly_in = folder.as_ref().strip_prefix(&inside).is_some_and(|name| !name.contains('/'));
            if is_directly_in && !listed.common_prefixes.contains(&folder) {
                listed.common_prefixes.push(folder);
            }
        }
        // An empty folder is listed as a file with the folder's name.
        let itself = prefix.filter(|prefix| self.folders.lock().unwrap().contains(prefix.as_ref()));
        if let Some(location) = itself.filter(|_| listed.common_prefixes.is_empty() && listed.objects.is_empty()) {
            let location = location.clone();
            let last_modified = Default::default();
            listed.objects.push(ObjectMeta { location, last_modified, size: 0, e_tag: None, version: None });
        }
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.make_folders(to);
        self.files.copy_opts(from, to, options).await
    }
}

fn store() -> (Lingering, Arc<dyn Storage>) {
    let store = Lingering::default();
    let storage = ObjectStorage::new(Arc::new(store.clone()), "lingering://", "below").unwrap();
    (store, Arc::new(storage))
}

fn names(storage: &Arc<dyn Storage>) -> Vec<String> {
    storage.list("").unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn removed_folders_are_not_listed() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(fixture.array_dir()));
    let (_, parent) = store();
    // The second round checks for orphaned files of the first.
    for _ in 0..2 {
        CopyTo::new().run(&from, &parent, "a").unwrap();
        MoveTo::new().between((&parent, "a"), (&parent, "b")).unwrap();
        CreateOptions::new().create_group_on(&parent.sub("group").unwrap()).unwrap();
        assert_eq!(names(&parent), ["b", "group"]);
        Remove::new().plan(&parent, "b").unwrap().run().unwrap();
        Remove::new().plan(&parent, "group").unwrap().run().unwrap();
        assert_eq!(names(&parent), [""; 0]);
    }
}

#[test]
fn nonempty_folders_stay() {
    let (store, storage) = store();
    for file in ["a/b/1", "a/b/c/2", "a/d/3", "a/d"] {
        storage.create_new(file, b"bytes").unwrap();
    }
    storage.remove_folder("a/b").unwrap();
    // A file with the name of a folder is not part of the folder.
    storage.remove_file("a/d/3").unwrap();
    assert_eq!(names(&storage.sub("a").unwrap()), ["d"]);
    assert_eq!(storage.read("a/d").unwrap(), b"bytes");
    assert!(store.folders.lock().unwrap().contains("below/a"));
}

/// An array removed by someone else is not a damaged array.
#[test]
fn folders_emptied_by_others_are_no_arrays() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let from: Arc<dyn Storage> = Arc::new(LocalStorage::new(fixture.array_dir()));
    let (store, parent) = store();
    CopyTo::new().run(&from, &parent, "a").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let files = store.files.list(None).map_ok(|file| file.location).boxed();
        store.files.delete_stream(files).try_collect::<Vec<_>>().await.unwrap();
    });
    assert!(names(&parent.sub("a").unwrap()).contains(&"__schema".to_owned()));
    let error = ArrayOptions::new().open_on(parent.sub("a").unwrap()).unwrap_err();
    assert!(matches!(error, ArrayError::NotFound { .. }), "{error}");
    CopyTo::new().run(&from, &parent, "a").unwrap();
    assert!(ArrayOptions::new().open_on(parent.sub("a").unwrap()).is_ok());
}
