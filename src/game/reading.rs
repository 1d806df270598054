//! Reading a stretch of a game again: the lines of legal moves that explain best, all in all, what
//! stood on the board since a position that is certain, for how long, and who pressed when.
//!
//! Every explanation has a cost. It pays for each square that stood otherwise than it says, the more
//! the longer; for each ply; for each ply that was not pressed, and each press without a ply. Many
//! explanations are kept while the evidence is gone through, the cheapest are the answer. Nothing
//! here is certain by itself: whoever asks compares the cost with that of what he believes.

mod cost;

mod sights;

#[cfg(test)]
mod tests;

use shakmaty::{Bitboard, Chess, Color, Move, Position};

use super::{
    evidence::{Evidence, Press, Scene},
    explain,
    placement::{Key, Placement, difference},
    ply,
    time::Timestamp,
};
use cost::{
    FORGOTTEN_MS, GAP_MS, HIDDEN, IDLE_PRESS, LATE_REPORT, NATURAL, PLY, PRESSED_APART, REPORT_MS,
    STRANGE, UNPRESSED, UNSEEN_PLY, weight,
};
use sights::{Shown, Sights, apart};

/// A stretch of evidence and the position before it.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// What stands for certain at the first scene.
    pub position: &'a Chess,
    /// Everything that was seen.
    pub evidence: &'a Evidence,
    /// The index of the first scene of the stretch.
    pub first: usize,
    /// The last ply of White, and of Black, before the stretch may still be pressed.
    pub open: [bool; 2],
    /// Until when what stands now has stood.
    pub until: Timestamp,
    /// The longest line by which a placement after missing reports is explained.
    pub gap_plies: usize,
}

/// One explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its moves, each with the time from which it stood.
    pub line: Vec<(Move, Timestamp)>,
    /// What it costs, in thousandths of a ply.
    pub cost: u32,
    /// How many squares stand otherwise now than it says, as hands at work would have it.
    pub in_hand: usize,
    /// How many in a way that needs another reason.
    pub strange: usize,
}

/// The cheapest explanations, the best one first.
pub fn read(stretch: &Stretch<'_>) -> Vec<Reading> {
    let mut reader = Reader::new(stretch, None);
    reader.go_through();
    reader.readings()
}

/// What it costs to believe that exactly `line` was played; `None` if it is illegal.
pub fn cost_of(stretch: &Stretch<'_>, line: &[Move]) -> Option<u32> {
    let mut reader = Reader::new(stretch, Some(line));
    reader.go_through();
    let all = reader.readings();
    all.iter().filter(|reading| reading.line.len() == line.len()).map(|reading| reading.cost).min()
}

/// A position that some explanation has reached.
struct Node {
    position: Chess,
    key: Key,
    by: Option<(usize, Move)>,
    plies: usize,
    moves: Option<Vec<Move>>,
    children: Vec<(Move, usize)>,
}

/// An explanation on its way through the evidence.
#[derive(Clone, Copy, Debug)]
struct Hypothesis {
    node: usize,
    cost: u32,
    /// When each of its plies was made: the head of a list in [`Reader::times`].
    times: usize,
    /// The last ply of White, and of Black, is not pressed yet.
    open: [bool; 2],
    /// White, and Black, pressed before a ply of theirs was seen.
    owed: [Option<Timestamp>; 2],
    /// How many squares stand otherwise at present, as hands at work would have it, and how many in a
    /// way that needs another reason.
    apart: (u32, u32),
}

struct Reader<'a> {
    stretch: &'a Stretch<'a>,
    script: Option<&'a [Move]>,
    nodes: Vec<Node>,
    times: Vec<(usize, Timestamp)>,
    beam: Vec<Hypothesis>,
    /// Presses were seen: those that are missing tell something.
    clocked: bool,
    searches: usize,
}

impl<'a> Reader<'a> {
    fn new(stretch: &'a Stretch<'a>, script: Option<&'a [Move]>) -> Self {
        let root = Node {
            position: stretch.position.clone(),
            key: Key::of(stretch.position.board()),
            by: None,
            plies: 0,
            moves: None,
            children: Vec::new(),
        };
        let mut nodes = Vec::with_capacity(USUAL_NODES);
        nodes.push(root);
        let start = Hypothesis {
            node: 0,
            cost: 0,
            times: 0,
            open: stretch.open,
            owed: [None; 2],
            apart: (0, 0),
        };
        Self {
            stretch,
            script,
            nodes,
            times: vec![(0, Timestamp::ZERO)],
            beam: vec![start],
            clocked: false,
            searches: MAX_SEARCHES,
        }
    }

