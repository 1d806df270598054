use shakmaty::{CastlingMode, Square, fen::Fen, san::San};

use super::{super::evidence::Scene, *};

/// Reads what `acts` tells, from `fen` on: each line is a time in milliseconds and either a square
/// with the man that stands there from then on (`.` for none), or `white` or `black` for a press.
fn readings(fen: &str, acts: &str, until: u64) -> Vec<(String, u32)> {
    let setup = fen.parse::<Fen>().unwrap().into_setup();
    let position: Chess = setup.position(CastlingMode::Standard).unwrap();
    let mut placement = Placement::new(position.board().clone());
    let mut evidence = Evidence::default();
    evidence.note_scene(scene(Timestamp::ZERO, &placement));
    for act in acts.lines().map(str::trim).filter(|act| !act.is_empty()) {
        let mut words = act.split_whitespace();
        let at = Timestamp::from_millis(words.next().unwrap().parse().unwrap());
        let what = words.next().unwrap();
        match what {
            "white" | "black" => {
                let by = if what == "white" { Color::White } else { Color::Black };
                evidence.note_press(Press { by, at, clock_ms: 60_000 });
            }
            square => {
                let piece =
                    words.next().unwrap().chars().next().and_then(shakmaty::Piece::from_char);
                placement.set(square.parse::<Square>().unwrap(), piece);
                evidence.note_scene(scene(at, &placement));
            }
        }
    }
    let stretch = Stretch {
        position: &position,
        evidence: &evidence,
        first: 0,
        open: [false; 2],
        until: Timestamp::from_millis(until),
        gap_plies: 4,
    };
    let told = read(&stretch).into_iter().map(|reading| {
        let line: Vec<Move> = reading.line.iter().map(|(m, _)| *m).collect();
        let alone = cost_of(&stretch, &line).unwrap();
        assert!(alone <= reading.cost, "alone it costs {alone}, beside others {}", reading.cost);
        (sans(&position, &line), reading.cost)
    });
    told.collect()
}

fn scene(at: Timestamp, placement: &Placement) -> Scene {
    Scene { at, placement: placement.clone(), told_by_dump: false, confirmed: false }
}

fn sans(position: &Chess, line: &[Move]) -> String {
    let mut position = position.clone();
    let mut sans = Vec::new();
    for &m in line {
        sans.push(San::from_move(&position, m).to_string());
        position = position.play(m).unwrap();
    }
    sans.join(" ")
}

fn best(fen: &str, acts: &str, until: u64) -> String {
    readings(fen, acts, until).swap_remove(0).0
}

#[test]
fn a_pawn_that_is_taken_where_it_arrives_before_the_board_can_tell() {
    let acts = "
         500 c2 .
         900 d4 .
        1000 c3 p
        1200 white
        1500 black
        2100 d2 .
        2500 c3 .
        2700 c3 Q
        3100 white
    ";
    assert_eq!(best("4k3/8/8/8/3p4/8/2PQ4/4K3 w - - 0 1", acts, 4_000), "c3 dxc3 Qxc3");
}

#[test]
fn a_queen_that_passed_over_a_square_stands_where_she_stays() {
    let acts = "
         100 b7 .
         300 a7 Q
         420 a7 .
         450 a8 Q
         900 white
        1300 e8 .
        1500 e7 k
        1900 black
        2400 a8 .
        2600 c6 Q
        2900 white
    ";
    assert_eq!(best("4k3/1Q6/8/8/8/8/8/4K3 w - - 0 1", acts, 4_000), "Qa8 Ke7 Qc6");
}

#[test]
fn a_square_that_shines_for_a_moment_after_the_capture_was_no_move() {
    let acts = "
         100 c4 .
         300 b4 Q
         720 a5 .
         750 b4 .
         780 b3 Q
         980 b4 q
        1010 b3 .
        1020 white
        1610 black
        1700 a3 .
        1900 b4 P
    ";
    assert_eq!(best("4k3/8/8/q7/2Q5/P7/8/4K3 w - - 0 1", acts, 3_000), "Qb4 Qxb4 axb4");
}

#[test]
fn a_rook_in_the_air_before_the_reply_had_only_rested() {
    let acts = "
         500 b1 .
         900 d1 R
        2700 d1 .
        3400 b8 .
        3600 f1 R
        3620 c8 r
        3840 c8 .
        4070 f8 r
        5000 white
        7000 black
    ";
    assert_eq!(best("1r4k1/8/8/8/8/8/8/1R4K1 w - - 0 1", acts, 9_000), "Rf1 Rf8");
}

#[test]
fn nothing_seen_reads_nothing() {
    assert_eq!(readings("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "", 1_000), [(String::new(), 0)]);
}

#[test]
fn a_square_costs_more_the_longer_it_stands_otherwise() {
    assert_eq!([0, 300, 900, 2_100].map(weight), [0, 1_000, 2_000, 3_000]);
    assert!((0..100).all(|i| weight(i * 37) <= weight(i * 37 + 37)));
    assert_eq!(weight(u64::MAX), weight(cost::MAX_WEIGHED_MS));
}
