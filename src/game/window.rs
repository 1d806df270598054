//! The part of a game that may still change: made plies that are not completed, and what was
//! glimpsed on the board beyond them.

use shakmaty::{Chess, Color, Move, Position};

use super::{
    placement::{Key, Placement},
    time::Timestamp,
};

/// A position of the game with the keys of all positions one move later, computed when asked for.
#[derive(Clone, Debug)]
pub struct Node {
    position: Chess,
    key: Key,
    children: Option<Vec<(Key, Move)>>,
}

impl Node {
    /// The node of `position`.
    pub fn new(position: Chess) -> Self {
        let key = Key::of(position.board());
        Self { position, key, children: None }
    }

    /// The position.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Whether exactly this stands on the board.
    pub fn stands(&self, placement: &Placement) -> bool {
        self.key == placement.key() && self.position.board() == placement.board()
    }

    /// The legal move after which exactly `placement` stands. There is at most one: two moves of
    /// one side never lead to the same placement.
    fn child(&mut self, placement: &Placement) -> Option<(Move, Self)> {
        let wanted = placement.key();
        let m = self.children().iter().find(|(key, _)| *key == wanted).map(|(_, m)| *m)?;
        let after = self.after(m)?;
        (after.position.board() == placement.board()).then_some((m, after))
    }

    /// The legal move after which the mover's men stand as they do in `placement`, while the
    /// opponent's hand is already busy with his reply.
    fn child_under_reply(&mut self, placement: &Placement) -> Option<(Move, Self)> {
        let mover = self.position.turn();
        let wanted = placement.key().of_side(mover);
        let mut found =
            self.children().iter().filter(|(key, _)| key.of_side(mover) == wanted).map(|(_, m)| *m);
        let m = found.next()?;
        let after = self.after(m)?;
        after.is_under_reply(placement, false).then_some((m, after))
    }

    /// Whether `placement` is this position with the side to move busy: its own men lifted or put
    /// down elsewhere, nothing else changed but one enemy man taken off if `taking`.
    fn is_under_reply(&self, placement: &Placement, taking: bool) -> bool {
        let replier = self.position.turn();
        let squares = placement.difference(self.position.board());
        let (mut lifted, mut put_down, mut taken) = (0, 0, 0);
        for square in squares {
            match self.position.board().piece_at(square) {
                Some(piece) if piece.color == replier => lifted += 1,
                Some(_) => taken += 1,
                None => {}
            }
            match placement.piece_at(square) {
                Some(piece) if piece.color == replier => put_down += 1,
                Some(_) => return false,
                None => {}
            }
        }
        put_down <= lifted && taken <= usize::from(taking) && squares.count() <= MAX_SQUARES_IN_HAND
    }

    fn children(&mut self) -> &[(Key, Move)] {
        let Self { position, key, children } = self;
        children.get_or_insert_with(|| {
            let turn = position.turn();
            position.legal_moves().iter().map(|m| (key.after(turn, m), *m)).collect()
        })
    }

    fn after(&self, m: Move) -> Option<Self> {
        self.position.clone().play(m).ok().map(Self::new)
    }
}

/// One ply that was seen on the board.
#[derive(Clone, Debug)]
pub struct Glimpsed {
    /// The move.
    pub m: Move,
    /// When its placement first stood there complete.
    pub at: Timestamp,
    node: Node,
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
    glimpsed: Vec<Glimpsed>,
}

