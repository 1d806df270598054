//! The real program, line by line.

use std::{
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, lines_of};

/// A command line that no variable of the environment changes.
pub(crate) fn boardcast(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    command.args(arguments).env_remove("BOARDCAST_LOG").env_remove("BOARDCAST_BROKER");
    command.stdin(Stdio::null());
    command
}

/// A program that runs; it is ended with the test.
pub(crate) struct Program {
    child: Child,
    shown: Receiver<String>,
    told: Receiver<String>,
}

impl Program {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(&mut boardcast(arguments))
    }

    /// Any command line.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
        let shown = lines_of(child.stdout.take().unwrap());
        let told = lines_of(child.stderr.take().unwrap());
        Self { child, shown, told }
    }

    /// The daemon with this configuration.
    pub(crate) fn daemon(config: &Path) -> Self {
        Self::start(&["run", "--config", config.to_str().unwrap()])
    }

    /// The next line of standard error with these words in it.
    pub(crate) fn hear(&self, words: &str) -> String {
        let mut told = Vec::new();
        loop {
            match next(&self.told) {
                Some(line) if line.contains(words) => return line,
                Some(line) => told.push(line),
                None => panic!("it ended without saying {words:?}: {told:#?}"),
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end: how it ended, and what it has not been asked for of what it showed and
    /// told.
    pub(crate) fn finish(mut self) -> (ExitStatus, Vec<String>, Vec<String>) {
        let rest = |lines| std::iter::from_fn(|| next(lines)).collect();
        let (shown, told) = (rest(&self.shown), rest(&self.told));
        (self.child.wait().unwrap(), shown, told)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn next(lines: &Receiver<String>) -> Option<String> {
    match lines.recv_timeout(PATIENCE) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("not a line for {PATIENCE:?}"),
    }
}
