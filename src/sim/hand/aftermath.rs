//! What happens around a game: men set up, kings put into the centre, moves tried afterwards.

use std::time::Duration;

use shakmaty::{Bitboard, Board, Chess, Color, KnownOutcome, Position, Square};

use super::{
    habit::Habit,
    motion::Hand,
    plan::Plan,
    script::{Action, SignalTruth},
};
use crate::sim::{
    random::{Random, Span},
    score::Score,
};

/// Ends a game whose moves are made: flag, clock, result, analysis.
pub(super) fn end_game(plan: &mut Plan<'_>, score: &Score) {
    let outcome = score.outcome().known();
    plan.pause(Span::ms(1500, 6000));
    if score.lost_on_time() {
        wait_for_the_flag(plan);
    }
    let end = score.end();
    let mut seen_to_end = end.is_game_over();
    if plan.clock.is_some() {
        if plan.habit(Habit::ClockLeftRunning) {
            plan.note(Habit::ClockLeftRunning, plan.now, plan.now);
        } else {
            seen_to_end = true;
            plan.act(Action::StopClock);
            plan.pause(Span::ms(1000, 4000));
        }
    }
    if let Some(outcome) = outcome
        && plan.habit(Habit::Signalled)
    {
        seen_to_end = true;
        signal(plan, outcome);
        plan.pause(SIGNAL_HELD);
    }
    plan.truth.over = plan.now;
    // Moves tried after an end that nothing shows are moves of the game to everybody who was not there.
    if plan.habit(Habit::Analysed) && seen_to_end {
        let since = plan.now;
        analyse(plan, end);
        plan.note(Habit::Analysed, since, plan.now);
    }
    plan.pause(Span::ms(2000, 8000));
}

/// Puts the men where `target` has them, one by one, with men from the board or from the box beside it.
pub(super) fn set_up(plan: &mut Plan<'_>, target: &Board) {
    if plan.men == *target {
        return;
    }
    plan.pause(Span::ms(5000, 20_000));
    plan.with_hand(|hand| {
        let mut squares: Vec<Square> = Square::ALL.into_iter().collect();
        hand.random().shuffle(&mut squares);
        for sq in squares {
            let wanted = target.piece_at(sq);
            if hand.men().piece_at(sq) == wanted {
                continue;
            }
            if hand.lift(sq).is_some() {
                hand.wait(SETTING_UP);
            }
            let Some(piece) = wanted else { continue };
            let spare = Square::ALL.into_iter().find(|&other| {
                hand.men().piece_at(other) == Some(piece) && target.piece_at(other) != Some(piece)
            });
            if let Some(spare) = spare {
                hand.lift(spare);
                hand.wait(SETTING_UP);
            }
            hand.place(sq, piece);
            hand.wait(SETTING_UP);
        }
    });
}

/// Lets the time of the side to move run out, if that does not take too long.
fn wait_for_the_flag(plan: &mut Plan<'_>) {
    let Some(clock) = &plan.clock else { return };
    let remaining = clock.remaining(clock.to_move(), plan.now);
    if clock.is_running(plan.now) && remaining <= LONGEST_WAIT_FOR_FLAG {
        plan.now += remaining;
        plan.pause(Span::ms(1500, 5000));
    }
}

fn signal(plan: &mut Plan<'_>, outcome: KnownOutcome) {
    let since = plan.now;
    let (white, black) = centre_squares(outcome, &mut plan.random);
    let one_by_one = plan.habit(Habit::SignalOneByOne);
    let wrong = plan.habit(Habit::SignalCorrected).then(|| mistake(white, black, outcome));
    plan.with_hand(|hand| {
        let black_first = wrong.flatten().unwrap_or(black);
        clear_for(hand, white, black_first);
        if one_by_one {
            walk_kings(hand, white, black_first);
        } else {
            lift_both_kings(hand, white, black_first);
        }
    });
    plan.note(Habit::Signalled, since, plan.now);
    if one_by_one {
        plan.note(Habit::SignalOneByOne, since, plan.now);
    }
    if let Some(strayed) = wrong.flatten() {
        let since = plan.now;
        plan.pause(Span::ms(3000, 8000));
        plan.with_hand(|hand| {
            clear_for(hand, white, black);
            hand.travel(strayed, black);
        });
        plan.note(Habit::SignalCorrected, since, plan.now);
    }
    plan.truth.signal =
        Some(SignalTruth { at: plan.now, outcome, white_king: white, black_king: black });
}

