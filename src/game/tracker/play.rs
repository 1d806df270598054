//! The mainline: what settled on the board, what was taken back, what the kings withdraw.

use shakmaty::{Color, Move, Position};

use super::{
    super::{
        alert::{self, Code},
        ending,
        event::{Cause, Event},
        evidence::Press,
        explain,
        ply::Ply,
        window::{Standing, Window},
    },
    Tracker,
    doubt::Orders,
};

impl Tracker {
    /// The placement has stood for the settle time.
    pub(super) fn settled(&mut self) {
        if !self.is_following() || (self.plays_on() && self.clock_ran) {
            return;
        }
        if self.window.standing(&self.placement) == Standing::Off && !self.undone() {
            self.search();
        }
        let Standing::On(n) = self.window.standing(&self.placement) else {
            if !self.reread() {
                if self.made_on() {
                    return;
                }
                self.moved_on();
                self.gap_stays(false);
            }
            return;
        };
        self.clear(Code::GapUnresolved);
        self.inexact = 0;
        self.review();
        let late = self.pending.take_if(|press| {
            n > self.window.made() && (0..n).rev().take(2).any(|i| self.window.mover(i) == press.by)
        });
        self.analysing |= self.stopped_at.is_some() && n < self.window.made();
        let cause = match late {
            _ if self.gap && n > self.window.made() => Cause::Gap,
            Some(_) => Cause::Correction,
            None if n < self.window.made() => Cause::TakenBack,
            None => Cause::Settled,
        };
        self.gap = false;
        self.missed = 0;
        self.read(n, cause, late);
    }

    /// Whether the board stands still as it did before the last completed ply, or the last two, while
    /// the clock runs: then the players have agreed to take it back, and it is withdrawn. With the
    /// clock stopped, or none, they may only be looking at it.
    fn undone(&mut self) -> bool {
        let runs = self.state.clock().is_some_and(|clock| clock.running.is_some());
        if self.gap || !runs || self.armed.is_some() || !self.state.phase().is_playing() {
            return false;
        }
        let plies = self.state.plies().len();
        let undone = (1..=MAX_UNDONE.min(plies)).map(|back| plies - back).find_map(|n| {
            let position = self.state.position(n)?;
            let stands = position.board() == self.placement.board();
            stands.then(|| (n, position.clone()))
        });
        let Some((n, position)) = undone else {
            return false;
        };
        self.withdraw_to(n, Cause::TakenBack);
        self.window = Window::new(position, n);
        self.pending = None;
        self.doubt();
        true
    }

    /// The board is back and was read: if one line only explains what stands, it was played. Waiting
    /// for the board to stand still would lose it to players who go on at once.
    pub(super) fn returned(&mut self) {
        if !self.is_following() {
            return;
        }
        if self.window.standing(&self.placement) != Standing::Off {
            self.back_as_before();
            return;
        }
        self.gap = false;
        let found = self.find_missed(self.settings.gap_plies, None);
        self.gap = found != Found::Line;
        match found {
            Found::Line => {
                let had = self.state.plies().len();
                self.read(self.window.len(), Cause::Gap, None);
                self.resynchronised(self.state.plies().len().saturating_sub(had));
            }
            Found::Several => {} // If it stands still, the position is certain.
            Found::Nothing => self.gap_stays(true),
        }
    }

    /// Takes in what was played so fast that nothing settled: a ply on top of which two more were
    /// seen has stood.
    pub(super) fn answered(&mut self) {
        if self.plays_on() && self.clock_ran {
            return;
        }
        let n = self.window.len();
        if n > self.window.shared() + 2 && self.window.standing(&self.placement) == Standing::On(n)
        {
            self.read(n - 2, Cause::Answered, None);
        }
    }

    /// Looks for plies that were never seen one by one. Without a reason to believe that reports are
    /// missing only a pair of plies that is the only one will do.
    fn search(&mut self) {
        if self.window.is_in_hand(&self.placement) {
            return;
        }
        if !self.gap && self.missed < LOST_THE_THREAD {
            self.missed_line(2, None);
        } else {
            self.missed_line(self.settings.gap_plies, None);
        }
    }

    /// Whether [`find_missed`](Self::find_missed) read a line into the window.
    pub(super) fn missed_line(&mut self, plies: usize, by: Option<Color>) -> bool {
        self.find_missed(plies, by) == Found::Line
    }