    fn go_through(&mut self) {
        let Stretch { evidence, first, until, .. } = *self.stretch;
        let scenes: Vec<&Scene> = evidence.scenes_from(first).collect();
        let Some(start) = scenes.first().map(|scene| scene.at) else {
            return;
        };
        let doubts = doubts(&scenes);
        let mut presses = evidence.presses_after(start).peekable();
        self.clocked = presses.peek().is_some();
        for (i, scene) in scenes.iter().enumerate() {
            let next = scenes.get(i + 1);
            let end = next.map_or(until.max(scene.at), |next| next.at);
            let stood = end.since(scene.at);
            let (doubtful, told) = doubts[i];
            let told = scenes[told].placement.board();
            let shown = Shown { board: scene.placement.board(), doubtful, told };
            self.grow(shown, scene.at);
            if scene.told_by_dump && stood >= GAP_MS {
                self.bridge(&scene.placement, scene.at);
            }
            self.look(&scene.placement, shown, stood);
            while let Some(press) = presses.next_if(|press| press.at <= end || next.is_none()) {
                self.press(press);
            }
            self.prune();
        }
    }

    /// Adds what each explanation becomes with the plies that this placement shows.
    fn grow(&mut self, shown: Shown<'_>, at: Timestamp) {
        let mut from = 0;
        for _ in 0..MAX_PLIES_AT_ONCE {
            let to = self.beam.len();
            for i in from..to {
                let hypothesis = self.beam[i];
                for (m, cost) in self.moves_shown(hypothesis.node, shown) {
                    if let Some(next) = self.played(hypothesis, m, cost, at) {
                        self.beam.push(next);
                    }
                }
                if self.beam.len() > MAX_GROWN || self.nodes.len() > MAX_NODES {
                    break;
                }
            }
            from = to;
        }
    }

    /// The moves from a node that the board shows, with the cost of each.
    fn moves_shown(&mut self, node: usize, shown: Shown<'_>) -> Vec<(Move, u32)> {
        if let Some(script) = self.script {
            let Some(&m) = script.get(self.nodes[node].plies) else {
                return Vec::new();
            };
            let position = &self.nodes[node].position;
            let seen = Sights::new(position, shown).and_then(|sights| sights.cost(m));
            return vec![(m, seen.unwrap_or(UNSEEN_PLY))];
        }
        let Node { position, moves, .. } = &mut self.nodes[node];
        let Some(sights) = Sights::new(position, shown) else {
            return Vec::new();
        };
        if sights.are_blank() {
            return Vec::new();
        }
        let moves = moves.get_or_insert_with(|| ply::legal_moves(position).to_vec());
        moves.iter().filter_map(|&m| Some((m, sights.cost(m)?))).collect()
    }

    /// `hypothesis` with `m` played.
    fn played(
        &mut self,
        hypothesis: Hypothesis,
        m: Move,
        cost: u32,
        at: Timestamp,
    ) -> Option<Hypothesis> {
        let node = self.child(hypothesis.node, m)?;
        let side = index(!self.nodes[node].position.turn());
        let mut next = Hypothesis { node, cost: hypothesis.cost + cost, ..hypothesis };
        self.times.push((hypothesis.times, at));
        next.times = self.times.len() - 1;
        if next.open[side] && self.clocked {
            next.cost += UNPRESSED;
        }
        let late = next.owed[side].take().map(|pressed| at.since(pressed));
        next.open[side] = late.is_none_or(|late| late > FORGOTTEN_MS);
        next.cost += match late {
            Some(late) if late > FORGOTTEN_MS => IDLE_PRESS,
            Some(late) if late > REPORT_MS => LATE_REPORT,
            _ => 0,
        };
        Some(next)
    }

    fn child(&mut self, node: usize, m: Move) -> Option<usize> {
        let parent = &self.nodes[node];
        if let Some(&(_, child)) = parent.children.iter().find(|(by, _)| *by == m) {
            return Some(child);
        }
        let turn = parent.position.turn();
        let key = parent.key.after(turn, &m);
        let plies = parent.plies + 1;
        let mut position = parent.position.clone();
        if self.script.is_some() && !position.is_legal(m) {
            return None;
        }
        position.play_unchecked(m); // All others come from the rules.
        self.nodes.push(Node {
            position,
            key,
            by: Some((node, m)),
            plies,
            moves: None,
            children: Vec::new(),
        });
        let child = self.nodes.len() - 1;
        self.nodes[node].children.push((m, child));
        Some(child)
    }

    /// Reports are missing: if nothing explains what stands, several plies at once may.
    fn bridge(&mut self, placement: &Placement, at: Timestamp) {
        let apart = |hypothesis: &Hypothesis| {
            difference(self.nodes[hypothesis.node].position.board(), placement.board()).count()
        };
        if self.script.is_some()
            || self.searches == 0
            || self.beam.iter().any(|hypothesis| apart(hypothesis) == 0)
        {
            return;
        }
        self.searches -= 1;
        let mut best = self.beam.clone();
        best.sort_by_key(|hypothesis| hypothesis.cost);
        for hypothesis in best.into_iter().take(MAX_BRIDGES) {
            let position = &self.nodes[hypothesis.node].position;
            let plies = self.stretch.gap_plies;
            for line in explain::shortest_lines(position, placement, plies, MAX_LINES) {
                let mut next = Some(hypothesis);
                for m in line {
                    next = next.and_then(|next| self.played(next, m, PLY + HIDDEN, at));
                }
                self.beam.extend(next);
            }
        }
    }

