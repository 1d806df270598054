//! `[[table]]`: one numbered place, its board and its players.

use std::collections::BTreeMap;

use serde::Deserialize;
use shakmaty::{CastlingMode, fen::Fen};
use toml::Spanned;

use super::{
    check::Check,
    event::{EventDetails, check_ruleset, check_time_control},
};
use crate::{
    game::{Settings, Start, StartRule},
    hall::{Player, Sides, Source, TableNumber, TableSetup},
};

/// One table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The number on the table.
    pub number: TableNumber,
    /// Where its board is found.
    pub source: Source,
    /// Who plays.
    pub players: Sides<Player>,
    /// The time control, as PGN writes it.
    pub time_control: Option<String>,
    /// The edition of the Laws.
    pub ruleset: Option<String>,
    /// The constants of the game, and where it starts.
    pub settings: Settings,
}

impl Table {
    /// A table with nothing else known.
    pub fn new(number: TableNumber, source: Source) -> Self {
        Self {
            number,
            source,
            players: Sides::default(),
            time_control: None,
            ruleset: None,
            settings: Settings::default(),
        }
    }

    /// What the hall needs to know of it.
    pub fn setup(&self) -> TableSetup {
        TableSetup {
            number: self.number,
            source: self.source.clone(),
            players: self.players.clone(),
            settings: self.settings.clone(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    number: Spanned<TableNumber>,
    port: Option<Spanned<String>>,
    board: Option<Spanned<String>>,
    white: Option<PlayerSection>,
    black: Option<PlayerSection>,
    time_control: Option<Spanned<String>>,
    ruleset: Option<Spanned<String>>,
    fen: Option<Spanned<String>>,
    #[serde(default)]
    chess960: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PlayerSection {
    name: Spanned<String>,
    title: Option<Spanned<String>>,
    federation: Option<Spanned<String>>,
    rating: Option<Spanned<u16>>,
    fide_id: Option<Spanned<u32>>,
}

/// Checks all tables, each by itself and against the others.
pub(super) fn check_all(
    sections: &[Spanned<Section>],
    event: &EventDetails,
    timing: &Settings,
    has_ports: bool,
    check: &mut Check<'_>,
) -> Vec<Table> {
    if sections.is_empty() {
        let message = "there is none; expected at least one `[[table]]` with `number` and `port`";
        check.report_at_end("table", message);
    }
    let mut taken = Taken::default();
    let mut tables = Vec::new();
    for section in sections {
        let span = section.span();
        let section = section.get_ref();
        taken.check(section, check);
        let number = check.within("table.number", &section.number, 1..=MAX_NUMBER);
        let source = section.source(&span, has_ports, check);
        let settings = Settings { start: section.start(check), ..timing.clone() };
        let mut player = |key, player: &Option<PlayerSection>| {
            player.as_ref().map_or_else(Player::default, |player| player.check(key, check))
        };
        let players = Sides {
            white: player("table.white", &section.white),
            black: player("table.black", &section.black),
        };
        let own = section.time_control.as_ref();
        let time_control =
            own.and_then(|control| check_time_control("table.time-control", control, check));
        let own = section.ruleset.as_ref();
        let ruleset = own.and_then(|ruleset| check_ruleset("table.ruleset", ruleset, check));
        if let (Some(number), Some(source)) = (number, source) {
            let time_control = time_control.or_else(|| event.time_control.clone());
            let ruleset = ruleset.or_else(|| event.ruleset.clone());
            tables.push(Table { number, source, players, time_control, ruleset, settings });
        }
    }
    tables
}

/// On which line each number, port and board was first given to a table.
#[derive(Default)]
struct Taken<'a> {
    numbers: BTreeMap<TableNumber, usize>,
    ports: BTreeMap<&'a str, usize>,
    boards: BTreeMap<&'a str, usize>,
}

impl<'a> Taken<'a> {
    fn check(&mut self, section: &'a Section, check: &mut Check<'_>) {
        let number = *section.number.get_ref();
        let line = check.line(&section.number.span());
        if let Some(first) = self.numbers.insert(number, line) {
            let message =
                format!("table {number} is already on line {first}; expected a number of its own");
            check.report(&section.number.span(), "table.number", message);
            self.numbers.insert(number, first);
        }
        for (key, value, taken) in [
            ("table.port", &section.port, &mut self.ports),
            ("table.board", &section.board, &mut self.boards),
        ] {
            let Some(value) = value else { continue };
            let line = check.line(&value.span());
            if let Some(first) = taken.insert(value.get_ref(), line) {
                let what = value.get_ref();
                let message = format!(
                    "`{what}` already belongs to the table on line {first}; expected one table \
                     for each"
                );
                check.report(&value.span(), key, message);
                taken.insert(what, first);
            }
        }
    }
}

impl Section {
    /// Whether the table is bound to this port.
    pub(super) fn is_at(&self, port: &str) -> bool {
        self.port.as_ref().is_some_and(|own| own.get_ref() == port)
    }

    fn source(
        &self,
        table: &std::ops::Range<usize>,
        has_ports: bool,
        check: &mut Check<'_>,
    ) -> Option<Source> {
        match (&self.port, &self.board) {
            (Some(port), None) => check.device("table.port", port).map(Source::Port),
            (None, Some(board)) => {
                let serial = board.get_ref();
                let span = board.span();
                if !(1..=16).contains(&serial.len())
                    || !serial.bytes().all(|byte| byte.is_ascii_alphanumeric())
                {
                    let message = format!(
                        "`{serial}`: expected the number on the board's label, such as \"24689\""
                    );
                    check.report(&span, "table.board", message);
                } else if !has_ports {
                    let message = "to find a board by its number, name the ports to look at: \
                                   `[serial]` with `ports = [\"/dev/ttyUSB*\"]`, or \
                                   `[[bus]]` with `port = \"/dev/...\"`";
                    check.report(&span, "table.board", message);
                }
                Some(Source::Board(serial.clone()))
            }
            (Some(_), Some(board)) => {
                let message = "the table has a `port` too; expected one of them";
                check.report(&board.span(), "table.board", message);
                None
            }
            (None, None) => {
                let message = "the table has no board; expected `port = \"/dev/...\"`, or \
                               `board = \"...\"` with the board's serial number";
                check.report(table, "table.port", message);
                None
            }
        }
    }

    fn start(&self, check: &mut Check<'_>) -> StartRule {
        let Some(text) = &self.fen else {
            return if self.chess960 { StartRule::AnyChess960 } else { StartRule::Classical };
        };
        let mode = if self.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let start = match text.get_ref().parse::<Fen>() {
            Ok(fen) => Start::from_setup(fen.into_setup(), mode).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match start {
            Ok(start) => StartRule::Position(Box::new(start)),
            Err(error) => {
                let hint = if self.chess960 { "" } else { "; for Chess960 set `chess960 = true`" };
                let message = format!("{error}; expected the FEN of a legal position{hint}");
                check.report(&text.span(), "table.fen", message);
                StartRule::Classical
            }
        }
    }
}

impl PlayerSection {
    fn check(&self, key: &str, check: &mut Check<'_>) -> Player {
        let letters = |value: &Option<Spanned<String>>, most: usize| {
            let fits = |text: &str| {
                (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase())
            };
            value.as_ref().is_none_or(|value| fits(value.get_ref()))
        };
        if let Some(title) = self.title.as_ref().filter(|_| !letters(&self.title, 3)) {
            let message = format!("`{}`: expected a title such as GM or WFM", title.get_ref());
            check.report(&title.span(), &format!("{key}.title"), message);
        }
        if let Some(federation) = self.federation.as_ref().filter(|_| !letters(&self.federation, 3))
        {
            let message =
                format!("`{}`: expected three capital letters such as NOR", federation.get_ref());
            check.report(&federation.span(), &format!("{key}.federation"), message);
        }
        let rating = self.rating.as_ref();
        let fide_id = self.fide_id.as_ref();
        Player {
            name: check.name(&format!("{key}.name"), &self.name),
            title: self.title.as_ref().map(|title| title.get_ref().clone()),
            federation: self.federation.as_ref().map(|federation| federation.get_ref().clone()),
            rating: rating.and_then(|n| check.within(&format!("{key}.rating"), n, 1..=4000)),
            fide_id: fide_id
                .and_then(|n| check.within(&format!("{key}.fide-id"), n, 1..=999_999_999)),
        }
    }
}

const MAX_NUMBER: TableNumber = 9_999;
