//! `boardcast replay`.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::Args;

use super::{FAILURE, explain, name_of, output};
use crate::{
    game,
    hall::{Recorded, State},
    replay,
    view::{
        capture::{self, BrokenLine, Line, LinkKind},
        line::EventLines,
        pgn,
    },
};

/// Replay captures and print the events or the games they give.
#[derive(Debug, Args)]
pub struct Replay {
    /// Capture files; `-` reads standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print events, one JSON object a line (the default)
    #[arg(long, conflicts_with_all = ["pgn", "explain"])]
    events: bool,
    /// Print the games as PGN
    #[arg(long, conflicts_with = "explain")]
    pgn: bool,
    /// Print for each change of a game why it was made
    #[arg(long)]
    explain: bool,
}

/// Runs the command.
///
/// # Errors
///
/// If a file cannot be read or is no capture, or the output cannot be written.
pub(super) fn run(command: &Replay) -> anyhow::Result<ExitCode> {
    let mut out = output::lines();
    let mut broken = 0;
    for path in &command.files {
        let source = (command.files.len() > 1).then(|| name_of(path));
        let done = one(command, path, source.as_deref(), &mut out);
        let lines = match done {
            Err(error) if error.downcast_ref().is_some_and(output::is_closed_pipe) => {
                return Ok(ExitCode::SUCCESS);
            }
            other => other.with_context(|| name_of(path))?,
        };
        if lines > 0 {
            output::complain(&format!(
                "{}: {lines} broken {} skipped",
                name_of(path),
                if lines == 1 { "line" } else { "lines" }
            ));
        }
        broken += lines;
    }
    match out.flush() {
        Err(error) if !output::is_closed_pipe(&error) => return Err(error.into()),
        _ => {}
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// Replays one file. Returns how many of its lines were broken.
fn one(
    command: &Replay,
    path: &Path,
    source: Option<&str>,
    out: &mut impl Write,
) -> anyhow::Result<usize> {
    let input: Box<dyn io::Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let mut reader = capture::Reader::new(BufReader::with_capacity(1 << 16, input))?;
    let mut printer = Printer::new(Form::of(command), source, out);
    let mut broken = 0;
    let mut sound = |found: Result<(), BrokenLine>| {
        found
            .inspect_err(|line| {
                output::complain(&format!("{}: {line}", name_of(path)));
                broken += 1;
            })
            .is_ok()
    };
    let mut replay;
    if reader.header().link == LinkKind::Bus {
        // Who is on the bus is only known at its end.
        let mut lines = Vec::new();
        let mut line = Line::default();
        while let Some(found) = reader.read_into(&mut line) {
            if sound(found?) {
                lines.push(std::mem::take(&mut line));
            }
        }
        replay = replay::Replay::bus(reader.header(), &replay::addresses(&lines))?;
        for line in &lines {
            replay.line(line, &mut |recorded| printer.event(recorded));
            printer.check()?;
        }
    } else {
        replay = replay::Replay::new(reader.header())?;
        let mut line = Line::default();
        while let Some(found) = reader.read_into(&mut line) {
            if sound(found?) {
                replay.line(&line, &mut |recorded| printer.event(recorded));
            }
            printer.check()?;
        }
    }
    replay.finish(&mut |recorded| printer.event(recorded));
    printer.end()?;
    Ok(broken)
}

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Events,
    Pgn,
    Reasons,
}

impl Form {
    fn of(command: &Replay) -> Self {
        match (command.pgn, command.explain) {
            (true, _) => Self::Pgn,
            (_, true) => Self::Reasons,
            _ => Self::Events,
        }
    }
}

/// Prints what a replay says, and keeps the first error of the output.
struct Printer<'a, W> {
    form: Form,
    source: Option<&'a str>,
    lines: EventLines<'a>,
    out: &'a mut W,
    state: State,
    result: io::Result<()>,
}

impl<'a, W: Write> Printer<'a, W> {
    fn new(form: Form, source: Option<&'a str>, out: &'a mut W) -> Self {
        Self {
            form,
            source,
            lines: EventLines::of(source),
            out,
            state: State::default(),
            result: Ok(()),
        }
    }

    fn event(&mut self, recorded: &Recorded) {
        if self.result.is_err() {
            return;
        }
        match self.form {
            Form::Events => {
                // No other event tells what the clock showed: its readings, which are many, need not
                // be kept.
                if !matches!(recorded.event, game::Event::Clock(_)) {
                    self.state.apply(recorded);
                }
                self.result = self.print_event(recorded);
            }
            Form::Pgn => {
                if matches!(recorded.event, game::Event::GameStarted { .. }) {
                    self.result = self.print_game(recorded.table);
                }
                self.state.apply(recorded);
            }
            Form::Reasons => self.result = self.print_reasons(recorded),
        }
    }

    fn print_reasons(&mut self, recorded: &Recorded) -> io::Result<()> {
        let before = match recorded.event {
            game::Event::Plies { .. } => self.state.table(recorded.table).cloned(),
            _ => None,
        };
        self.state.apply(recorded);
        let Some(after) = self.state.table(recorded.table) else {
            return Ok(());
        };
        let lines = explain::lines(recorded, &before.unwrap_or_default().game, &after.game);
        for line in lines {
            let source = self.source.map_or(String::new(), |source| format!("{source}  "));
            writeln!(self.out, "{source}table {}  {line}", recorded.table)?;
        }
        Ok(())
    }

    fn print_event(&mut self, recorded: &Recorded) -> io::Result<()> {
        let Some(table) = self.state.table(recorded.table) else {
            return Ok(());
        };
        self.lines.write(recorded, &table.game, &mut self.out)
    }

    /// Prints the game at `table`, if there is one.
    fn print_game(&mut self, table: u32) -> io::Result<()> {
        let Some(state) = self.state.table(table).filter(|state| state.game.game() > 0) else {
            return Ok(());
        };
        let mut tags = pgn::Tags::roster("", "", "", "", "");
        if let Some(source) = self.source {
            tags.push("Source", source);
        }
        tags.push("Board", &table.to_string());
        self.out.write_all(pgn::game(&tags, &state.game).as_bytes())
    }

    fn check(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.result, Ok(()))
    }

    fn end(mut self) -> io::Result<()> {
        self.check()?;
        if self.form == Form::Pgn {
            let tables: Vec<_> = self.state.tables().map(|(number, _)| number).collect();
            for table in tables {
                self.print_game(table)?;
            }
        }
        Ok(())
    }
}

/// What `--help` shows.
pub(super) const EXAMPLES: &str = "\
Examples:
  boardcast replay game.jsonl               every event, one JSON object a line
  boardcast replay game.jsonl --pgn         the games
  boardcast replay game.jsonl --explain     why each move was read as it was
  boardcast replay *.jsonl --events | grep '\"plies\"'

Time is virtual: a capture of five hours takes a moment, and the same file always gives the same
output. A broken line is told with its number and skipped; the exit status is then 1.";
