//! Additional damage to groups: a deleted member folder, and rewritten details that describe a
//! member differently but decode without an error.

use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_metadata::{GroupDetails, MemberKind};
use tdb_testkit::hostile::SplitMix64;
use tdb_types::names::GROUP_FOLDER;
use tdb_types::{ByteWriter, FormatVersion, Limits};

use crate::damage::Damage;
use crate::subject::Subject;

/// Damages a group. Returns `None` for a group without members.
pub(crate) fn damage(subject: &Subject, rng: &mut SplitMix64) -> Option<Damage> {
    if rng.below(3) == 0 { member_gone(subject, rng) } else { other_details(subject, rng) }
}

/// Deletes the folder of a member.
fn member_gone(subject: &Subject, rng: &mut SplitMix64) -> Option<Damage> {
    let mut folders: Vec<&str> = subject.files().iter().filter_map(|(path, _)| Some(path.split_once('/')?.0)).collect();
    folders.dedup();
    folders.retain(|folder| !folder.starts_with("__"));
    let path = (*folders.get(rng.below(folders.len().max(1)))?).to_owned();
    let below = |file: &&(String, Vec<u8>)| file.0.starts_with(&format!("{path}/"));
    let files = subject.files().iter().filter(below).map(|(path, _)| (path.clone(), None)).collect();
    Some(Damage { path, what: "deleted member folder".to_owned(), files, is_folder: true })
}

/// Changes a member in a details file.
fn other_details(subject: &Subject, rng: &mut SplitMix64) -> Option<Damage> {
    let prefix = format!("{GROUP_FOLDER}/");
    let files: Vec<_> = subject.files().iter().filter(|(path, _)| path.starts_with(&prefix)).collect();
    let (path, bytes) = files.get(rng.below(files.len().max(1)))?;
    // Nobody can decode or rewrite the details of encrypted groups without the key.
    let mut details = GroupDetails::parse_file(bytes, &mut GenericTileDecoder::new(Limits::SMALL), None).ok()?;
    let index = rng.below(details.members.len().max(1));
    let member = details.members.get_mut(index)?;
    let what = match rng.below(2) {
        0 if !member.uri.is_empty() => {
            let at = rng.below(member.uri.len());
            let mut uri = member.uri.clone().into_bytes();
            uri[at] = if uri[at] == b'x' { b'y' } else { b'x' };
            member.uri = String::from_utf8(uri).ok()?;
            format!("changed URI of a member to {:?}", member.uri)
        }
        _ => {
            member.kind = match member.kind {
                MemberKind::Array => MemberKind::Group,
                _ => MemberKind::Array,
            };
            format!("changed kind of member {:?} to {}", member.uri, member.kind)
        }
    };
    let (mut payload, mut file) = (ByteWriter::new(), ByteWriter::new());
    details.write(&mut payload);
    GenericTileEncoder::new(FormatVersion::DEFAULT).encode(payload.as_slice(), &mut file).ok()?;
    Some(Damage::of_file(path, what, Some(file.into_bytes())))
}