    /// Reads into the window the shortest line of at most `plies` plies that leads to what stands,
    /// if there is one that is the only one or, after a gap, the first of several. It may begin after
    /// any made ply, the latest first. The side that pressed for it must have played last.
    fn find_missed(&mut self, plies: usize, by: Option<Color>) -> Found {
        let mut found = Found::Nothing;
        if ending::signalled(&self.placement).is_some() {
            return found;
        }
        for made in (0..=self.window.made()).rev() {
            let Some(position) = self.window.made_position(made) else {
                continue;
            };
            let enough = if self.gap { alert::MAX_ORDERS } else { 2 };
            let lines = explain::shortest_lines(position, &self.placement, plies, enough);
            let line = match lines.as_slice() {
                [line] => line,
                [line, ..] if self.gap => line,
                [] => continue,
                _ => {
                    found = Found::Several;
                    continue;
                }
            };
            let turn = position.turn();
            let last = if line.len() % 2 == 1 { turn } else { !turn };
            let doubtful = || captures_the_mover(line) || self.window.tells_of_a_victim(made, line);
            if by.is_some_and(|by| by != last) || (by.is_none() && !self.gap && doubtful()) {
                continue;
            }
            self.window.read_in(made, line, self.now);
            let from = self.window.base() + made;
            self.orders = (lines.len() > 1).then_some(Orders { from, lines });
            return Found::Line;
        }
        found
    }

    /// Takes the first `n` plies of the window's line into the mainline; `press` completes the last
    /// ply of its side among them.
    pub(super) fn read(&mut self, n: usize, cause: Cause, press: Option<Press>) {
        let n = self.window.reach(n);
        if press.is_none() && self.only_analyses(n) {
            return;
        }
        if self.armed.is_some() {
            if n == 0 {
                return;
            }
            self.begin(self.state.clock().is_none_or(|clock| clock.running.is_some()));
        }
        let shared = self.window.shared().min(n);
        // One more ply of each side: what is played now may complete it.
        let earlier = self.window.base().min(2);
        let base = self.window.base() - earlier;
        let mut suffix: Vec<Ply> =
            self.state.plies().iter().skip(base).take(earlier + shared).cloned().collect();
        let glimpsed = self.window.glimpsed().take(n - shared);
        suffix.extend(glimpsed.map(|(m, at)| Ply::made(m, at)));
        if cause == Cause::Gap && n > shared + 1 {
            self.press_unseen(&mut suffix, self.window.mover(n - 1));
        }
        if let Some(press) = press
            && let Some(i) = (0..n).rev().find(|&i| self.window.mover(i) == press.by)
        {
            suffix[earlier + i].press(press);
        }
        // A mover who has made his next move has completed the one before (6.2.1).
        for ply in suffix.iter_mut().rev().skip(2) {
            ply.completed = true;
        }
        self.window.make(n);
        let end = if self.window.has_moves(n) {
            ending::dead(self.window.position(n))
        } else {
            ending::on_board(self.window.position(n))
        };
        self.replace_from(base, suffix, cause);
        let open = self.state.plies().iter().rev().take_while(|ply| !ply.completed).count();
        self.window.close(self.window.made().saturating_sub(open));
        if press.is_some() && self.stopped_at.is_some() {
            self.stopped_at = Some(self.state.plies().len());
        }
        if let Some((result, reason)) = end
            && n > 0
            && self.state.phase().is_playing()
        {
            self.end(result, reason);
        }
    }

    /// The board stands still, explained by nothing, while the clock stands too: an analysis has
    /// moved on from the one move that was shown for it.
    fn moved_on(&mut self) {
        let made = self.window.base() + self.window.made();
        if let Some(stopped_at) = self.stopped_at.filter(|&at| at < made && self.armed.is_none())
            && ending::signalled(&self.placement).is_none()
        {
            self.analysing = true;
            self.withdraw_to(stopped_at, Cause::Analysis);
            self.window.shorten(stopped_at.saturating_sub(self.window.base()));
        }
    }

    /// Whether taking in `n` plies of the window's line would follow an analysis and not the game:
    /// one move may come on the board after the clock was stopped, two that nobody pressed are no
    /// game any more. Then the first one is withdrawn too.
    fn only_analyses(&mut self, n: usize) -> bool {
        let Some(stopped_at) = self.stopped_at.filter(|_| self.armed.is_none()) else {
            return false;
        };
        let reached = self.window.base() + n;
        if reached > stopped_at + 1 && !self.analysing {
            self.analysing = true;
            let floor = stopped_at.saturating_sub(self.window.base());
            self.withdraw_to(stopped_at, Cause::Analysis);
            self.window.shorten(floor);
        }
        self.analysing && reached > stopped_at
    }

