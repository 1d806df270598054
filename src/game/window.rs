//! The part of a game that may still change: made plies that are not completed, and what was
//! glimpsed on the board beyond them.

mod node;

#[cfg(test)]
mod tests;

use shakmaty::{Chess, Color, Move, Position, Square};

use super::{placement::Placement, time::Timestamp};
pub use node::Missing;
use node::Node;

/// What a further move of the man that moved two plies ago is.
enum Onward {
    /// A ply of its own.
    Ply,
    /// The end of a move that had only rested: this line, from this made ply on, tells the same in
    /// one ply less.
    Rested(usize, Vec<Move>),
    /// No ply; the board will show what.
    Unclear,
}

/// What the board shows at one moment, with what is known about how it came there.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// What stands.
    pub placement: &'a Placement,
    /// When.
    pub at: Timestamp,
    /// When each square was last emptied.
    pub emptied_at: &'a [Timestamp; 64],
    /// Whose press waits for its move, and when it was.
    pub press: Option<(Color, Timestamp)>,
}

impl Sight<'_> {
    fn lifted_at(&self, square: Square) -> Timestamp {
        self.emptied_at[usize::from(square)]
    }
}

/// Where the placement on the board is, seen from the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// On the window's line after this many of its plies, which may be fewer than all that were
    /// made: then the later ones were taken back.
    On(usize),
    /// Nowhere on it: men are in the air, displaced, or more than one ply was missed.
    Off,
}

/// The last completed position, the made plies after it, and what was glimpsed since.
///
/// The *line* is what the board has shown last: the first `shared` made plies, then the glimpsed
/// ones. While nothing new is glimpsed the line is exactly the made plies.
#[derive(Clone, Debug)]
pub struct Window {
    /// Index in the mainline of the first ply of the window.
    base: usize,
    /// Positions: before the window's first ply, then after each made ply.
    made: Vec<Node>,
    shared: usize,
    glimpsed: Vec<Node>,
}

impl Window {
    /// A window with nothing made in it, over `position`, which stands before ply `base`.
    pub fn new(position: Chess, base: usize) -> Self {
        Self { base, made: vec![Node::new(position)], shared: 0, glimpsed: Vec::new() }
    }

    /// A window over `position`, which stands before ply `base`, with the plies of `made` made in it
    /// and those of `glimpsed` seen beyond them. Both end where a move is illegal.
    pub fn over(
        position: Chess,
        base: usize,
        made: &[(Move, Timestamp)],
        glimpsed: &[(Move, Timestamp)],
    ) -> Self {
        let mut window = Self::new(position, base);
        for (m, at) in made.iter().chain(glimpsed) {
            let Some(node) = window.node(window.len()).after(*m) else {
                break;
            };
            window.glimpsed.push(node.seen(*at));
        }
        window.make(made.len());
        window
    }

    /// Index in the mainline of the window's first ply.
    pub fn base(&self) -> usize {
        self.base
    }

    /// How many plies of the window are made.
    pub fn made(&self) -> usize {
        self.made.len() - 1
    }

    /// How many of the made plies the line shares.
    pub fn shared(&self) -> usize {
        self.shared
    }

    /// What was glimpsed beyond them: each move, and when it first stood on the board complete.
    pub fn glimpsed(&self) -> impl Iterator<Item = (Move, Timestamp)> {
        self.glimpsed.iter().filter_map(|node| Some((node.by()?, node.at())))
    }

    /// The length of the line.
    pub fn len(&self) -> usize {
        self.shared + self.glimpsed.len()
    }

    /// Whether the line is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position after `n` plies of the line; the last one if there are fewer.
    pub fn position(&self, n: usize) -> &Chess {
        self.node(n).position()
    }

    /// Whether there is a legal move after `n` plies of the line.
    pub fn has_moves(&mut self, n: usize) -> bool {
        self.node_mut(n).has_moves()
    }

    /// Whether the first `n` plies of the line stand and the next mover's hand is on the board.
    pub fn is_under_reply(&self, n: usize, placement: &Placement, missing: Missing) -> bool {
        self.node(n).is_under_reply(placement, missing)
    }

    /// Whether men are in the air and nothing else is different from the line's end: one man of either
    /// side, or one of the side to move and another one, as in a capture or castling.
    pub fn is_in_hand(&self, placement: &Placement) -> bool {
        let position = self.node(self.len()).position();
        let changed = placement.difference(position.board());
        let own = (changed & position.us()).count();
        let lifted = changed & !placement.board().occupied() == changed;
        lifted && (changed.count() == 1 || (changed.count() == 2 && own > 0))
    }

    /// When the position after `n` plies of the line first stood, and where its last move went.
    pub fn arrival(&self, n: usize) -> Option<(Timestamp, Square)> {
        let node = self.node(n);
        Some((node.at(), node.by()?.to()))
    }

    /// The position after `n` made plies, whatever was glimpsed since.
    pub fn made_position(&self, n: usize) -> Option<&Chess> {
        self.made.get(n).map(Node::position)
    }

