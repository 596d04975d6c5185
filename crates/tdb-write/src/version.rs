//! The format version of new fragments.

use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Result, version_of_new_fragments};
use tdb_types::{Feature, FormatVersion};

/// Returns the requested version, or the default version for this schema.
///
/// # Errors
/// Readers of the array would reject fragments of the requested version.
pub fn chosen_version(schema: &ArraySchema, asked: Option<FormatVersion>) -> Result<FormatVersion> {
    let (own, default) = (schema.version(), version_of_new_fragments(schema));
    let Some(asked) = asked else { return Ok(default) };
    // Releases of the reference library have added fragments of every later version to arrays below
    // format 7.
    let is_between = !own.has(Feature::Validity) && (own..=FormatVersion::DEFAULT).contains(&asked);
    if asked == own || is_between {
        return Ok(asked);
    }
    let can = match own.has(Feature::Validity) {
        true => format!("supports only fragments of version {own}"),
        false => format!("supports fragments of versions {own} to {default}"),
    };
    Err(ArrayError::Write(format!("cannot write fragments of format version {asked}: the array {can}")))
}

/// Returns the version in the generic tile headers of fragment metadata: the newest version known
/// to the writer.
///
/// Usually this is the current version. Fragments below format 7 are for old releases, which reject
/// newer versions. Their headers contain the version of the fragment instead. Readers use the
/// header to determine which datatypes the filters saw.
pub(crate) fn library_version(fragment: FormatVersion) -> FormatVersion {
    if fragment.has(Feature::Validity) { fragment.max(FormatVersion::DEFAULT) } else { fragment }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_schema::{Dimension, SchemaBuilder};
    use tdb_types::FormatVersion;

    use super::chosen_version;
    use tdb_snapshot::version_of_new_fragments;

    fn versions(schema: u32) -> (u32, Vec<u32>) {
        let dimension = Dimension::new("d", 0i32..=9);
        let builder = SchemaBuilder::sparse().version(FormatVersion::new(schema).unwrap()).dimension(dimension);
        let schema = builder.build().unwrap();
        let possible = FormatVersion::all().filter(|asked| chosen_version(&schema, Some(*asked)).is_ok());
        let default = version_of_new_fragments(&schema);
        (default.number(), possible.map(FormatVersion::number).collect())
    }

    #[test]
    fn only_old_arrays_accept_fragments_of_later_versions() {
        assert_eq!(versions(1), (22, (1..=22).collect()));
        assert_eq!(versions(6), (22, (6..=22).collect()));
        assert_eq!(versions(7), (7, vec![7]));
        assert_eq!(versions(22), (22, vec![22]));
        assert_eq!(versions(23), (23, vec![23]));
    }
}
