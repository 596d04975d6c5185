//! Checks that the committed fixtures are complete and consistent.

use tdb_testkit::fixtures;

#[test]
fn every_fixture_has_an_array_and_complete_columns() {
    let all = fixtures::all();
    assert!(all.len() > 40, "only {} fixtures", all.len());
    let older = fixtures::of_older_releases();
    assert!(older.len() > 40, "only {} fixtures of older releases", older.len());
    for fixture in all.into_iter().chain(older) {
        let name = fixture.name();
        let is_schema = |path: &str| path.starts_with("__schema/") || path == "__array_schema.tdb";
        assert!(fixture.array_files().any(is_schema), "{name}");
        let expected = fixture.expected();
        assert!(!expected.queries.is_empty(), "{name}");
        for query in &expected.queries {
            for column in &query.columns {
                let bytes = column.to_bytes();
                assert_eq!(column.values.len(), query.cells, "{name}, {}, {}", query.name, column.name);
                assert_eq!(bytes.validity.is_some(), column.nullable);
            }
        }
    }
}

#[test]
fn groups_have_the_expected_members() {
    let (groups, older) = (fixtures::groups(), fixtures::groups_of_older_releases());
    assert!(!groups.is_empty() && !older.is_empty());
    for fixture in groups.into_iter().chain(older) {
        for member in fixture.expected_group().members {
            let folder = format!("group/{}", member.uri);
            assert!(fixture.files().below(&folder).next().is_some(), "{}: {}", fixture.name(), member.uri);
        }
    }
}

#[test]
fn every_fixture_matches_the_manifest() {
    let problems = fixtures::problems(&fixtures::root(), fixtures::manifest()).expect("a listing");
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn filter_cases_have_unique_names_and_valid_ranges() {
    let cases = fixtures::filter_cases();
    assert!(cases.len() > 300, "only {} cases", cases.len());
    let mut names = std::collections::HashSet::new();
    for case in &cases {
        assert!(names.insert(&case.name), "duplicate name {}", case.name);
        // A tile has at least a chunk count. A pipeline has at least a chunk size and a filter
        // count.
        assert!(case.filtered_bytes().len() >= 8 && case.pipeline_bytes().len() >= 8, "{}", case.name);
        let cells = case.unfiltered_bytes().len() as u64 / case.cell_size;
        assert_eq!(cells * case.cell_size, case.unfiltered_bytes().len() as u64, "{}", case.name);
        if let Some(offsets) = &case.offsets {
            assert!(offsets.is_sorted() && offsets.last() <= Some(&(case.unfiltered_bytes().len() as u64)));
        }
    }
}
