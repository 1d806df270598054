//! Scripts of whole games.

use proptest::prelude::*;
use shakmaty::{Board, CastlingMode, Chess, Color, KnownOutcome, Outcome, Setup, Square};

use super::{
    habit::Habit,
    preset::{Name, Wire},
    script::GameTruth,
    *,
};

/// A legal game chosen by these numbers.
fn game(start: Chess, choices: &[u16]) -> Score {
    let mut pos = start.clone();
    let mut moves = Vec::new();
    for &choice in choices {
        let legal = pos.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal[usize::from(choice) % legal.len()];
        pos.play_unchecked(m);
        moves.push(m);
    }
    Score::from_moves(start, moves)
}

fn chess960(number: u32) -> Chess {
    let board = Board::chess960(number);
    let castling_rights = board.rooks();
    let setup = Setup { board, castling_rights, ..Setup::initial() };
    setup.position(CastlingMode::Chess960).unwrap()
}

/// The men after every act up to this time.
struct Replay<'a> {
    steps: std::slice::Iter<'a, Step>,
    men: Board,
}

impl Replay<'_> {
    fn until(&mut self, time: Duration) -> &Board {
        while let Some(step) = self.steps.as_slice().first().filter(|step| step.at <= time) {
            match step.action {
                Action::Lift(sq) => {
                    assert!(self.men.remove_piece_at(sq).is_some(), "nothing to lift: {step:?}");
                }
                Action::Place(sq, piece) => self.men.set_piece_at(sq, piece),
                _ => {}
            }
            self.steps.next();
        }
        &self.men
    }
}

/// Checks that the men stand right whenever the truth says so; gives the truths for more.
fn check(scores: &[Score], preset: &Preset, seed: u64) -> Script {
    let script = play(scores, preset, seed);
    assert!(script.steps.is_sorted_by_key(|step| step.at));
    assert_eq!(script.games.len(), scores.len());
    let mut replay = Replay { steps: script.steps.iter(), men: scores[0].start().board().clone() };
    for (score, truth) in scores.iter().zip(&script.games) {
        assert_eq!(replay.until(truth.ready), score.start().board());
        assert_eq!(truth.plies.len(), score.plies().len());
        check_plies(score, truth, &mut replay);
        if let Some(signal) = truth.signal {
            let men = replay.until(signal.at);
            assert_eq!(men.king_of(Color::White), Some(signal.white_king));
            assert_eq!(men.king_of(Color::Black), Some(signal.black_king));
            assert_eq!(Outcome::Known(signal.outcome), score.outcome());
        }
        assert!(truth.over <= script.end);
    }
    replay.until(script.end);
    assert!(replay.steps.next().is_none(), "acts after the end");
    script
}

fn check_plies(score: &Score, truth: &GameTruth, replay: &mut Replay<'_>) {
    let mut pos = score.start().clone();
    for (index, ply) in truth.plies.iter().enumerate() {
        pos.play_unchecked(ply.m);
        assert!(ply.touched <= ply.complete);
        // The next hand may be over the board already.
        let next = truth.plies.get(index + 1).map(|next| next.touched);
        if next.is_none_or(|next| next > ply.complete) {
            assert_eq!(replay.until(ply.complete), pos.board(), "{} {ply:?}", index + 1);
        }
        if let Some(pressed) = ply.pressed {
            assert!(pressed > ply.complete, "{ply:?}");
        }
    }
}

fn presets() -> impl Strategy<Value = Preset> {
    prop::sample::select(Name::ALL.to_vec()).prop_map(Preset::new)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_legal_game_ends_with_the_right_board(
        preset in presets(),
        seed: u64,
        first in prop::collection::vec(any::<u16>(), 0..120),
        second in prop::collection::vec(any::<u16>(), 0..60),
        number in 0_u32..960,
        white_wins: bool,
    ) {
        let winner = if white_wins { Color::White } else { Color::Black };
        let won = Outcome::Known(KnownOutcome::Decisive { winner });
        let first = game(Chess::new(), &first);
        let second = game(chess960(number), &second).with_outcome(won);
        check(&[first, second.clone(), second], &preset, seed);
    }

    #[test]
    fn clean_games_are_pressed_after_every_move_and_undisturbed(
        name in prop::sample::select(vec![Name::Clean, Name::Orders]),
        seed: u64,
        choices in prop::collection::vec(any::<u16>(), 1..80),
    ) {
        let score = game(Chess::new(), &choices);
        let script = check(&[score], &Preset::new(name), seed);
        let truth = &script.games[0];
        for (index, ply) in truth.plies.iter().enumerate() {
            let pressed = ply.pressed.expect("a press after every move");
            let next = truth.plies.get(index + 1).map_or(truth.over, |next| next.touched);
            prop_assert!(pressed < next);
            let disturbed = script.steps.iter().any(|step| {
                step.at > ply.complete && step.at < next
                    && matches!(step.action, Action::Lift(_) | Action::Place(..))
                    && index + 1 < truth.plies.len()
            });
            prop_assert!(!disturbed, "{ply:?}");
        }
    }
}