    fn node_mut(&mut self, n: usize) -> &mut Node {
        match n.checked_sub(self.shared + 1) {
            Some(i) if i < self.glimpsed.len() => &mut self.glimpsed[i],
            _ => {
                let n = n.min(self.shared);
                &mut self.made[n]
            }
        }
    }

    fn node(&self, n: usize) -> &Node {
        match n.checked_sub(self.shared + 1).and_then(|i| self.glimpsed.get(i)) {
            Some(node) => node,
            None => &self.made[n.min(self.shared)],
        }
    }

    /// Who played ply `n` of the line (0 is the first).
    pub fn mover(&self, n: usize) -> Color {
        let first = self.made[0].position().turn();
        if n.is_multiple_of(2) { first } else { !first }
    }

    /// Takes notice of what stands on the board now. The latest place on the line where it fits
    /// wins; if it fits nowhere the line stays, for hands may be in motion.
    pub fn see(&mut self, sight: &Sight<'_>) {
        let placement = sight.placement;
        for n in (self.shared + 1..=self.len()).rev() {
            if self.node(n).stands(placement) {
                self.cut(n);
                return;
            }
            if self.may_grow(n)
                && let Some(node) = self.node_mut(n).child(placement)
            {
                self.add(n, node, sight);
                return;
            }
        }
        for n in (0..self.made.len()).rev() {
            let standing = self.made[n].stands(placement);
            let child = if standing { None } else { self.made[n].child(placement) };
            if standing || child.is_some() {
                self.branch(n, child, sight.at);
                return;
            }
        }
        self.see_under_reply(sight);
    }

    /// Both hands are over the board: one side has finished its move, the other one is at work.
    fn see_under_reply(&mut self, sight: &Sight<'_>) {
        let placement = sight.placement;
        for n in (self.shared + 1..=self.len()).rev() {
            if self.may_grow(n)
                && let Some(node) = self.node_mut(n).child_under_reply(placement)
            {
                if !self.is_pushed_aside(n + 1, &node, sight) {
                    self.add(n, node, sight);
                }
                return;
            }
            if self.node(n).is_under_reply(placement, Missing::Captured) {
                self.cut(n);
                return;
            }
        }
        // The further back, the more of what was made is given up: the latest fit wins.
        for n in (0..self.made.len()).rev() {
            if let Some(node) = self.made[n].child_under_reply(placement) {
                if self.shared < n || !self.is_pushed_aside(n + 1, &node, sight) {
                    self.branch(n, Some(node), sight.at);
                }
                return;
            }
            if self.made[n].is_under_reply(placement, Missing::Captured) {
                return;
            }
        }
    }

    /// Whether ply `n - 1` of the line was no other move than it seemed, as `instead` would have it,
    /// but a capture of the man that played it: pushed aside, onto a free square next to its own, by
    /// a man that the opponent had lifted before.
    fn is_pushed_aside(&self, n: usize, instead: &Node, sight: &Sight<'_>) -> bool {
        let node = self.node(n);
        let (Some(m), Some(other)) = (node.by(), instead.by()) else {
            return false;
        };
        let left = sight.lifted_at(m.to());
        n <= self.len()
            && !other.is_capture()
            && m.to().distance(other.to()) == 1
            && sight
                .placement
                .piece_at(m.to())
                .is_none_or(|man| man.color == node.position().turn())
            && node.captors(m.to()).any(|from| {
                sight.placement.piece_at(from).is_none()
                    && sight.lifted_at(from).after(REACH_MS) < left
            })
    }

    fn may_grow(&self, n: usize) -> bool {
        n - self.shared < MAX_GLIMPSED
    }

    /// Forgets what was glimpsed after the first `n` plies of the line.
    fn cut(&mut self, n: usize) {
        self.glimpsed.truncate(n - self.shared);
    }

    /// The line is the first `n` made plies now, and `node` after them.
    fn branch(&mut self, n: usize, node: Option<Node>, at: Timestamp) {
        self.shared = n;
        self.glimpsed.clear();
        self.glimpsed.extend(node.map(|node| node.seen(at)));
    }

    /// Adds `node` to the first `n` plies of the line.
    fn add(&mut self, n: usize, node: Node, sight: &Sight<'_>) {
        self.cut(n);
        match self.moved_on(&node, sight) {
            Onward::Ply => self.glimpsed.push(node.seen(sight.at)),
            Onward::Rested(first, line) => self.read_in(first, &line, sight.at),
            Onward::Unclear => {}
        }
    }

