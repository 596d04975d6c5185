//! Paths that open arrays and parse metadata.

use std::fs;

use tdb_array::tdb_fragment::FragmentFooter;
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::{ByteReader, Limits};

use super::inputs::open;
use super::path::{CountedPath, here};

/// Number of repetitions of short operations.
const OFTEN: usize = 20;

pub fn all() -> Vec<CountedPath> {
    vec![opening("open: 1 fragment", "one"), opening("open: 100 fragments", "hundred"), footer(), schema()]
}

/// Opens an array and loads its fragments.
fn opening(name: &str, array: &'static str) -> CountedPath {
    here(name, move || {
        Ok(Box::new(move || {
            std::hint::black_box(open(array)?.fragments()?.len());
            Ok(())
        }))
    })
}

fn footer() -> CountedPath {
    here("parse: footer of 60 attributes", || {
        let array = open("wide")?;
        let bytes = array.fragments()?.first().ok_or("no fragment")?.footer_bytes()?.ok_or("no footer")?;
        let schema = array.schema().clone();
        Ok(Box::new(move || {
            for _ in 0..OFTEN {
                std::hint::black_box(FragmentFooter::parse(ByteReader::new(&bytes), &schema)?);
            }
            Ok(())
        }))
    })
}

fn schema() -> CountedPath {
    here("parse: schema of 60 attributes", || {
        let array = open("wide")?;
        let bytes = fs::read(format!("wide/{}", array.schema_path()))?;
        Ok(Box::new(move || {
            for _ in 0..OFTEN {
                std::hint::black_box(ArraySchema::parse_file(&bytes, &Limits::default(), None)?);
            }
            Ok(())
        }))
    })
}
