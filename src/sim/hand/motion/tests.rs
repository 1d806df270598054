//! One move at a time, in every way.

use shakmaty::{CastlingMode, Role, fen::Fen, san::San};

use super::*;
use crate::sim::hand::preset::Name;

/// Makes a move again and again; gives every different order of acts seen, written shortly.
fn orders(preset: &Preset, mode: CastlingMode, fen: &str, san: &str) -> Vec<String> {
    let pos: Chess = fen.parse::<Fen>().unwrap().into_position(mode).unwrap();
    let m = san.parse::<San>().unwrap().to_move(&pos).unwrap();
    let after = pos.clone().play(m).unwrap();
    let mut seen = Vec::new();
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut men = pos.board().clone();
        let mut hand = Hand::new(preset, &mut random, &mut men);
        hand.make(&pos, m);
        let motion = hand.finish();
        assert_eq!(&men, after.board(), "{fen} {san} seed {seed}: {motion:?}");
        assert!(motion.acts.is_sorted_by_key(|&(at, _)| at));
        let text = motion.acts.iter().map(|(_, action)| write(action)).collect::<Vec<_>>();
        let text = text.join(" ");
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen.sort();
    seen
}

fn write(action: &Action) -> String {
    match action {
        Action::Lift(sq) => format!("-{sq}"),
        Action::Place(sq, piece) => format!("+{sq}{}", piece.char()),
        other => panic!("a hand over the men does not {other:?}"),
    }
}

fn alone(habit: Habit) -> Preset {
    Preset::new(Name::Clean).with(habit, 1000)
}

fn only<const N: usize>(group: [Habit; N], way: Habit) -> Preset {
    let mut preset = Preset::new(Name::Clean);
    preset.rates = preset.rates.only(group, way);
    preset
}

const STANDARD: CastlingMode = CastlingMode::Standard;
const TAKES: &str = "4k3/8/8/4p3/8/8/8/4RK2 w - - 0 1";
const CASTLES: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

#[test]
fn captures_in_every_order() {
    let order = |way| orders(&only(Habit::CAPTURE, way), STANDARD, TAKES, "Rxe5");
    assert_eq!(order(Habit::CaptureVictimFirst), ["-e5 -e1 +e5R"]);
    assert_eq!(order(Habit::CaptureOwnFirst), ["-e1 -e5 +e5R"]);
    assert_eq!(order(Habit::CaptureReplaced), ["-e1 +e5R"]);
    let aside = order(Habit::CapturePushedAside);
    assert!(aside.contains(&"-e1 -e5 +f6p +e5R -f6".to_owned()), "{aside:?}");
    assert_eq!(aside.len(), 8);
}

#[test]
fn castles_in_every_order() {
    let order = |way, san| orders(&only(Habit::CASTLING, way), STANDARD, CASTLES, san);
    assert_eq!(order(Habit::CastleKingFirst, "O-O"), ["-e1 +g1K -h1 +f1R"]);
    assert_eq!(order(Habit::CastleRookFirst, "O-O-O"), ["-a1 +d1R -e1 +c1K"]);
    assert_eq!(
        order(Habit::CastleBothLifted, "O-O"),
        ["-e1 -h1 +f1R +g1K", "-e1 -h1 +g1K +f1R", "-h1 -e1 +f1R +g1K", "-h1 -e1 +g1K +f1R"]
    );
}

#[test]
fn castles_where_the_men_are_in_each_others_way() {
    let order = |way, fen| orders(&only(Habit::CASTLING, way), CastlingMode::Chess960, fen, "O-O");
    let both = "4k3/8/8/8/8/8/8/5KR1 w G - 0 1";
    for way in Habit::CASTLING {
        assert!(order(way, both).contains(&"-f1 -g1 +g1K +f1R".to_owned()), "{way:?}");
        assert_eq!(order(way, "4k3/8/8/8/8/8/8/6KR w H - 0 1"), ["-h1 +f1R"]);
        assert_eq!(order(way, "4k3/8/8/8/8/8/8/4KR2 w F - 0 1"), ["-e1 +g1K"]);
    }
}

#[test]
fn captures_en_passant_in_every_order() {
    let fen = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
    let order = |way| orders(&only(Habit::EN_PASSANT, way), STANDARD, fen, "exd6");
    assert_eq!(order(Habit::EnPassantVictimFirst), ["-d5 -e5 +d6P"]);
    assert_eq!(order(Habit::EnPassantVictimBetween), ["-e5 -d5 +d6P"]);
    assert_eq!(order(Habit::EnPassantVictimLast), ["-e5 +d6P -d5"]);
}

