//! Consolidates all fragments of an array: `cargo run --example consolidate_fragments ARRAY [purge]
//! [fragment...]`.

use tdb_array::Array;
use tdb_maintain::ConsolidateFragments;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let array = Array::open(arguments.next().ok_or("which array?")?)?;
    let mut consolidate = ConsolidateFragments::new().amplification(f64::INFINITY);
    if arguments.next_if(|argument| argument == "purge").is_some() {
        consolidate = consolidate.purge(true);
    }
    if arguments.peek().is_some() {
        consolidate = consolidate.fragments(arguments);
    }
    let plan = consolidate.plan(&array)?;
    print!("{plan}");
    print!("{}", plan.run()?);
    Ok(())
}