fn long_game(seed: u64) -> Score {
    let mut random = Random::new(seed);
    let choices: Vec<u16> = (0..400).map(|_| random.below(1000) as u16).collect();
    game(Chess::new(), &choices)
}

/// A clean game in which only this habit shows.
fn alone(habit: Habit) -> Script {
    let preset = Preset::new(Name::Clean).with(habit, 1000);
    let score = long_game(5).with_outcome(Outcome::Known(KnownOutcome::Draw));
    check(&[score], &preset, 9)
}

#[test]
fn the_same_seed_gives_the_same_script() {
    let scores = [long_game(1), long_game(2)];
    for name in Name::ALL {
        let preset = Preset::new(name);
        assert_eq!(play(&scores, &preset, 3), play(&scores, &preset, 3), "{name}");
        assert_ne!(play(&scores, &preset, 3).steps, play(&scores, &preset, 4).steps, "{name}");
    }
}

#[test]
fn nothing_to_play_is_nothing_to_do() {
    assert_eq!(play(&[], &Preset::new(Name::Hell), 1), Script::default());
    let empty = check(&[Score::new(Chess::new())], &Preset::new(Name::Clean), 1);
    assert!(empty.games[0].plies.is_empty());
}

#[test]
fn late_presses_come_late() {
    let script = alone(Habit::LatePress);
    let late = Duration::from_secs(2);
    let plies = &script.games[0].plies;
    assert!(plies.iter().all(|ply| ply.pressed.unwrap() >= ply.complete + late));
}

#[test]
fn replies_come_before_the_press() {
    let script = alone(Habit::ReplyBeforePress);
    for pair in script.games[0].plies.windows(2) {
        let pressed = pair[0].pressed.unwrap();
        assert!(pair[1].touched > pair[0].complete);
        assert!(pair[1].touched <= pressed);
        assert!(pair[1].pressed.unwrap() > pressed);
    }
}

#[test]
fn overlapping_hands_never_touch_the_same_square() {
    let script = alone(Habit::HandsOverlap);
    let plies = &script.games[0].plies;
    let overlapping = plies.windows(2).filter(|pair| pair[1].touched < pair[0].complete).count();
    assert!(overlapping * 8 > plies.len(), "{overlapping} of {}", plies.len());
    assert!(plies.windows(2).all(|pair| pair[1].complete > pair[0].complete));
}

#[test]
fn a_forgotten_press_takes_the_answer_with_it() {
    let script = alone(Habit::PressForgotten);
    let pressed: Vec<bool> =
        script.games[0].plies.iter().map(|ply| ply.pressed.is_some()).collect();
    assert!(pressed[..pressed.len() - 1].iter().all(|&pressed| !pressed));

    let mut preset = Preset::new(Name::Clean).with(Habit::PressForgotten, 300);
    preset.follows_record = false;
    let script = check(&[long_game(8)], &preset, 2);
    let plies = &script.games[0].plies;
    let mut white_up = true;
    let mut forgotten = 0;
    for (index, ply) in plies.iter().enumerate() {
        let own_up = white_up == (index % 2 == 0);
        if ply.pressed.is_some() {
            assert!(own_up, "only a lever that is up can be pressed");
            white_up = !white_up;
        } else if own_up {
            forgotten += 1;
        }
    }
    assert!(forgotten > 10);
}

#[test]
fn without_a_clock_nothing_is_pressed() {
    let script = check(&[long_game(3)], &Preset::new(Name::Noclock), 1);
    assert!(script.games[0].plies.iter().all(|ply| ply.pressed.is_none()));
    assert!(
        script
            .steps
            .iter()
            .all(|step| { matches!(step.action, Action::Lift(_) | Action::Place(..)) })
    );
}

#[test]
fn kings_show_the_result_in_the_centre() {
    for (outcome, light) in [
        (KnownOutcome::Decisive { winner: Color::White }, 2),
        (KnownOutcome::Draw, 1),
        (KnownOutcome::Decisive { winner: Color::Black }, 0),
    ] {
        for seed in 0..20 {
            for habit in [Habit::Signalled, Habit::SignalOneByOne, Habit::SignalCorrected] {
                let preset = Preset::new(Name::Clean).with(habit, 1000);
                let score = long_game(seed).with_outcome(Outcome::Known(outcome));
                let script = check(&[score], &preset, seed);
                let signal = script.games[0].signal.expect("a signal");
                let kings = [signal.white_king, signal.black_king];
                let centre = [Square::D4, Square::E4, Square::D5, Square::E5];
                assert!(kings.iter().all(|sq| centre.contains(sq)));
                assert_ne!(kings[0], kings[1]);
                assert_eq!(kings.iter().filter(|sq| sq.is_light()).count(), light);
                let last_act = script.steps.iter().rfind(|step| step.at <= script.games[0].over);
                assert_eq!(last_act.unwrap().at, signal.at);
            }
        }
    }
}

