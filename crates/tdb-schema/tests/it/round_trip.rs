//! Round trips of schemas in every format version, from values and from bytes.

use crate::support;

use proptest::prelude::*;
use tdb_schema::{ArraySchema, Dimension, FieldRef};
use tdb_types::{ByteReader, ByteWriter, Span, Spans};

fn write(schema: &ArraySchema) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    schema.write(&mut writer).expect("a schema that can be written");
    writer.into_bytes()
}

/// Iterates over the spans of fields, without the spans of enclosing structures.
fn fields(spans: &[Span]) -> impl Iterator<Item = &Span> {
    spans.iter().enumerate().filter_map(|(index, span)| {
        let next = spans.get(index + 1);
        let is_structure = span.value.is_empty() && next.is_some_and(|next| next.depth > span.depth);
        (!is_structure).then_some(span)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn schemas(schema in support::version().prop_flat_map(support::schema)) {
        let bytes = write(&schema);
        let mut reader = ByteReader::new(&bytes);
        let read = ArraySchema::parse(&mut reader).expect("what was written can be read");
        prop_assert_eq!(reader.remaining(), 0);
        prop_assert_eq!(&read, &schema);
        prop_assert_eq!(write(&read), bytes);
        prop_assert!(read.dump().lines().count() >= 5 + read.dim_count() + read.attr_count());
    }

    #[test]
    fn the_record_covers_every_byte_once(schema in support::version().prop_flat_map(support::schema)) {
        let bytes = write(&schema);
        let spans = Spans::new();
        let mut reader = ByteReader::new(&bytes).recording(&spans, 0);
        let recorded = ArraySchema::parse(&mut reader).expect("what was written can be read");
        prop_assert_eq!(&recorded, &schema);
        let spans = spans.into_spans();
        let mut next = 0;
        for span in fields(&spans) {
            prop_assert_eq!(span.offset, next, "{:?}", span);
            next += span.len;
        }
        prop_assert_eq!(next, bytes.len() as u64);
        for name in schema.dimensions().iter().map(Dimension::name) {
            let quoted = format!("{name:?}");
            prop_assert!(spans.iter().any(|span| span.name.starts_with("dimension ") && span.name.ends_with(&quoted)));
        }
    }

    #[test]
    fn fields_are_found(schema in support::version().prop_flat_map(support::schema)) {
        prop_assert_eq!(schema.fields().count(), schema.dim_count() + schema.attr_count());
        for field in schema.fields() {
            let name = schema.field_name(field).expect("a name");
            prop_assert_eq!(schema.field(name), Some(field));
            let filters = schema.filters_of(field);
            match field {
                FieldRef::Attribute(index) => prop_assert_eq!(&*filters, schema.attributes()[index].filters()),
                FieldRef::Dimension(index) => {
                    let own = schema.dimensions()[index].own_filters();
                    prop_assert_eq!(&*filters, if own.is_empty() { schema.coords_filters() } else { own });
                }
            }
        }
    }
}
