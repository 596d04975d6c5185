//! Verifies each array of a group, prints the findings, and returns an exit code.
//!
//! ```sh
//! cargo run -p tdb-library --example verify_store -- fixtures/v22-by-2.30.0-group/group
//! ```

use std::process::ExitCode;

use tdb::Group;
use tdb::array::NodeKind;
use tdb::verify::Verify;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: verify_store GROUP")?;
    let group = Group::open(path)?;
    // One thread leaves the other processors to the service.
    let verify = Verify::new().threads(1);
    let mut is_sound = true;
    // The first node is the group itself.
    for node in group.tree().nodes().skip(1) {
        match (node.kind, node.storage) {
            (NodeKind::Array, Some(storage)) => {
                let report = verify.storage(storage)?;
                let (findings, notes) = report.counts();
                println!("{}: {} fragments, {findings} findings, {notes} notes", node.name, report.fragments);
                report.findings.iter().for_each(|finding| println!("{finding}"));
                is_sound &= report.is_sound();
            }
            // The walk visits a group that is a member of several groups once.
            (NodeKind::Group | NodeKind::Repeated, _) => println!("{}: group", node.name),
            // A missing or unreadable member, a cycle, or a member outside of the group's folder.
            (kind, _) => {
                println!("{}: {kind:?}", node.name);
                is_sound = false;
            }
        }
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