impl Window {
    /// A window with nothing made in it, over `position`, which stands before ply `base`.
    pub fn new(position: Chess, base: usize) -> Self {
        Self { base, made: vec![Node::new(position)], shared: 0, glimpsed: Vec::new() }
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

    /// What was glimpsed beyond them.
    pub fn glimpsed(&self) -> &[Glimpsed] {
        &self.glimpsed
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

    /// Whether the first `n` plies of the line stand and the next mover's hand is on the board; it
    /// may have taken an enemy man off if `taking`.
    pub fn is_under_reply(&self, n: usize, placement: &Placement, taking: bool) -> bool {
        self.node(n).is_under_reply(placement, taking)
    }

    /// The position after `n` made plies, whatever was glimpsed since.
    pub fn made_position(&self, n: usize) -> Option<&Chess> {
        self.made.get(n).map(Node::position)
    }

    fn node(&self, n: usize) -> &Node {
        match n.checked_sub(self.shared + 1).and_then(|i| self.glimpsed.get(i)) {
            Some(glimpsed) => &glimpsed.node,
            None => &self.made[n.min(self.shared)],
        }
    }

    /// Who played ply `n` of the line (0 is the first).
    pub fn mover(&self, n: usize) -> Color {
        let first = self.made[0].position.turn();
        if n.is_multiple_of(2) { first } else { !first }
    }

    /// Takes notice of what stands on the board now. The latest place on the line where it fits
    /// wins; if it fits nowhere the line stays, for hands may be in motion.
    pub fn see(&mut self, placement: &Placement, at: Timestamp) {
        for i in (0..self.glimpsed.len()).rev() {
            if self.glimpsed[i].node.stands(placement) {
                self.glimpsed.truncate(i + 1);
                return;
            }
            if i + 1 < MAX_GLIMPSED
                && let Some((m, node)) = self.glimpsed[i].node.child(placement)
            {
                self.glimpsed.truncate(i + 1);
                self.glimpsed.push(Glimpsed { m, at, node });
                return;
            }
        }
        for i in (0..self.made.len()).rev() {
            let standing = self.made[i].stands(placement);
            let child = if standing { None } else { self.made[i].child(placement) };
            if standing || child.is_some() {
                self.shared = i;
                self.glimpsed.clear();
                self.glimpsed.extend(child.map(|(m, node)| Glimpsed { m, at, node }));
                return;
            }
        }
        self.see_under_reply(placement, at);
    }

    /// Both hands are over the board: one side has finished its move, the other one is at work.
    fn see_under_reply(&mut self, placement: &Placement, at: Timestamp) {
        for i in (0..self.glimpsed.len()).rev() {
            if i + 1 < MAX_GLIMPSED
                && let Some((m, node)) = self.glimpsed[i].node.child_under_reply(placement)
            {
                self.glimpsed.truncate(i + 1);
                self.glimpsed.push(Glimpsed { m, at, node });
                return;
            }
            if self.glimpsed[i].node.is_under_reply(placement, true) {
                self.glimpsed.truncate(i + 1);
                return;
            }
        }
        // The further back, the more of what was made is given up: the latest fit wins.
        for i in (0..self.made.len()).rev() {
            if let Some((m, node)) = self.made[i].child_under_reply(placement) {
                self.shared = i;
                self.glimpsed.clear();
                self.glimpsed.push(Glimpsed { m, at, node });
                return;
            }
            if self.made[i].is_under_reply(placement, true) {
                return;
            }
        }
    }

    /// Where `placement` is now.
    pub fn standing(&self, placement: &Placement) -> Standing {
        let deepest = self.len().max(self.made());
        if self.glimpsed.is_empty() {
            let on = (0..self.made.len()).rev().find(|&i| self.made[i].stands(placement));
            return on.map_or(Standing::Off, Standing::On);
        }
        let on = (0..=deepest.min(self.len())).rev().find(|&n| self.node(n).stands(placement));
        on.map_or(Standing::Off, Standing::On)
    }

    /// Replaces what was glimpsed by `line`, played from the end of the first `shared` made plies.
    /// Does nothing if a move of it is illegal there.
    pub fn read_in(&mut self, shared: usize, line: &[Move], at: Timestamp) {
        let shared = shared.min(self.made());
        let mut position = self.made[shared].position.clone();
        let mut glimpsed = Vec::with_capacity(line.len());
        for &m in line {
            let Ok(after) = position.play(m) else {
                return;
            };
            position = after.clone();
            glimpsed.push(Glimpsed { m, at, node: Node::new(after) });
        }
        self.shared = shared;
        self.glimpsed = glimpsed;
    }

    /// Makes the first `n` plies of the line: they are the made plies now, and what was glimpsed
    /// beyond them stays glimpsed.
    pub fn make(&mut self, n: usize) {
        let n = n.min(self.len());
        let rest = self.glimpsed.split_off(n.saturating_sub(self.shared).min(self.glimpsed.len()));
        self.made.truncate(n.min(self.shared) + 1);
        self.made.extend(std::mem::take(&mut self.glimpsed).into_iter().map(|seen| seen.node));
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

/// Castling empties two squares, and the king may pass a third.
const MAX_SQUARES_IN_HAND: usize = 3;

/// How many plies can be glimpsed ahead of the made ones. Both players may have moved before either
/// placement settled; a third unsettled ply has not been seen on any recording.
const MAX_GLIMPSED: usize = 4;

#[cfg(test)]
mod tests {
    use shakmaty::{Piece, Role, Square, san::San};

    use super::*;

    fn window() -> (Window, Placement) {
        let window = Window::new(Chess::new(), 0);
        let placement = Placement::new(window.position(0).board().clone());
        (window, placement)
    }

    fn carry(placement: &mut Placement, from: Square, to: Square) {
        let piece = placement.set(from, None);
        placement.set(to, piece);
    }

    fn line(window: &Window) -> String {
        let mut position = window.position(window.shared()).clone();
        let mut sans = Vec::new();
        for seen in window.glimpsed() {
            sans.push(San::from_move(&position, seen.m).to_string());
            position = position.play(seen.m).unwrap();
        }
        sans.join(" ")
    }

    #[test]
    fn a_slide_shows_the_square_where_it_ends() {
        let (mut window, mut placement) = window();
        carry(&mut placement, Square::E2, Square::E3);
        window.see(&placement, Timestamp::ZERO);
        assert_eq!(line(&window), "e3");
        placement.set(Square::E3, None);
        window.see(&placement, Timestamp::ZERO);
        assert_eq!((line(&window).as_str(), window.standing(&placement)), ("e3", Standing::Off));
        placement.set(Square::E4, Some(Piece { color: Color::White, role: Role::Pawn }));
        window.see(&placement, Timestamp::ZERO);
        assert_eq!((line(&window).as_str(), window.standing(&placement)), ("e4", Standing::On(1)));
    }

    #[test]
    fn a_reply_before_anything_settled_is_glimpsed_behind_the_move() {
        let (mut window, mut placement) = window();
        for (from, to) in [(Square::E2, Square::E4), (Square::E7, Square::E5)] {
            carry(&mut placement, from, to);
            window.see(&placement, Timestamp::ZERO);
        }
        assert_eq!(line(&window), "e4 e5");
        window.make(1);
        assert_eq!((window.made(), line(&window).as_str()), (1, "e5"));
        window.make(2);
        window.close(1);
        assert_eq!((window.base(), window.made(), window.mover(0)), (1, 1, Color::Black));
        assert_eq!(window.standing(&placement), Standing::On(1));
    }

    #[test]
    fn a_made_move_put_back_stands_before_it() {
        let (mut window, mut placement) = window();
        let start = placement.clone();
        carry(&mut placement, Square::E2, Square::E4);
        window.see(&placement, Timestamp::ZERO);
        window.make(1);
        window.see(&start, Timestamp::ZERO);
        assert_eq!(window.standing(&start), Standing::On(0));
        assert_eq!(window.shared(), 0);
        carry(&mut placement, Square::E4, Square::E3);
        window.see(&placement, Timestamp::ZERO);
        assert_eq!((window.shared(), line(&window).as_str()), (0, "e3"));
        window.make(1);
        assert_eq!(window.standing(&placement), Standing::On(1));
    }
}
