mod board;
mod pace;
mod pair;
mod wire;

use alloc::{vec, vec::Vec};

use super::*;
use crate::{ChangesForm, Field, Order, PieceCode, Tag};
use pair::Pair;
use wire::{address, line_time, ms, secs};

#[test]
fn thirty_boards_are_found_in_spite_of_collisions() {
    let mut pair = Pair::new(30);
    pair.run_until(secs(20));
    let answering = pair.board_events(|event| *event == BoardEvent::Answering);
    assert_eq!(answering.len(), 30);
    assert_eq!(pair.link.answering().count(), 30);
    assert!(pair.wire.collisions > 0, "the search was too easy");
    assert!(answering.iter().all(|&(at, _)| at < secs(13)));
    for dumps in pair.wire.boards.iter().map(|board| board.count(Order::ReadBoard)) {
        assert!(dumps >= 1);
    }
}

#[test]
fn boards_left_in_single_board_mode_are_found_too() {
    let mut pair = Pair::new(3);
    for board in &mut pair.wire.boards {
        board.in_bus_mode = false;
    }
    pair.run_until(secs(10));
    assert_eq!(pair.link.answering().count(), 3);
}

#[test]
fn a_board_that_comes_late_is_found_beside_the_polling() {
    let mut pair = Pair::new(5);
    pair.wire.boards[4].on = false;
    pair.run_until(secs(20));
    assert_eq!(pair.link.answering().count(), 4);
    pair.wire.boards[4].on = true;
    pair.run_for(secs(70));
    assert_eq!(pair.link.answering().count(), 5);
}

#[test]
fn an_empty_line_is_reported_once() {
    let mut pair = Pair::new(0);
    pair.run_until(secs(60));
    assert_eq!(pair.count(|event| *event == BusEvent::Deserted), 1);
    assert_eq!(pair.events.len(), 1);
}

#[test]
fn an_expected_board_that_is_not_there_is_silent_once() {
    let settings = BusSettings { expected: vec![address(9)], ..BusSettings::default() };
    let mut pair = Pair::with(1, settings);
    pair.run_until(secs(60));
    let silent = pair.board_events(|event| *event == BoardEvent::Silent);
    assert_eq!(silent.iter().map(|&(_, address)| address.number()).collect::<Vec<_>>(), [9]);
    assert_eq!(pair.link.answering().count(), 1);
}

#[test]
fn changes_are_batched_at_first_and_live_afterwards() {
    let mut pair = Pair::new(1);
    pair.wire.boards[0].change(52, PieceCode::Empty);
    pair.run_until(secs(10));
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.run_for(secs(2));
    let paces: Vec<_> = pair.changes(1).map(|changes| changes.pace).collect();
    assert_eq!(paces, [Pace::Batched, Pace::Live]);
}

#[test]
fn a_clock_and_a_dump_follow_changes() {
    let mut pair = Pair::new(1);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.run_for(ms(1500));
    let board = &pair.wire.boards[0];
    assert_eq!(board.count(Order::ReadBoard), 1);
    assert!(board.count(Order::ReadClock) >= 1);
}

#[test]
fn a_broken_changes_packet_is_repeated() {
    let mut pair = Pair::new(2);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.wire.boards[0].break_answers = 1;
    pair.run_for(secs(2));
    assert_eq!(pair.wire.boards[0].count(Order::RepeatChanges), 1);
    assert_eq!(pair.tags(1), [change(36, PieceCode::WhitePawn)]);
    assert!(pair.count(|event| matches!(event, BusEvent::Fault(_))) > 0);
}

#[test]
fn what_arrives_before_a_command_was_sent_does_not_answer_it() {
    let mut pair = Pair::new(2);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards.iter_mut().for_each(|board| board.break_answers = 1);
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.wire.boards[1].change(12, PieceCode::Empty);
    let content = Content::Changes { form: ChangesForm::Odd, log: Vec::new() };
    let mut early = Vec::new();
    // Both boards seem to have nothing to tell before either was asked.
    for address in [address(1), address(2)] {
        BusReply { address, content: content.clone() }.encode(&mut early);
    }
    pair.early = Some(early);
    pair.run_for(secs(2));
    assert_eq!(pair.early, None);
    assert_eq!(pair.tags(1), [change(36, PieceCode::WhitePawn)]);
    assert_eq!(pair.tags(2), [change(12, PieceCode::Empty)]);
}

