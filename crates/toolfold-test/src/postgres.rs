//! A real PostgreSQL in a folder of its own: Debian's, started for a test and gone with it.
//!
//! What a reader would get wrong: it does not outlive a test that is killed. A small shell holds the other end of a pipe
//! of ours and ends the database when the pipe does. PostgreSQL does not run as root, so as root it runs as nobody.

use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// `nobody`, everywhere that we run.
const NOBODY: u32 = 65_534;
/// As long as a loaded machine may take to bring it up.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    /// Whether it is to run as somebody else than we are.
    root: bool,
    /// A port of 127.0.0.1 beside the socket.
    port: Option<u16>,
    running: Option<Child>,
}

impl Postgres {
    /// One that is reached over a socket in its folder. Panics where there is no PostgreSQL: a test that was skipped has shown
    /// nothing.
    pub fn start() -> Postgres {
        Postgres::new(None)
    }

    /// One that is reached over TCP too.
    pub fn with_port() -> Postgres {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        Postgres::new(Some(free.unwrap_or_else(|error| panic!("no port is free: {error}")).port()))
    }

    fn new(port: Option<u16>) -> Postgres {
        let Some(programs) = programs() else {
            panic!(
                "there is no PostgreSQL in /usr/lib/postgresql: `cargo xtask peers` installs it (Debian's `postgresql`)"
            );
        };
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder for PostgreSQL: {error}"));
        let root = folder.path().metadata().is_ok_and(|about| about.uid() == 0);
        if root && let Err(error) = chown(folder.path(), Some(NOBODY), Some(NOBODY)) {
            panic!("the folder of PostgreSQL cannot be given away: {error}");
        }
        let mut postgres = Postgres { folder, programs, root, port, running: None };
        let data = postgres.data();
        let mut initdb = postgres.command("initdb");
        initdb.arg("--pgdata").arg(&data).args(["--no-sync", "--auth=trust", "--username=toolfold", "--encoding=UTF8"]);
        let made = initdb.arg("--locale=C").output();
        match made {
            Ok(made) if made.status.success() => {}
            Ok(made) => panic!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)),
            Err(error) => panic!("initdb cannot be run: {error}"),
        }
        postgres.go_on();
        postgres
    }

    /// The address of a database of this name, which is made where there is none.
    pub fn url(&self, name: &str) -> String {
        let made = self.sql("postgres", &format!("CREATE DATABASE {name}"));
        assert!(made.is_ok() || made.as_ref().is_err_and(|said| said.contains("already exists")), "{made:?}");
        self.address(name)
    }

    fn address(&self, name: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://toolfold@/{name}?host={folder}&port={}", self.number())
    }

    /// The same over TCP.
    pub fn tcp_url(&self, name: &str) -> String {
        let port = self.port.unwrap_or_else(|| panic!("it was started without a port"));
        self.url(name);
        format!("postgres://toolfold@127.0.0.1:{port}/{name}")
    }

    /// What `psql` answers: rows of cells with `|` between them; or what went wrong.
    pub fn sql(&self, database: &str, statement: &str) -> Result<String, String> {
        let mut psql = self.command("psql");
        psql.arg("--host").arg(self.folder.path()).args(["--port", &self.number().to_string()]);
        psql.args(["--username=toolfold", "--no-psqlrc", "--quiet"]);
        psql.args(["--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--dbname", database, "--command"]);
        let output = psql.arg(statement).output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Ends it at once, as a power cut would; whoever is connected is not any more.
    pub fn stop(&mut self) {
        if let Some(mut shell) = self.running.take() {
            drop(shell.stdin.take());
            let _ = shell.wait();
        }
    }

    /// Brings it up again, or for the first time.
    pub fn go_on(&mut self) {
        let mut shell = self.shell();
        let program = self.programs.join("postgres");
        let data = self.data();
        let listen = self.port.map_or(String::new(), |_| "127.0.0.1".to_owned());
        let port = self.number();
        // SIGQUIT: at once. A file that it wrote for the next start to find is in the way of nobody.
        let script = "\"$@\" >>\"$0/log\" 2>&1 & server=$!; read -r nothing; kill -QUIT $server; wait $server";
        shell.args(["-c", script]).arg(self.folder.path()).arg(program).arg("-D").arg(&data);
        shell.arg("-k").arg(self.folder.path()).arg("-p").arg(port.to_string());
        let settings = [
            format!("listen_addresses={listen}"),
            "fsync=off".to_owned(),
            "full_page_writes=off".to_owned(),
            "shared_buffers=16MB".to_owned(),
            "max_connections=200".to_owned(),
        ];
        for setting in &settings {
            shell.args(["-c", setting]);
        }
        let started = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.running = Some(started.unwrap_or_else(|error| panic!("PostgreSQL cannot be started: {error}")));
        let until = Instant::now() + PATIENCE;
        while let Err(said) = self.sql("postgres", "SELECT 1") {
            assert!(Instant::now() < until, "PostgreSQL does not come up: {said}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What it has said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Its port, which is in the name of the socket too.
    fn number(&self) -> u16 {
        self.port.unwrap_or(5432)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        self.as_whom(Command::new(self.programs.join(program)))
    }

    fn shell(&self) -> Command {
        self.as_whom(Command::new("/bin/sh"))
    }

    fn as_whom(&self, mut command: Command) -> Command {
        if self.root {
            command.uid(NOBODY).gid(NOBODY);
        }
        // Nobody may not be allowed to stand where we do.
        command.current_dir(self.folder.path()).env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(stdin) = self.running.as_mut().and_then(|shell| shell.stdin.as_mut()) {
            let _ = stdin.flush();
        }
        self.stop();
    }
}

/// The newest there is.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<PathBuf> = versions.flatten().map(|entry| entry.path()).collect();
    versions.sort_by_key(|path| number(path));
    versions.into_iter().rev().map(|path| path.join("bin")).find(|path| path.join("postgres").exists())
}