/// Where the kings go: both on light squares for White, both on dark ones for Black, one on each for a
/// draw.
fn centre_squares(outcome: KnownOutcome, random: &mut Random) -> (Square, Square) {
    let pairs: Vec<(Square, Square)> = CENTRE
        .into_iter()
        .flat_map(|white| CENTRE.map(|black| (white, black)))
        .filter(|&(white, black)| white != black && meaning(white, black) == outcome)
        .collect();
    // Most people keep the kings on their own side of the middle.
    let usual: Vec<_> =
        pairs.iter().copied().filter(|(white, black)| white.rank() < black.rank()).collect();
    let choice = if random.chance(700) { random.pick(&usual) } else { random.pick(&pairs) };
    choice.copied().unwrap_or((Square::E4, Square::D5))
}

fn meaning(white: Square, black: Square) -> KnownOutcome {
    match (white.is_light(), black.is_light()) {
        (true, true) => KnownOutcome::Decisive { winner: Color::White },
        (false, false) => KnownOutcome::Decisive { winner: Color::Black },
        _ => KnownOutcome::Draw,
    }
}

/// Another square for the black king, which says something else.
fn mistake(white: Square, black: Square, outcome: KnownOutcome) -> Option<Square> {
    CENTRE.into_iter().find(|&sq| sq != white && sq != black && meaning(white, sq) != outcome)
}

/// Takes the men off that stand where the kings shall go.
fn clear_for(hand: &mut Hand<'_>, white: Square, black: Square) {
    for sq in [white, black] {
        if !hand.men().kings().contains(sq) && hand.lift(sq).is_some() {
            hand.wait(CLEARING);
        }
    }
}

fn lift_both_kings(hand: &mut Hand<'_>, white: Square, black: Square) {
    let mut kings = [(Color::White, white), (Color::Black, black)];
    hand.random().shuffle(&mut kings);
    for (color, to) in kings {
        if let Some(home) = hand.men().king_of(color).filter(|&home| home != to) {
            hand.lift(home);
            hand.wait(CLEARING);
        }
    }
    for (color, to) in kings {
        if hand.men().king_of(color).is_none() {
            hand.place(to, color.king());
            hand.wait(CLEARING);
        }
    }
}

fn walk_kings(hand: &mut Hand<'_>, white: Square, black: Square) {
    let mut kings = [(Color::White, white), (Color::Black, black)];
    hand.random().shuffle(&mut kings);
    // A king on the other one's square must go first; if both are, only lifting both helps.
    if hand.men().piece_at(kings[0].1) == Some(kings[1].0.king()) {
        kings.swap(0, 1);
    }
    for (color, to) in kings {
        if hand.men().piece_at(to).is_some_and(|piece| piece != color.king()) {
            return lift_both_kings(hand, white, black);
        }
        if let Some(home) = hand.men().king_of(color).filter(|&home| home != to) {
            hand.travel(home, to);
            hand.wait(CLEARING);
        }
    }
}

/// Puts the final position back and tries some moves, some of which are taken back.
fn analyse(plan: &mut Plan<'_>, end: Chess) {
    let end_men = end.board().clone();
    set_up(plan, &end_men);
    let mut pos = end;
    for _ in 0..2 + plan.random.below(8) {
        let moves = pos.legal_moves();
        let Some(&m) = plan.random.pick(&moves) else { break };
        plan.pause(Span::ms(600, 6000));
        plan.with_hand(|hand| hand.make(&pos, m));
        let Some(from) = m.from().filter(|_| plan.random.chance(300) && !m.is_castle()) else {
            pos.play_unchecked(m);
            continue;
        };
        // Taken back: the man goes home, and a victim returns to its square.
        plan.pause(Span::ms(600, 3000));
        let before = pos.board().clone();
        plan.with_hand(|hand| take_back(hand, from, m.to(), &before));
    }
}

fn take_back(hand: &mut Hand<'_>, from: Square, to: Square, before: &Board) {
    hand.lift(to);
    hand.wait(CLEARING);
    for sq in Bitboard::from(from) | (before.occupied() & !hand.men().occupied()) {
        if let Some(piece) = before.piece_at(sq) {
            hand.place(sq, piece);
            hand.wait(CLEARING);
        }
    }
}

const CENTRE: [Square; 4] = [Square::D4, Square::E4, Square::D5, Square::E5];
const CLEARING: Span = Span::ms(250, 900);
const SETTING_UP: Span = Span::ms(250, 900);
/// Players are told to leave the kings alone for five seconds.
const SIGNAL_HELD: Span = Span::ms(6000, 15_000);
const LONGEST_WAIT_FOR_FLAG: Duration = Duration::from_mins(10);