    /// The placement stood for `ms`.
    fn look(&mut self, placement: &Placement, shown: Shown<'_>, ms: u64) {
        let weight = weight(ms);
        for hypothesis in &mut self.beam {
            let node = &self.nodes[hypothesis.node];
            if node.key == placement.key() {
                hypothesis.apart = (0, 0);
                continue;
            }
            let (natural, strange) = apart(&node.position, &shown);
            hypothesis.apart = (natural, strange);
            hypothesis.cost += weight * (natural * NATURAL + strange * STRANGE) / 1_000;
        }
    }

    fn press(&mut self, press: Press) {
        let side = index(press.by);
        for hypothesis in &mut self.beam {
            hypothesis.cost += PRESSED_APART * (hypothesis.apart.0 + hypothesis.apart.1);
            if std::mem::take(&mut hypothesis.open[side]) {
                continue;
            }
            if hypothesis.owed[side].replace(press.at).is_some() {
                hypothesis.cost += IDLE_PRESS;
            }
        }
    }

    /// Keeps the best explanations, and of those that lead to the same position only a few.
    fn prune(&mut self) {
        let nodes = &self.nodes;
        self.beam.sort_by_key(|h| (h.cost, h.apart, nodes[h.node].plies, h.node));
        let Some(best) = self.beam.first().map(|h| h.cost) else {
            return;
        };
        let mut kept: Vec<Hypothesis> = Vec::with_capacity(WIDTH);
        for h in &self.beam {
            if kept.len() == WIDTH || h.cost > best + MAX_BEHIND {
                break;
            }
            let (key, plies) = (nodes[h.node].key, nodes[h.node].plies);
            let same_line = kept.iter().any(|k| k.node == h.node);
            let alike =
                kept.iter().filter(|k| nodes[k.node].plies == plies && nodes[k.node].key == key);
            if !same_line && alike.count() < MAX_ORDERS {
                kept.push(*h);
            }
        }
        if let Some(script) = self.script {
            // Whoever asks for one line wants to hear of all of it.
            let farthest = self.beam.iter().filter(|h| nodes[h.node].plies == script.len());
            kept.extend(farthest.min_by_key(|h| h.cost));
        }
        self.beam = kept;
    }

    fn readings(&self) -> Vec<Reading> {
        let mut readings: Vec<Reading> = self
            .beam
            .iter()
            .map(|h| Reading {
                line: self.line(h),
                cost: h.cost,
                in_hand: h.apart.0 as usize,
                strange: h.apart.1 as usize,
            })
            .collect();
        readings.sort_by_key(|reading| reading.cost);
        readings
    }

    fn line(&self, hypothesis: &Hypothesis) -> Vec<(Move, Timestamp)> {
        let (mut node, mut times) = (hypothesis.node, hypothesis.times);
        let mut line = Vec::with_capacity(self.nodes[node].plies);
        while let Some((parent, m)) = self.nodes[node].by {
            let (earlier, at) = self.times[times];
            line.push((m, at));
            (node, times) = (parent, earlier);
        }
        line.reverse();
        line
    }
}

/// For each scene the squares of which reports were lost, and the scene whose dump tells them: what a
/// dump changes was wrong before, since that square last changed or a dump last confirmed it.
fn doubts(scenes: &[&Scene]) -> Vec<(Bitboard, usize)> {
    let mut doubts: Vec<_> = (0..scenes.len()).map(|i| (Bitboard::EMPTY, i)).collect();
    let mut open = (Bitboard::EMPTY, 0);
    for i in (1..scenes.len()).rev() {
        let (before, now) = (scenes[i - 1].placement.board(), scenes[i].placement.board());
        let changed = difference(before, now);
        if scenes[i].told_by_dump {
            open = (changed, i);
        } else {
            open.0 &= !changed;
        }
        if scenes[i - 1].confirmed {
            open.0 = Bitboard::EMPTY;
        }
        doubts[i - 1] = open;
    }
    doubts
}

fn index(side: Color) -> usize {
    side.fold_wb(0, 1)
}

/// How many explanations are kept.
const WIDTH: usize = 24;

/// How far behind the best explanation another one may be.
const MAX_BEHIND: u32 = 12_000;

/// How many lines to the same position are kept.
const MAX_ORDERS: usize = 2;

const MAX_PLIES_AT_ONCE: usize = 4;

/// Room for the positions that one reading looks at as a rule.
const USUAL_NODES: usize = 512;

/// Bounds of the work: explanations at one placement, positions, and searches over all.
const MAX_GROWN: usize = 400;
const MAX_NODES: usize = 20_000;
const MAX_SEARCHES: usize = 2;
const MAX_BRIDGES: usize = 4;
const MAX_LINES: usize = 6;
