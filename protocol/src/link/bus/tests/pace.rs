//! How often boards are read, and how long a change takes to be seen.

use alloc::vec;

use super::*;

/// The figures of the documentation of [`BusLink`].
#[test]
fn the_polling_cycle_is_as_documented() {
    for (boards, mean, longest) in
        [(1, 310..=320, 360), (10, 315..=325, 400), (30, 850..=870, 1320)]
    {
        let mut pair = Pair::new(boards);
        pair.run_until(secs(20));
        pair.forget();
        pair.run_for(secs(140));
        let (measured, worst) = pair.polling_cycle();
        assert!(mean.contains(&measured), "{boards} boards every {measured} ms");
        assert!(worst <= longest, "{boards} boards at the latest after {worst} ms");
    }
}

/// What a line of 9600 baud allows: a round in which each board is asked for its changes (4 bytes,
/// and 6 back) and for its clock (4 and 13), with 5 ms until a board answers and 2 ms until the next
/// command; and for each move made meanwhile a dump (4 and 70). Searches for boards, the dumps and
/// commands of other boards that come first, and chance may add a fifth.
#[test]
fn the_worst_case_of_a_full_bus_is_explained_by_the_speed_of_its_line() {
    let exchange = |bytes| line_time(bytes) + ms(5) + ms(2);
    for (boards, seconds_a_ply) in [(10, 6), (30, 6), (30, 20), (30, 120)] {
        let round = (exchange(4 + 6) + exchange(4 + 13)) * u32::from(boards);
        let dumps = exchange(4 + 70) * u32::from(boards) / seconds_a_ply;
        // In the time of the dumps moves are made, too.
        let explained = round.div_f64(1.0 - dumps.as_secs_f64());
        // A link with time to spare waits until a reading is due.
        let explained = explained.max(BusSettings::default().changes_period);
        for seed in 1..=3 {
            let worst = worst_wait(boards, seconds_a_ply, seed);
            assert!(
                worst <= explained.mul_f64(1.2),
                "{boards} boards, a ply in {seconds_a_ply} s: seen after {worst:?}, \
                 which {explained:?} does not explain"
            );
        }
    }
}

#[test]
fn a_silent_board_does_not_slow_the_others() {
    let mut pair = Pair::new(10);
    pair.run_until(secs(20));
    pair.wire.boards[3].on = false;
    pair.run_for(secs(2));
    pair.forget();
    pair.run_for(secs(40));
    let (mean, worst) = pair.polling_cycle();
    assert!(mean <= 360, "every {mean} ms");
    assert!(worst <= 500, "at the latest after {worst} ms");
    assert!(pair.board_events(|event| *event == BoardEvent::Silent).is_empty());
    pair.wire.boards[3].on = true;
    pair.run_for(secs(6));
    assert_eq!(pair.board_events(|event| *event == BoardEvent::Answering).len(), 1);
}

/// The longest time that a change waited until it was told, in five minutes of play. A ply is a man
/// lifted and, 700 ms later, set down.
fn worst_wait(boards: u16, seconds_a_ply: u32, seed: u64) -> Duration {
    let mut pair = Pair::new(boards);
    pair.run_until(secs(20));
    pair.forget();
    pair.wire.seed(seed);
    let mut plan = Vec::new();
    for board in 0..usize::from(boards) {
        let mut at = pair.now;
        while at < secs(320) {
            at += ms(pair.wire.next_random() % (2000 * u64::from(seconds_a_ply)));
            plan.extend([(at, board), (at + ms(700), board)]);
        }
    }
    plan.sort_unstable();
    let mut made = vec![Vec::new(); usize::from(boards)];
    for (turn, (at, board)) in plan.into_iter().enumerate() {
        pair.run_until(at);
        // Each change of a board is another one.
        let code = PieceCode::ALL[turn % 13];
        pair.wire.boards[board].change((turn / 13 % 64) as u8, code);
        made[board].push(at);
    }
    pair.run_for(secs(10));
    let mut worst = Duration::ZERO;
    for (board, made) in made.iter().enumerate() {
        let told = pair.times_of_changes(board as u16 + 1);
        assert_eq!(told.len(), made.len());
        let waits = made.iter().zip(told).map(|(&made, told)| told.abs_diff(made));
        worst = worst.max(waits.max().unwrap());
    }
    worst
}