#[test]
fn an_unknown_result_is_not_signalled() {
    let score = long_game(1).with_outcome(Outcome::Unknown);
    assert_eq!(check(&[score], &Preset::new(Name::Clean), 1).games[0].signal, None);
}

#[test]
fn the_clock_is_stopped_or_left_running() {
    let stopped =
        |script: &Script| script.steps.iter().any(|step| step.action == Action::StopClock);
    assert!(stopped(&check(&[long_game(1)], &Preset::new(Name::Clean), 1)));
    assert!(!stopped(&alone(Habit::ClockLeftRunning)));
}

#[test]
fn analysis_comes_after_the_game() {
    let script = alone(Habit::Analysed);
    let after = script.steps.iter().filter(|step| step.at > script.games[0].over).count();
    assert!(after >= 4, "{after}");
}

#[test]
fn nobody_loses_on_time_by_the_way() {
    for name in [Name::Scramble, Name::Blitz, Name::Hell] {
        let script = check(&[long_game(4)], &Preset::new(name), 1);
        let low = script.games[0].plies.iter().filter_map(|ply| ply.clock).min().unwrap();
        assert!(!low.is_zero(), "{name}");
    }
}

#[test]
fn thinks_as_long_as_the_record_says() {
    let text = "[TimeControl \"600+5\"]\n\n1. e4 {[%clk 0:09:50]} e5 {[%clk 0:09:20]} \
                2. Nf3 {[%clk 0:09:45]} Nc6 {[%clk 0:04:00]} 3. Bb5 {[%clk 0:09:46]} *";
    let score = crate::sim::pgn::read(text.as_bytes()).remove(0).unwrap();
    let script = check(&[score], &Preset::new(Name::Clean), 1);
    let clocks: Vec<u64> =
        script.games[0].plies.iter().map(|ply| ply.clock.unwrap().as_secs()).collect();
    assert_eq!(clocks, [590, 560, 585, 240, 586]);
}

#[test]
fn a_record_too_fast_for_these_hands_gets_more_time_and_is_kept_to_all_the_same() {
    let moves = long_game(4);
    let plies = moves.plies().len() as u64;
    let mut words = vec!["[TimeControl \"60\"]\n\n".to_owned()];
    let mut pos = Chess::new();
    for (number, ply) in (1..).zip(moves.plies()) {
        let san = shakmaty::san::SanPlus::from_move_and_play_unchecked(&mut pos, ply.m);
        words.push(format!("{san} {{[%clk 0:00:{:02}]}}", 59 - 59 * number / plies));
    }
    let score = crate::sim::pgn::read(words.join(" ").as_bytes()).remove(0).unwrap();
    let script = check(&[score], &Preset::new(Name::Clean), 1);
    let clocks: Vec<Duration> =
        script.games[0].plies.iter().map(|ply| ply.clock.unwrap()).collect();
    assert!(clocks.iter().all(|clock| !clock.is_zero()));
    assert!(script.end < Duration::from_mins(40), "{:?}", script.end);
}

#[test]
fn a_flag_falls_where_the_record_says_so() {
    let text = "[TimeControl \"60\"]\n[Termination \"Time forfeit\"]\n\n\
                1. e4 {[%clk 0:00:50]} e5 {[%clk 0:00:20]} 1-0";
    let score = crate::sim::pgn::read(text.as_bytes()).remove(0).unwrap();
    let script = check(&[score], &Preset::new(Name::Clean), 1);
    let stop = script.steps.iter().find(|step| step.action == Action::StopClock).unwrap();
    let last_press = script.games[0].plies[1].pressed.unwrap();
    assert!(stop.at > last_press + Duration::from_secs(50));
}

#[test]
fn a_bad_line_breaks_off_and_comes_back() {
    let script = check(&[long_game(1)], &Preset::new(Name::Lossy), 1);
    let cables: Vec<&Step> = script
        .steps
        .iter()
        .filter(|step| matches!(step.action, Action::Unplug | Action::Replug))
        .collect();
    assert!(cables.len() >= 4);
    for pair in cables.chunks(2) {
        assert_eq!(pair[0].action, Action::Unplug);
        assert_eq!(pair[1].action, Action::Replug);
        assert_eq!(pair[1].at, pair[0].at + Duration::from_secs(4));
    }
    let sound = Wire { outage_every: None, ..Preset::new(Name::Lossy).wire };
    let script = check(&[long_game(1)], &Preset::new(Name::Lossy).with_wire(sound), 1);
    assert!(script.steps.iter().all(|step| step.action != Action::Unplug));
}