#[test]
fn a_board_that_answers_late_is_asked_on() {
    let mut pair = Pair::new(2);
    pair.run_until(secs(12));
    // The repetition comes while the board is pinged, because it did not seem to come.
    pair.wire.boards[0].deaf = 1;
    pair.wire.boards[0].late = 1;
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.run_for(secs(2));
    assert_eq!(pair.wire.boards[0].late, 0);
    pair.forget();
    pair.wire.boards[0].change(12, PieceCode::Empty);
    pair.run_for(secs(2));
    assert_eq!(pair.tags(1), [change(12, PieceCode::Empty)]);
    assert!(pair.wire.boards[0].count(Order::ReadChanges) >= 5);
}

#[test]
fn a_command_that_was_not_heard_brings_no_change_twice() {
    let mut pair = Pair::new(1);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    while pair.tags(1).is_empty() {
        pair.run_for(ms(5));
    }
    pair.wire.boards[0].deaf = 1;
    pair.run_for(secs(3));
    assert_eq!(pair.tags(1), [change(36, PieceCode::WhitePawn)]);
    assert!(pair.wire.boards[0].count(Order::RepeatChanges) >= 1);
}

#[test]
fn changes_owed_by_a_board_that_was_unplugged_are_repeated_when_it_is_back() {
    let mut pair = Pair::new(2);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.wire.boards[0].unplug_after_next_reading = true;
    pair.run_for(secs(20));
    assert_eq!(pair.board_events(|event| *event == BoardEvent::Silent).len(), 1);
    pair.wire.boards[0].on = true;
    pair.wire.boards[0].change(12, PieceCode::Empty);
    pair.run_for(secs(8));
    let expected = [change(36, PieceCode::WhitePawn), change(12, PieceCode::Empty)];
    assert_eq!(pair.tags(1), expected);
    assert!(pair.changes(1).all(|changes| changes.pace == Pace::Batched));
}

#[test]
fn changes_that_were_under_way_when_the_line_was_cut_are_repeated() {
    // The line is cut at every stage of a reading.
    for before in 0..80 {
        let mut pair = Pair::new(3);
        pair.run_until(secs(12));
        pair.forget();
        pair.wire.boards[0].change(36, PieceCode::WhitePawn);
        pair.run_for(ms(300) + ms(before));
        pair.wire.cut();
        pair.wire.boards[0].change(12, PieceCode::Empty);
        pair.now += secs(10);
        pair.link.reopen(pair.now);
        pair.run_for(secs(4));
        let expected = [change(36, PieceCode::WhitePawn), change(12, PieceCode::Empty)];
        assert_eq!(pair.tags(1), expected, "cut after {before} ms");
        assert_eq!(pair.board_events(|event| *event == BoardEvent::Answering).len(), 3);
        assert_eq!(pair.lost(1), 0);
    }
}

