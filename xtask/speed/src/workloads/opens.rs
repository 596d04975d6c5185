//! Opens of arrays with increasing numbers of fragments.

use tdb_reference::TimedReads;

use crate::arrays::{self, SpeedArray, many_fragments};
use crate::digest;
use crate::ours;
use crate::outcome::Result;
use crate::task::{Request, Task};
use crate::workload::{Ask, Bench, Group, Workload};

struct Open {
    name: String,
    array: SpeedArray,
    uri: String,
}

pub(super) fn all() -> Vec<Box<dyn Workload>> {
    let open = |name: &str, array| -> Box<dyn Workload> {
        Box::new(Open { name: format!("open, {name}"), array, uri: String::new() })
    };
    vec![
        open("1 fragment", many_fragments(1, false)),
        open("100 fragments", many_fragments(100, false)),
        open("1,000 fragments", many_fragments(1000, false)),
        open("1,000 fragments, consolidated metadata", many_fragments(1000, true)),
    ]
}

impl Workload for Open {
    fn name(&self) -> &str {
        &self.name
    }

    fn group(&self) -> Group {
        Group::Open
    }

    fn prepare(&mut self, bench: &mut Bench) -> Result<()> {
        self.uri = arrays::ensure(&mut bench.reference, &bench.arrays, &self.array)?;
        Ok(())
    }

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let reference = bench.reference_of(ask.threads);
        let mut timed = reference.time_opens(&self.uri, ask.repeats)?;
        timed.cells = self.array.writes.len();
        if ask.digest {
            let fragments = reference.fragments(&self.uri)?;
            timed.digest = digest::of_fragments(fragments.into_iter().map(|fragment| (fragment.name, fragment.cells)));
        }
        Ok(timed)
    }

    fn ours(&self, _: &mut Bench, ask: Ask) -> Result<TimedReads> {
        let (uri, task) = (self.uri.clone(), Task::Open);
        ours::measure(Request { uri, task, threads: ask.threads, repeats: ask.repeats, digest: ask.digest })
    }
}
