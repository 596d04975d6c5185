//! Writes genomic variants, and reads the variants of high quality in a list of regions.
//!
//! ```sh
//! cargo run -p tdb-library --example variants
//! ```

use std::borrow::Cow;

use tdb::array::QueryBox;
use tdb::condition::field;
use tdb::schema::{Attribute, Dimension, SchemaBuilder};
use tdb::types::{CellValNum, Datatype};
use tdb::{Array, Column, Order, WriteBatch, WriteColumn};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("variants");
    let strings = |name: &str| Attribute::new(name, Datatype::StringAscii).with_cell_val_num(CellValNum::Var);
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::string("contig"))
        .dimension(Dimension::new("pos", 1u32..=300_000_000).with_tile(10_000))
        .attribute(strings("ref"))
        .attribute(strings("alt"))
        .attribute(Attribute::new("qual", Datatype::Float32))
        .build()?;
    Array::create(&path, schema)?;

    // A sparse array accepts cells in any order.
    let cells = WriteBatch::new()
        .with("contig", WriteColumn::strings(["chr1", "chr2", "chr1", "chr1", "chrX", "chr1"]))
        .with("pos", &[10_352u32, 20_466, 10_177, 11_008, 60_100, 10_500])
        .with("ref", WriteColumn::strings(["T", "G", "A", "C", "T", "G"]))
        .with("alt", WriteColumn::strings(["TA", "A", "AC", "G", "C", "T"]))
        .with("qual", &[44.0f32, 55.25, 31.5, 42.5, 27.0, 8.0]);
    Array::open(&path)?.write().cells(cells)?;

    // A region is a range on each dimension. A cell must be in at least one region.
    let regions = [("chr1", 10_000..11_000), ("chr2", 20_000..30_000)];
    let boxes = regions.map(|(contig, pos)| QueryBox::new().range("contig", contig..=contig).range("pos", pos));
    let query = Array::open(&path)?.read().boxes(boxes)?.filter(field("qual").ge(30)).order(Order::RowMajor);
    for batch in query.batches()? {
        let batch = batch?;
        let (contigs, from, to) = (batch.column("contig")?, batch.column("ref")?, batch.column("alt")?);
        let qualities: &[f32] = batch.column("qual")?.values()?;
        for (cell, pos) in batch.column("pos")?.values::<u32>()?.iter().enumerate() {
            let (contig, quality) = (text(contigs, cell), qualities[cell]);
            println!("{contig}:{pos} {}>{} quality {quality}", text(from, cell), text(to, cell));
        }
    }
    Ok(())
}

/// Returns a cell of a column of strings.
fn text(column: &Column, cell: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(column.cell_bytes(cell))
}