    /// `node` would be a further move of the man that moved two plies ago. If that man was lifted
    /// before the reply between was there it had only rested: it has gone on, and there is one ply
    /// less. Where the board reported the new square before the old one, it was lifted up to a scan
    /// before its square was reported empty.
    fn moved_on(&self, node: &Node, sight: &Sight<'_>) -> Onward {
        let n = self.len();
        let (Some(reply), Some(before)) = (self.glimpsed.last(), n.checked_sub(2)) else {
            return Onward::Ply;
        };
        let rest = self.node(n - 1);
        let (Some(rested), Some(on)) = (rest.by(), node.by()) else {
            return Onward::Ply;
        };
        let lifted_at = sight.lifted_at(rested.to());
        let late = if lifted_at == sight.at { SCAN_MS } else { 0 };
        let lifted_first = lifted_at < reply.at().after(late);
        // What is put down a scan after the press was moved after it.
        let mover = self.mover(n - 2);
        let pressed = sight
            .press
            .is_some_and(|(by, at)| by == mover && at >= rest.at() && sight.at.since(at) > SCAN_MS);
        if on.from() != Some(rested.to()) || !lifted_first || pressed {
            return Onward::Ply;
        }
        let start = self.node(before);
        let whole = || {
            let whole = start.same_move(rested.from()?, on.to(), on)?;
            let after = start.after(whole)?;
            let answer = reply.by()?;
            let answer = after.same_move(answer.from()?, answer.to(), answer)?;
            after.after(answer).filter(|after| {
                after.stands(sight.placement)
                    || after.is_under_reply(sight.placement, Missing::Nobody)
            })?;
            let first = before.min(self.shared);
            let kept = self.glimpsed.iter().take(before - first).filter_map(Node::by);
            Some((first, kept.chain([whole, answer]).collect()))
        };
        match whole() {
            Some((first, line)) => Onward::Rested(first, line),
            // It may be taking the man that seems to have replied, which was pushed aside.
            None if lifted_at < reply.at() => Onward::Unclear,
            None => Onward::Ply,
        }
    }

    /// Whether a line that replaces the made plies from `shared` on only tells of a victim that was
    /// pushed aside: the man that moved last to a free square next to its own, and an enemy man
    /// where it stood.
    pub fn tells_of_a_victim(&self, shared: usize, line: &[Move]) -> bool {
        let last = self.made.get(shared + 1).and_then(Node::by);
        let (Some(last), [other, taker]) = (last, line) else {
            return false;
        };
        !other.is_capture() && taker.to() == last.to() && last.to().distance(other.to()) == 1
    }

    /// Where `placement` is now.
    pub fn standing(&self, placement: &Placement) -> Standing {
        if self.glimpsed.is_empty() {
            let on = (0..self.made.len()).rev().find(|&i| self.made[i].stands(placement));
            return on.map_or(Standing::Off, Standing::On);
        }
        let on = (0..=self.len()).rev().find(|&n| self.node(n).stands(placement));
        on.map_or(Standing::Off, Standing::On)
    }

    /// Replaces what was glimpsed by `line`, played from the end of the first `shared` made plies.
    /// Does nothing if a move of it is illegal there.
    pub fn read_in(&mut self, shared: usize, line: &[Move], at: Timestamp) {
        let shared = shared.min(self.made());
        let mut node = self.made[shared].clone();
        let mut glimpsed = Vec::with_capacity(line.len());
        for &m in line {
            let Some(after) = node.after(m) else {
                return;
            };
            node = after.clone();
            glimpsed.push(after.seen(at));
        }
        self.shared = shared;
        self.glimpsed = glimpsed;
    }

    /// Makes sure that the line has `n` plies, as far as so many are made or glimpsed: where the
    /// board stands on a made ply that the line had given up, the line is the made plies again.
    /// Returns how many plies of the line may be taken.
    pub fn reach(&mut self, n: usize) -> usize {
        if n > self.len() && n <= self.made() {
            self.shared = self.made();
            self.glimpsed.clear();
        }
        n.min(self.len())
    }

    /// Makes the first `n` plies of the line: they are the made plies now, and what was glimpsed
    /// beyond them stays glimpsed.
    pub fn make(&mut self, n: usize) {
        let n = n.min(self.len());
        if n < self.shared {
            self.shorten(n);
            return;
        }
        let rest = self.glimpsed.split_off(n - self.shared);
        self.made.truncate(self.shared + 1);
        self.made.extend(std::mem::take(&mut self.glimpsed));
        self.shared = self.made();
        self.glimpsed = rest;
    }

    /// Forgets all made plies after the first `n` and everything that was glimpsed.
    pub fn shorten(&mut self, n: usize) {
        self.made.truncate(n + 1);
        self.shared = self.made();
        self.glimpsed.clear();
    }

    /// Forgets the first `n` made plies as plies that may change; their last position is the new
    /// floor.
    pub fn close(&mut self, n: usize) {
        let n = n.min(self.made()).min(self.shared);
        self.made.drain(..n);
        self.base += n;
        self.shared -= n;
    }
}

/// A hand that has lifted a man needs this long to reach another one with it.
const REACH_MS: u64 = 60;

/// A whole scan of the board's fields.
const SCAN_MS: u64 = 250;

/// How many plies can be glimpsed ahead of the made ones. Both players may have moved before either
/// placement settled; a third unsettled ply has not been seen on any recording.
const MAX_GLIMPSED: usize = 4;