    /// Withdraws all plies from index `from` on.
    pub(super) fn withdraw_to(&mut self, from: usize, cause: Cause) {
        if from < self.state.plies().len() {
            self.emit(Event::Plies { from, plies: Vec::new(), cause });
            self.weigh_orders(from);
        }
    }

    /// Makes `plies` the mainline from index `base` on, saying only what really changes.
    pub(super) fn replace_from(&mut self, base: usize, mut plies: Vec<Ply>, cause: Cause) {
        let old = &self.state.plies()[base.min(self.state.plies().len())..];
        let same = old.iter().zip(&plies).take_while(|(old, new)| old == new).count();
        if same == old.len() && same == plies.len() {
            return;
        }
        let plies = plies.split_off(same);
        let other = old.get(same).map(|ply| &ply.step) != plies.first().map(|ply| &ply.step);
        let replaced = same < old.len() && other && cause != Cause::Reread;
        self.note_step(base + same, &plies);
        if replaced || cause == Cause::Answered {
            self.doubt();
        }
        self.emit(Event::Plies { from: base + same, plies, cause });
        self.weigh_orders(base + same);
    }

    /// Keeps a made move of a king that a step of the same king to the centre replaces: if the step
    /// turns out to be a signal, the move stands again.
    fn note_step(&mut self, from: usize, plies: &[Ply]) {
        let old = self.state.plies().get(from).filter(|ply| !ply.completed);
        if let (Some(old), Some(new)) = (old, plies.first())
            && let (Some(m), Some(step)) = (old.legal(), new.legal())
            && ending::is_king_step_to_centre(&step)
            && m.from() == step.from()
        {
            self.before_step = Some((from, old.clone()));
        }
    }

    /// Whether a king's last step was made to signal: it is not completed, the king has not been
    /// touched since, and, where no clock could tell, the other king followed at once.
    fn is_half_a_signal(&self, ply: &Ply) -> bool {
        let lifted = |square| self.emptied_at[usize::from(square)];
        let other = self.moved_at.0.max(self.moved_at.1);
        let at_once = other.since(ply.made_at) <= SIGNAL_GAP_MS;
        let to_centre = |m| ending::is_king_step_to_centre(&m) && lifted(m.to()) <= ply.made_at;
        !ply.completed && ply.legal().is_some_and(to_centre) && (self.clock_ran || at_once)
    }

    /// The kings have stood on centre squares for the time that makes it a signal.
    pub(super) fn signal_stood(&mut self) {
        let Some(result) = ending::signalled(&self.placement) else {
            return;
        };
        if !self.state.phase().is_playing() {
            return;
        }
        let steps = self.state.plies().iter().rev();
        let steps = steps.take_while(|ply| self.is_half_a_signal(ply)).count();
        let from = self.state.plies().len() - steps;
        match self.before_step.take().filter(|(n, _)| steps > 0 && *n == from) {
            Some((_, ply)) => {
                self.emit(Event::Plies { from, plies: vec![ply], cause: Cause::Signalled });
            }
            None => self.withdraw_to(from, Cause::Signalled),
        }
        self.end(result, ending::EndReason::Signalled);
    }
}

/// What a search for plies that nobody saw has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A line, which is in the window now.
    Line,
    /// Several, and no reason to choose one.
    Several,
    /// Nothing.
    Nothing,
}

/// Whether the second ply takes the man that the first one moved: then what looks like two moves
/// may be one capture with the victim pushed aside.
fn captures_the_mover(line: &[Move]) -> bool {
    matches!(line, [first, second] if second.is_capture() && second.to() == first.to())
}

/// So many presses in a row without a move mean that moves were missed. One alone may be an illegal
/// move or a bounce of the lever.
pub(super) const LOST_THE_THREAD: usize = 2;

/// How many completed plies players take back.
const MAX_UNDONE: usize = 2;

/// Without a clock: how long after a king's step the other king must have reached the centre if
/// both are to be one signal. A real move is thought about longer.
const SIGNAL_GAP_MS: u64 = 2_500;
