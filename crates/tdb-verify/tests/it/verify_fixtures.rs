//! Files of the reference library cause no findings. Known quirks cause notes.

use std::collections::BTreeMap;

use tdb_array::tdb_filters::EncryptionKey;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_verify::{Severity, Verify, VerifyReport};

fn verify(fixture: &Fixture, is_group: bool) -> VerifyReport {
    let key = if is_group { fixture.expected_group().key() } else { fixture.expected().key() };
    let verify = Verify::new().threads(1);
    let verify = key.into_iter().fold(verify, |verify, key| verify.key(EncryptionKey::new(key)));
    let report = match is_group {
        true => verify.storage(fixture.group_storage()),
        false => verify.storage(fixture.array_storage()),
    };
    report.unwrap_or_else(|error| panic!("{}: {error}", fixture.name()))
}

#[test]
fn fixtures_are_sound() {
    let arrays = fixtures::all().into_iter().chain(fixtures::of_older_releases()).map(|fixture| (fixture, false));
    let groups = fixtures::groups().into_iter().chain(fixtures::groups_of_older_releases());
    let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut wrong, mut tiles, mut fragments) = (Vec::new(), 0, 0);
    for (fixture, is_group) in arrays.chain(groups.map(|fixture| (fixture, true))) {
        let report = verify(&fixture, is_group);
        tiles += report.tiles;
        fragments += report.fragments;
        for finding in &report.findings {
            match finding.severity {
                Severity::Finding => wrong.push(format!("{}: {finding}", fixture.name())),
                Severity::Note => {
                    let digits = |character: char| if character.is_ascii_digit() { '#' } else { character };
                    let what: String = finding.what.chars().map(digits).collect();
                    let note = format!("{}: {}", finding.kind.name(), what.replace("##", "#").replace("##", "#"));
                    let names = notes.entry(note).or_default();
                    if names.last().is_none_or(|last| last != fixture.name()) {
                        names.push(fixture.name().to_owned());
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
    assert!(fragments > 900 && tiles > 12_000, "{fragments} fragments, {tiles} tiles");
    let lines = notes.iter().map(|(note, names)| format!("{note}\n    {}", names.join("\n    ")));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