#[test]
fn a_line_that_is_back_finds_who_went_and_who_came_meanwhile() {
    let mut pair = Pair::new(4);
    pair.wire.boards[3].on = false;
    pair.run_until(secs(20));
    pair.forget();
    pair.wire.boards[0].on = false;
    pair.wire.boards[3].on = true;
    pair.link.reopen(pair.now);
    pair.run_for(secs(12));
    let numbers = |event: &BoardEvent| {
        let events = pair.board_events(|told| told == event);
        let mut numbers: Vec<_> = events.iter().map(|&(_, address)| address.number()).collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(numbers(&BoardEvent::Silent), [1]);
    assert_eq!(numbers(&BoardEvent::Answering), [2, 3, 4]);
    // Cut before the first search was over, it begins anew.
    let mut pair = Pair::new(4);
    pair.run_until(secs(1));
    pair.link.reopen(pair.now);
    pair.run_for(secs(15));
    assert_eq!(pair.link.answering().count(), 4);
}

#[test]
fn a_board_that_does_not_repeat_is_read_from_the_start() {
    let mut pair = Pair::new(2);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.wire.boards[0].break_answers = 1;
    pair.wire.boards[0].repeats = false;
    pair.run_for(secs(4));
    let lost = pair.board_events(|event| *event == BoardEvent::ChangesLost);
    assert_eq!(lost.len(), 1);
    let told = pair.board_events(|event| {
        matches!(event, BoardEvent::FromStart { tags, .. }
            if tags.contains(&change(36, PieceCode::WhitePawn)))
    });
    assert_eq!(told.len(), 1);
    assert!(pair.wire.boards[0].count(Order::ReadBoard) >= 1);
    assert!(pair.board_events(|event| *event == BoardEvent::Silent).is_empty());
}

#[test]
fn waiting_changes_are_read_before_a_start_tag_is_written() {
    let mut pair = Pair::new(1);
    pair.run_until(secs(12));
    pair.forget();
    pair.wire.boards[0].change(36, PieceCode::WhitePawn);
    pair.link.request(pair.now, address(1), BusRequest::StartGame);
    pair.run_for(secs(2));
    assert_eq!(pair.board_events(|event| *event == BoardEvent::GameStarted).len(), 1);
    let heard = &pair.wire.boards[0].heard;
    let start = heard.iter().position(|&(_, order)| order == Order::StartGame).unwrap();
    assert_eq!(heard[start - 1].1, Order::ReadChanges);
    let tags = pair.tags(1);
    assert_eq!(tags[..2], [change(36, PieceCode::WhitePawn), Tag::StartGame]);
}

#[test]
fn requests_that_cannot_be_served_are_refused() {
    let mut pair = Pair::new(1);
    pair.run_until(secs(12));
    pair.forget();
    pair.link.request(pair.now, address(77), BusRequest::Dump);
    pair.run_for(ms(1));
    let refused = BoardEvent::Unanswered(BusRequest::Dump);
    assert_eq!(pair.board_events(|event| *event == refused), [(secs(12), address(77))]);
}

#[test]
fn on_a_bad_line_every_change_arrives_once_or_its_loss_is_told() {
    for seed in 0..20 {
        let mut pair = Pair::new(4);
        pair.wire.seed(seed);
        pair.run_until(secs(15));
        pair.wire.broken_percent = 10;
        pair.wire.lost_percent = 5;
        let mut made = Vec::new();
        for turn in 0..200u8 {
            let field = turn % 64;
            let code = PieceCode::ALL[usize::from(turn % 16)];
            pair.wire.boards[0].change(field, code);
            made.push(change(field, code));
            pair.run_for(ms(170));
        }
        pair.wire.broken_percent = 0;
        pair.wire.lost_percent = 0;
        pair.run_for(secs(20));
        assert!(pair.wire.boards[0].destroyed <= pair.lost(1), "seed {seed}");
        if pair.lost(1) == 0 {
            assert_eq!(pair.tags(1), made, "seed {seed}");
        } else {
            let again = pair.told_again(1);
            assert!(made.iter().all(|tag| again.contains(tag)), "seed {seed}");
        }
    }
}

#[test]
fn a_caller_that_takes_nothing_is_not_made_to_spin() {
    let mut link = BusLink::new(BusSettings::default(), Duration::ZERO);
    let mut wakings = 0;
    while let Some(deadline) = link.poll_timeout().filter(|&at| at < secs(60)) {
        link.handle_timeout(deadline);
        wakings += 1;
    }
    assert!(wakings < 100, "{wakings} in a minute");
}

#[test]
fn nothing_is_asked_of_boards_while_the_caller_does_not_listen() {
    let mut pair = Pair::new(4);
    pair.run_until(secs(12));
    pair.listening = false;
    for turn in 0..200_000u32 {
        pair.wire.boards[0].change((turn % 64) as u8, PieceCode::WhitePawn);
        if turn % 500 == 0 {
            pair.run_for(ms(250));
        }
    }
    pair.wire.boards.iter_mut().for_each(|board| board.heard.clear());
    pair.run_for(secs(10));
    assert!(pair.wire.boards.iter().all(|board| board.heard.is_empty()));
    pair.listening = true;
    pair.run_for(secs(60));
    assert_eq!(pair.count(|event| matches!(event, BusEvent::Overrun { .. })), 0);
    assert!(pair.wire.boards.iter().all(|board| !board.heard.is_empty()));
}

fn change(field: u8, code: PieceCode) -> Tag {
    Tag::FieldChange { field: Field::new(field).unwrap(), code, quick: false }
}
