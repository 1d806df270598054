//! The retained state of one table.

use serde::Serialize;
use shakmaty::{Chess, EnPassantMode, fen::Fen};

use super::{
    SCHEMA,
    event::{ClockTimes, Epoch, is_public_end},
};
use crate::{
    game,
    hall::{Player, TableNumber, TableState},
};

/// White or Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// White.
    White,
    /// Black.
    Black,
}

/// One ply as arbiters see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArbiterPly {
    #[serde(flatten)]
    ply: PublicPly,
    /// Whether the move is completed (Article 6.2.1).
    completed: bool,
}

/// One ply as everybody sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicPly {
    /// In UCI notation; castling is `e1g1` in standard chess and king takes rook in Chess960.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uci: Option<String>,
    /// In SAN with check and mate signs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub san: Option<String>,
    /// Only where there is no move: the position from which play went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// The mover's time left right after the press, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ms: Option<u32>,
}

/// A ply with the state of completion, before it is cut to what its reader may know.
pub struct PlyView {
    ply: PublicPly,
    completed: bool,
}

impl From<PlyView> for ArbiterPly {
    fn from(view: PlyView) -> Self {
        Self { ply: view.ply, completed: view.completed }
    }
}

impl From<PlyView> for PublicPly {
    fn from(view: PlyView) -> Self {
        view.ply
    }
}

/// The plies of `state` from index `from` on.
pub fn plies_from(state: &game::State, from: usize) -> impl Iterator<Item = PlyView> {
    let mode = state.start().mode();
    state.plies().iter().enumerate().skip(from).map(move |(i, ply)| {
        let fen = || state.position(i + 1).map(fen_of);
        let ply_view = PublicPly {
            uci: ply.legal().map(|m| m.to_uci(mode).to_string()),
            san: state.san(i),
            fen: if ply.legal().is_some() { None } else { fen() },
            clock_ms: ply.clock_ms,
        };
        PlyView { ply: ply_view, completed: ply.completed }
    })
}

fn fen_of(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// `standard` or `chess960`.
pub fn variant(state: &game::State) -> &'static str {
    match state.start().mode() {
        shakmaty::CastlingMode::Standard => "standard",
        shakmaty::CastlingMode::Chess960 => "chess960",
    }
}

/// A player; absent fields are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlayerView {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    federation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rating: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fide_id: Option<u32>,
}

impl From<&Player> for PlayerView {
    fn from(player: &Player) -> Self {
        let Player { name, title, federation, rating, fide_id } = player.clone();
        Self { name, title, federation, rating, fide_id }
    }
}

/// The whole game: topic `public/table/<n>/game`, retained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameView {
    schema: u32,
    table: TableNumber,
    /// The table's games counted from 1; 0 before the first.
    game: u32,
    /// How often published plies were replaced in this game.
    revision: u32,
    white: PlayerView,
    black: PlayerView,
    variant: &'static str,
    start_fen: String,
    fen: String,
    plies: Vec<PublicPly>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
}

impl GameView {
    /// The game of `table` as the hall may see it.
    pub fn new(number: TableNumber, table: &TableState) -> Self {
        let state = &table.game;
        Self {
            schema: SCHEMA,
            table: number,
            game: state.game(),
            revision: state.revision(),
            white: (&table.players.white).into(),
            black: (&table.players.black).into(),
            variant: variant(state),
            start_fen: state.start().fen().to_string(),
            fen: fen_of(state.tip()),
            plies: plies_from(state, 0).map(PublicPly::from).collect(),
            result: state
                .result()
                .filter(|(_, reason)| is_public_end(*reason))
                .map(|(result, _)| result.as_str()),
        }
    }
}

/// Both times: topic `public/table/<n>/clock`, retained. Without times no clock is connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockState {
    schema: u32,
    table: TableNumber,
    #[serde(flatten)]
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<ClockTimes>,
    /// When the clock was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_at: Option<String>,
    /// Whether the board answers; while it does not, everything here is old.
    board_up: bool,
    /// Whether a clock is connected to it.
    clock_up: bool,
}

impl ClockState {
    /// The clock of `table`.
    pub fn new(number: TableNumber, table: &TableState) -> Self {
        let clock = table.game.clock();
        Self {
            schema: SCHEMA,
            table: number,
            times: clock.map(ClockTimes::from),
            read_at: clock.and_then(|clock| Epoch::Unix.format(clock.read_at)),
            board_up: table.game.link_up(),
            clock_up: clock.is_some(),
        }
    }
}

/// What stands on the board right now: topic `arbiter/table/<n>/live`, retained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveView {
    schema: u32,
    table: TableNumber,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    placement: Option<String>,
    /// How many of the last plies are made and not completed.
    open_plies: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    turned: bool,
}

impl LiveView {
    /// The board of `table` as an arbiter may see it.
    pub fn new(number: TableNumber, table: &TableState) -> Self {
        let state = &table.game;
        Self {
            schema: SCHEMA,
            table: number,
            state: state.phase().as_str(),
            placement: state.placement().map(ToString::to_string),
            open_plies: state.plies().iter().rev().take_while(|ply| !ply.completed).count(),
            result: state.result().map(|(result, _)| result.as_str()),
            reason: state.result().map(|(_, reason)| reason.as_str()),
            turned: state.orientation() == game::Orientation::Turned,
        }
    }
}