#[test]
fn promotes_in_every_order() {
    let fen = "3n4/4P1k1/8/8/8/8/6K1/8 w - - 0 60";
    let order = |way, san| orders(&only(Habit::PROMOTION, way), STANDARD, fen, san);
    assert_eq!(order(Habit::PromotionPawnOff, "e8=N"), ["-e7 +e8N"]);
    assert_eq!(order(Habit::PromotionPieceFirst, "exd8=Q"), ["-d8 +d8Q -e7"]);
    assert_eq!(order(Habit::PromotionExchanged, "e8=Q"), ["-e7 +e8P +e8Q", "-e7 +e8P -e8 +e8Q"]);
    assert_eq!(
        order(Habit::PromotionExchanged, "exd8=Q"),
        ["-d8 -e7 +d8P +d8Q", "-d8 -e7 +d8P -d8 +d8Q"]
    );
}

#[test]
fn slides_over_every_square_between() {
    let preset = alone(Habit::Slid);
    assert_eq!(
        orders(&preset, STANDARD, TAKES, "Rxe5"),
        ["-e5 -e1 +e2R -e2 +e3R -e3 +e4R -e4 +e5R"]
    );
    assert_eq!(orders(&preset, STANDARD, CASTLES, "O-O"), ["-e1 +f1K -f1 +g1K -h1 +f1R"]);
}

#[test]
fn rests_only_where_the_man_could_stay() {
    assert_eq!(
        orders(&alone(Habit::Rested), STANDARD, TAKES, "Rxe5"),
        ["-e1 +e2R -e5 -e2 +e5R", "-e1 +e3R -e5 -e3 +e5R", "-e1 +e4R -e5 -e4 +e5R"]
    );
    assert_eq!(
        orders(&alone(Habit::Rested), STANDARD, CASTLES, "O-O"),
        ["-e1 +f1K -f1 +g1K -h1 +f1R"]
    );
    let pinned = "4k3/8/8/8/8/4r3/4N3/4K3 w - - 0 1";
    assert_eq!(orders(&alone(Habit::Rested), STANDARD, pinned, "Kd1"), ["-e1 +d1K"]);
}

#[test]
fn changes_the_move_before_the_press() {
    let pawn = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    assert_eq!(orders(&alone(Habit::MoveChanged), STANDARD, pawn, "e4"), ["-e2 +e3P -e3 +e4P"]);
}

#[test]
fn touches_adjusts_bumps_and_lights() {
    let pos = "4k3/8/8/8/8/8/3PP3/4K3 w - - 0 1";
    assert!(
        orders(&alone(Habit::Touched), STANDARD, pos, "e3")
            .contains(&"-d2 +d2P -e2 +e3P".to_owned())
    );
    assert!(
        orders(&alone(Habit::Adjusted), STANDARD, pos, "e3")
            .contains(&"-e8 +e8k -e2 +e3P".to_owned())
    );
    let bumped = orders(&alone(Habit::Bumped), STANDARD, pos, "e3");
    assert!(bumped.contains(&"-e2 +e3P -d2 +d2P".to_owned()), "{bumped:?}");
    assert!(bumped.contains(&"-e2 +e3P -d2 +c3P -c3 +d2P".to_owned()), "{bumped:?}");
    assert!(
        orders(&alone(Habit::NeighbourLit), STANDARD, pos, "e3")
            .contains(&"-e2 +d3P -d3 +e3P".to_owned())
    );
}

#[test]
fn squares_of_a_motion_are_the_touched_ones() {
    let mut random = Random::new(1);
    let pos = Chess::new();
    let mut men = pos.board().clone();
    let preset = Preset::new(Name::Clean);
    let mut hand = Hand::new(&preset, &mut random, &mut men);
    let m = Move::Normal {
        role: Role::Pawn,
        from: Square::E2,
        capture: None,
        to: Square::E4,
        promotion: None,
    };
    hand.make(&pos, m);
    let motion = hand.finish();
    assert_eq!(motion.squares(), Bitboard::from(Square::E2) | Bitboard::from(Square::E4));
    assert!(motion.length() >= Duration::from_millis(350));
}
