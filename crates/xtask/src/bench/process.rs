//! A program that is measured: started, found, asked what it uses, and ended with whoever started it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::client::Line;

/// How long twenty thousand tools may take to be there.
const READY_WITHIN: Duration = Duration::from_secs(180);

pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Time on all cores that it has used.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id()))?;
        let mut spent = 0;
        for task in tasks {
            let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            spent += text.split(' ').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default();
        }
        Ok(Duration::from_nanos(spent))
    }

    /// Megabytes that it holds.
    pub(crate) fn resident(&self) -> Result<f64> {
        self.megabytes("VmRSS:")
    }

    /// Forgets what it held at most until now.
    pub(crate) fn forget_most(&self) -> Result<()> {
        std::fs::write(format!("/proc/{}/clear_refs", self.0.id()), "5").context("the kernel keeps its highest mark")
    }

    /// The most that it held since.
    pub(crate) fn most_resident(&self) -> Result<f64> {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, key: &str) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(key)).with_context(|| format!("no {key}"))?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// Asks it to end and waits.
    pub(crate) fn end(mut self) -> Result<()> {
        Command::new("kill").arg(self.0.id().to_string()).status()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server over HTTP, found by the address it announces.
pub(crate) struct Served {
    pub(crate) process: Process,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr is a pipe")?).lines();
        let process = Process(child);
        let announced = |line: &String| {
            let word = line.split_whitespace().find(|word| word.contains("127.0.0.1:"))?;
            Some(word.trim_start_matches("http://").split('/').next()?.to_owned())
        };
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| announced(&line));
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Served { process, address: address.context("the server announced no address")? })
    }

    /// Waits until Toolfold knows so many tools. Mixtures look alike, so that some are held; they are known all the same.
    pub(crate) fn knows(&self, tools: usize) -> Result<()> {
        let begun = Instant::now();
        loop {
            let status = Line::get(&self.address, "/v1/status")?;
            let held = status["servers"].as_array().into_iter().flatten().filter_map(|server| server["held"].as_u64());
            let known = status["tools"].as_u64().unwrap_or_default() + held.sum::<u64>();
            if known >= tools as u64 {
                return Ok(());
            }
            ensure!(begun.elapsed() < READY_WITHIN, "{known} of {tools} tools are known: {status}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
