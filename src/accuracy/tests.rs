//! Whole games, played and read back.

use crate::sim::{hand::preset::Name, pgn};

use super::*;

fn session(name: Name, moves: &str) -> Session {
    let scores = pgn::read(moves.as_bytes()).into_iter().map(Result::unwrap).collect();
    Session { scores, preset: Preset::new(name) }
}

fn reading(live: bool) -> Reading<'static> {
    Reading { live, clock: &|| Duration::ZERO }
}

const GAMES: &str = "[Result \"0-1\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 \
                     Qxe4+ 7. Be2 Nf3# 0-1\n\n[Result \"1/2-1/2\"]\n\n1. d4 d5 2. c4 dxc4 3. e3 b5 \
                     4. a4 c6 5. axb5 cxb5 6. Qf3 1/2-1/2\n";

#[test]
fn games_one_after_the_other_are_read_exactly_in_both_ways() {
    for live in [false, true] {
        let (verdicts, _) = judge(&session(Name::Orders, GAMES), 3, reading(live));
        assert_eq!(verdicts.len(), 2);
        for (verdict, plies) in verdicts.iter().zip([14, 11]) {
            assert!(verdict.exact, "{}", verdict.why);
            assert_eq!((verdict.plies, verdict.right, verdict.wrong_completed), (plies, plies, 0));
            assert_eq!(verdict.alerts, AlertTally::default());
            // Nobody waits longer for a move than the board must stand still.
            assert!(verdict.latencies.percentile(99) <= Some(1_000));
            assert!(verdict.latencies.percentile(50).is_some());
        }
    }
}

#[test]
fn every_game_has_a_verdict_and_a_seed_of_its_own() {
    let one = session(Name::Hell, GAMES);
    let mut seen = Vec::new();
    let tally = judge_all(&[one.clone(), one], 1, reading(false), |session, game, verdict| {
        seen.push((session, game, verdict.plies));
    });
    assert_eq!(seen, [(0, 0, 14), (0, 1, 11), (1, 0, 14), (1, 1, 11)]);
    assert_eq!((tally.games, tally.plies), (4, 50));
    assert_ne!(seed_of(1, 0), seed_of(1, 1));
}

#[test]
fn a_cable_that_breaks_is_asked_again_over_the_live_link() {
    let mut torn = session(Name::Lossy, GAMES);
    torn.preset.wire.outage_every = Some(crate::sim::random::Span::ms(20_000, 40_000));
    let (verdicts, _) = judge(&torn, 5, reading(true));
    assert!(verdicts.iter().all(|verdict| verdict.exact), "{verdicts:?}");
    let alerts: usize = verdicts.iter().map(|verdict| verdict.alerts.right).sum();
    assert!(alerts > 0, "nobody was told that the board was away");
    assert!(verdicts.iter().all(|verdict| verdict.alerts.false_alarms == 0));
}

/// The same record with its last move played otherwise than the reader believes.
#[test]
fn a_game_that_is_read_wrongly_is_explained() {
    let right = session(Name::Clean, GAMES);
    let wrong = session(Name::Clean, &GAMES.replace("7. Be2 Nf3#", "7. Be2 d6"));
    let played = capture::simulate(&right.scores, &right.preset, 1);
    let (header, lines) = capture_of(&right.scores, &played);
    let believed = capture::simulate(&wrong.scores, &wrong.preset, 1);
    let mut witness = Witness::new(&wrong.scores, &believed.games);
    let mut replay = Replay::new(&header).unwrap();
    for line in &lines {
        replay.line(line, &mut |recorded| witness.see(recorded));
    }
    let verdict = witness.verdicts(false).remove(0);
    assert!(!verdict.exact);
    assert_eq!((verdict.right, verdict.plies), (13, 14));
    assert!(verdict.wrong_completed > 0);
    assert!(verdict.why.contains("the stream never showed the board after d6"), "{}", verdict.why);
    assert_eq!(san_line(&wrong.scores[0], &verdict.read)[13], "Nf3#");
}
