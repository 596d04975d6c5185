//! Scheduler and executor processes for tests, on free ports.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tdb_ballista::{Address, Cluster};

/// Timeout of all waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A process with its output. Killed on drop.
pub(crate) struct Process {
    child: Child,
    said: Arc<Said>,
}

#[derive(Default)]
struct Said {
    lines: Mutex<Vec<String>>,
    more: Condvar,
}

impl Said {
    fn listen(self: &Arc<Self>, from: impl Read + Send + 'static) {
        let said = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                said.lines.lock().unwrap().push(line);
                said.more.notify_all();
            }
        });
    }
}

impl Process {
    /// Starts the program.
    pub(crate) fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tdb-sql"));
        command.args(arguments).envs(environment.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Arc::<Said>::default();
        said.listen(child.stdout.take().unwrap());
        said.listen(child.stderr.take().unwrap());
        Self { child, said }
    }

    /// Waits for a line with this text.
    pub(crate) fn line(&self, words: &str) -> String {
        let end = Instant::now() + PATIENCE;
        let mut lines = self.said.lines.lock().unwrap();
        loop {
            if let Some(line) = lines.iter().find(|line| line.contains(words)) {
                return line.clone();
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(lines);
                panic!("no line with {words:?} in:\n{}", self.said());
            }
            lines = self.said.more.wait_timeout(lines, left).unwrap().0;
        }
    }

    /// Returns all output so far.
    pub(crate) fn said(&self) -> String {
        self.said.lines.lock().unwrap().join("\n")
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM, and waits for the exit status.
    pub(crate) fn stop(&mut self) -> std::process::ExitStatus {
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
        self.end()
    }

    /// Waits for the exit status.
    pub(crate) fn end(&mut self) -> std::process::ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the process is still running: {}", self.said());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            println!("--- {}:\n{}", self.child.id(), self.said());
        }
    }
}

/// A scheduler with executors.
pub(crate) struct Processes {
    pub(crate) scheduler: Process,
    pub(crate) executors: Vec<Process>,
    pub(crate) address: Address,
}

impl Processes {
    /// Starts a scheduler.
    pub(crate) fn scheduler() -> Self {
        Self::scheduler_at("0")
    }

    /// Starts a scheduler at a port.
    pub(crate) fn scheduler_at(port: &str) -> Self {
        let scheduler = Process::start(&["scheduler", "--port", port, "--executor-timeout", "8", "--log", "info"], &[]);
        let line = scheduler.line("listening at ");
        let address = line.rsplit(' ').next().unwrap().parse().unwrap();
        Self { scheduler, executors: Vec::new(), address }
    }

    /// Starts a scheduler, and executors with two slots each.
    pub(crate) fn start(executors: usize) -> Self {
        (0..executors).fold(Self::scheduler(), |all, _| all.executor(&[], &[]))
    }

    /// Starts an executor, and waits for its registration.
    pub(crate) fn executor(mut self, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let scheduler = self.address.to_string();
        let own = ["executor", "--scheduler", &scheduler, "--slots", "2", "--heartbeat", "1", "--log", "info"];
        let executor = Process::start(&[&own[..], arguments].concat(), environment);
        executor.line("Executor registration succeed");
        self.executors.push(executor);
        self
    }

    pub(crate) fn cluster(&self) -> Cluster {
        Cluster::new(self.address.clone()).partitions(5).wait(Duration::from_secs(20))
    }
}
