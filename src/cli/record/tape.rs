//! What is tapped from one port, written down.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    cli::{name_of, output},
    daemon::{
        clock::Clock,
        port::{Tapped, Traffic},
    },
    game::Timestamp,
    view::{
        capture::{Header, Line, LinkKind, Record, Writer},
        event::Epoch,
    },
};

/// Where a capture goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Standard output.
    Standard,
    /// A file that is not there yet, or a device or pipe that is.
    File(PathBuf),
}

/// A capture that is being written.
pub(super) struct Tape {
    name: String,
    writer: Writer<BufWriter<Box<dyn Write + Send>>>,
    tapped: mpsc::Receiver<Tapped>,
    started: Timestamp,
}

/// Where the captures of these ports go: the one of a single port to `output` itself, others into
/// the folder `output`, which is made if need be.
pub(super) fn targets<'a>(
    output: &Path,
    ports: impl ExactSizeIterator<Item = &'a Path>,
) -> anyhow::Result<Vec<Target>> {
    let into_folder = ports.len() > 1 || output.is_dir();
    if !into_folder {
        let standard = output == Path::new("-");
        return Ok(vec![if standard { Target::Standard } else { Target::File(output.to_owned()) }]);
    }
    if output == Path::new("-") {
        bail!(
            "-o -: the captures of several ports do not go into one output; name a folder, in \
             which each gets a file of its own"
        );
    }
    fs::create_dir_all(output).with_context(|| {
        format!("{}: several ports need a folder to write into", name_of(output))
    })?;
    let mut taken = BTreeSet::new();
    let file = |port: &Path| {
        let stem = port.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = (1..).map(|n| match n {
            1 => format!("{stem}.jsonl"),
            _ => format!("{stem}-{n}.jsonl"),
        });
        let name = names.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default();
        Target::File(output.join(name))
    };
    Ok(ports.map(file).collect())
}

impl Tape {
    /// Writes the header; also gives where to send what is tapped from the port.
    pub(super) fn begin(
        port: &Path,
        link: LinkKind,
        target: Target,
        clock: Clock,
    ) -> anyhow::Result<(Self, mpsc::Sender<Tapped>)> {
        let started = clock.started();
        let header = Header {
            created: Epoch::Unix.format(started),
            port: Some(name_of(port)),
            link,
            ..Header::single()
        };
        let (name, sink): (_, Box<dyn Write + Send>) = match target {
            Target::Standard => ("standard output".to_owned(), Box::new(io::stdout())),
            Target::File(path) => {
                let name = name_of(&path);
                let file = create(&path).with_context(|| name.clone())?;
                (name, Box::new(file))
            }
        };
        let begin = || {
            let mut writer = Writer::new(BufWriter::new(sink), &header)?;
            // Also a recording of nothing is a capture.
            writer.flush()?;
            Ok::<_, io::Error>(writer)
        };
        let writer = begin().with_context(|| name.clone())?;
        let (tap, tapped) = mpsc::channel(TAPPED);
        Ok((Self { name, writer, tapped, started }, tap))
    }

    /// Writes what is tapped until `stop`; what the board said is on disk soon after it said it.
    /// Gives a sentence about what was written.
    ///
    /// # Errors
    ///
    /// If it cannot be written. A reader who has gone is no error, but the end.
    pub(super) async fn write_down(mut self, stop: CancellationToken) -> anyhow::Result<String> {
        let mut lines = Lines::default();
        match self.write_lines(&stop, &mut lines).await {
            Err(error) if !output::is_closed_pipe(&error) => {
                return Err(anyhow::Error::from(error).context(self.name));
            }
            _ => {}
        }
        let name = self.name;
        Ok(match lines {
            Lines { received: 0, .. } => {
                format!("no board said anything; {name} holds a capture without bytes from one")
            }
            Lines { written: 1, .. } => format!("1 line in {name}"),
            Lines { written, .. } => format!("{written} lines in {name}"),
        })
    }

    async fn write_lines(&mut self, stop: &CancellationToken, lines: &mut Lines) -> io::Result<()> {
        let mut last = 0;
        loop {
            let next = if let Ok(tapped) = self.tapped.try_recv() {
                Some(tapped)
            } else {
                self.writer.flush()?;
                tokio::select! {
                    () = stop.cancelled() => self.tapped.try_recv().ok(),
                    next = self.tapped.recv() => next,
                }
            };
            let Some(Tapped { at, traffic }) = next else {
                return self.writer.flush();
            };
            lines.received += u64::from(matches!(traffic, Traffic::Received(_)));
            let record = match traffic {
                Traffic::Received(bytes) => Record::Rx(bytes),
                Traffic::Sent(bytes) => Record::Tx(bytes),
                Traffic::Up => Record::Port(true),
                Traffic::Down => Record::Port(false),
            };
            last = at.since(self.started).max(last);
            self.writer.write(&Line { t: last, record })?;
            lines.written += 1;
        }
    }
}

/// What was written, in lines.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    written: u64,
    received: u64,
}

/// A new file, or a device or pipe as it is. A recording cannot be made again: no file is written
/// over.
fn create(path: &Path) -> io::Result<File> {
    let special = |kind: fs::FileType| kind.is_char_device() || kind.is_fifo();
    if fs::metadata(path).is_ok_and(|metadata| special(metadata.file_type())) {
        return OpenOptions::new().write(true).open(path);
    }
    File::create_new(path)
}

/// Runs of bytes that may wait to be written.
const TAPPED: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn files(output: &Path, ports: &[&str]) -> anyhow::Result<Vec<Target>> {
        targets(output, ports.iter().map(Path::new))
    }

    #[test]
    fn one_port_goes_into_a_file_and_several_into_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| Target::File(folder.path().join(path));
        let one = files(&folder.path().join("a.jsonl"), &["/dev/ttyUSB0"]).unwrap();
        assert_eq!(one, [file("a.jsonl")]);
        assert_eq!(files(Path::new("-"), &["/dev/ttyUSB0"]).unwrap(), [Target::Standard]);
        assert_eq!(files(folder.path(), &["/dev/ttyUSB0"]).unwrap(), [file("ttyUSB0.jsonl")]);

        let ports = ["/dev/ttyUSB0", "/tmp/a/board", "/tmp/b/board"];
        let several = files(&folder.path().join("round/4"), &ports).unwrap();
        let names = ["round/4/ttyUSB0.jsonl", "round/4/board.jsonl", "round/4/board-2.jsonl"];
        assert_eq!(several, names.map(file));
        assert!(folder.path().join("round/4").is_dir());
    }

    #[test]
    fn several_ports_are_not_mixed_in_one_output() {
        let error = files(Path::new("-"), &["/dev/a", "/dev/b"]).unwrap_err().to_string();
        assert!(error.contains("name a folder"), "{error}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = files(file.path(), &["/dev/a", "/dev/b"]).unwrap_err().to_string();
        assert!(error.contains("several ports need a folder"), "{error}");
    }

    #[test]
    fn no_recording_is_written_over_but_a_device_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(create(file.path()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(create(Path::new("/dev/null")).is_ok());
    }
}
