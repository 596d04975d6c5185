use super::*;

const A: &str = "__100_100_0000000000000000000000000000000a_22";
const B: &str = "__200_200_0000000000000000000000000000000b_22";
const C: &str = "__100_200_0000000000000000000000000000000c_22";

fn file(name: &str) -> Entry {
    Entry::file(name, 0)
}

fn commits(names: &[&str]) -> Listing {
    Listing { commits: names.iter().map(|name| file(name)).collect(), ..Listing::default() }
}

fn names(listing: &Listing, array_type: ArrayType, time: TimeRange) -> Vec<String> {
    let directory = ArrayDirectory::resolve(listing, array_type, time).unwrap();
    directory.fragments.into_iter().map(|entry| entry.folder).collect()
}

fn folder(name: &str) -> String {
    format!("__fragments/{name}")
}

#[test]
fn only_committed_fragments_are_listed_oldest_first() {
    let listing = commits(&[&format!("{B}.wrt"), &format!("{A}.wrt"), "something.else", "__x.wrt"]);
    assert_eq!(names(&listing, ArrayType::Dense, TimeRange::ALL), [folder(A), folder(B)]);
    assert_eq!(names(&listing, ArrayType::Dense, TimeRange::until(150)), [folder(A)]);
}

#[test]
fn consolidated_fragments_supersede_the_fragments_of_their_vacuum_file() {
    let mut listing = commits(&[&format!("{A}.wrt"), &format!("{B}.wrt"), &format!("{C}.wrt"), &format!("{C}.vac")]);
    assert_eq!(listing.wanted_files(), [format!("__commits/{C}.vac")]);
    let lines = format!("/__fragments/{A}\nfile:///elsewhere/__fragments/{B}\n");
    listing.commit_files.push((format!("__commits/{C}.vac"), lines.into_bytes()));
    assert_eq!(names(&listing, ArrayType::Dense, TimeRange::ALL), [folder(C)]);
    // Before the second write a dense reader cannot use the consolidated fragment. A sparse reader
    // can.
    assert_eq!(names(&listing, ArrayType::Dense, TimeRange::until(150)), [folder(A)]);
    assert_eq!(names(&listing, ArrayType::Sparse, TimeRange::until(150)), [folder(C)]);
}

#[test]
fn consolidated_commits_are_in_effect_unless_ignored() {
    let mut listing = Listing::default();
    let mut consolidated = format!("__commits/{A}.wrt\n__commits/{B}.del\n").into_bytes();
    consolidated.extend_from_slice(&3u64.to_le_bytes());
    consolidated.extend_from_slice(b"xyz");
    consolidated.extend_from_slice(format!("__commits/{B}.wrt\n").as_bytes());
    listing.commit_files.push((format!("__commits/{C}.con"), consolidated.clone()));
    assert_eq!(names(&listing, ArrayType::Sparse, TimeRange::ALL), [folder(A), folder(B)]);
    let directory = ArrayDirectory::resolve(&listing, ArrayType::Sparse, TimeRange::ALL).unwrap();
    assert_eq!(directory.deletes, [format!("__commits/{B}.del")]);
    let embedded = &directory.embedded_deletes[&directory.deletes[0]];
    assert_eq!((&*embedded.file, &embedded.bytes[..]), (&*format!("__commits/{C}.con"), &b"xyz"[..]));
    listing.commit_files.push((format!("__commits/{C}.ign"), format!("__commits/{A}.wrt\n").into_bytes()));
    assert_eq!(names(&listing, ArrayType::Sparse, TimeRange::ALL), [folder(B)]);
    // A truncated file is an error or yields its first entries, and never panics.
    for len in 0..consolidated.len() {
        listing.commit_files[0].1 = consolidated[..len].to_vec();
        let _ = ArrayDirectory::resolve(&listing, ArrayType::Sparse, TimeRange::ALL);
    }
}

#[test]
fn fragments_of_older_formats_lie_in_the_arrays_folder() {
    let old = "__7_7_0000000000000000000000000000000d_10";
    let oldest = "__0000000000000000000000000000000e_5";
    let mut listing = commits(&[&format!("{A}.wrt")]);
    listing.root = vec![file(&format!("{old}.ok")), Entry::folder(old)];
    listing.legacy_folders.insert(oldest.to_owned(), vec![file(FRAGMENT_METADATA), file("__coords.tdb")]);
    listing.legacy_folders.insert(oldest.replace('e', "f"), vec![file("__coords.tdb")]);
    assert_eq!(names(&listing, ArrayType::Sparse, TimeRange::ALL), [oldest.to_owned(), old.to_owned(), folder(A)]);
}

#[test]
fn a_fragment_of_an_unknown_version_is_an_error() {
    let listing = commits(&["__1_1_0000000000000000000000000000000a_99.wrt"]);
    let error = ArrayDirectory::resolve(&listing, ArrayType::Sparse, TimeRange::ALL).unwrap_err();
    assert!(matches!(error, ArrayError::Version { .. }), "{error}");
}

#[test]
fn schema_at_returns_the_newest_schema_within_the_time() {
    let schemas = ["__100_100_0000000000000000000000000000000a", "__200_200_0000000000000000000000000000000b"];
    let listing = Listing { schemas: schemas.iter().map(|name| file(name)).collect(), ..Listing::default() };
    let at = |time| listing.schema_at(TimeRange::until(time)).unwrap();
    assert_eq!(at(150), format!("__schema/{}", schemas[0]));
    assert_eq!(at(200), format!("__schema/{}", schemas[1]));
    assert_eq!(at(1), format!("__schema/{}", schemas[0]));
}
