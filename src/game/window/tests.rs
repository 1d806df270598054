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

fn see(window: &mut Window, placement: &Placement) {
    let emptied_at = [Timestamp::ZERO; 64];
    let at = Timestamp::ZERO;
    window.see(&Sight { placement, at, emptied_at: &emptied_at, press: None });
}

fn line(window: &Window) -> String {
    let mut position = window.position(window.shared()).clone();
    let mut sans = Vec::new();
    for (m, _) in window.glimpsed() {
        sans.push(San::from_move(&position, m).to_string());
        position = position.play(m).unwrap();
    }
    sans.join(" ")
}

#[test]
fn a_slide_shows_the_square_where_it_ends() {
    let (mut window, mut placement) = window();
    carry(&mut placement, Square::E2, Square::E3);
    see(&mut window, &placement);
    assert_eq!(line(&window), "e3");
    placement.set(Square::E3, None);
    see(&mut window, &placement);
    assert_eq!((line(&window).as_str(), window.standing(&placement)), ("e3", Standing::Off));
    placement.set(Square::E4, Some(Piece { color: Color::White, role: Role::Pawn }));
    see(&mut window, &placement);
    assert_eq!((line(&window).as_str(), window.standing(&placement)), ("e4", Standing::On(1)));
}

#[test]
fn a_reply_before_anything_settled_is_glimpsed_behind_the_move() {
    let (mut window, mut placement) = window();
    for (from, to) in [(Square::E2, Square::E4), (Square::E7, Square::E5)] {
        carry(&mut placement, from, to);
        see(&mut window, &placement);
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
    see(&mut window, &placement);
    window.make(1);
    see(&mut window, &start);
    assert_eq!(window.standing(&start), Standing::On(0));
    assert_eq!(window.shared(), 0);
    carry(&mut placement, Square::E4, Square::E3);
    see(&mut window, &placement);
    assert_eq!((window.shared(), line(&window).as_str()), (0, "e3"));
    window.make(1);
    assert_eq!(window.standing(&placement), Standing::On(1));
}

#[test]
fn a_line_that_is_cut_short_forgets_what_hung_on_it() {
    let (mut window, mut placement) = window();
    for (from, to) in [(Square::E2, Square::E4), (Square::E7, Square::E5)] {
        carry(&mut placement, from, to);
        see(&mut window, &placement);
    }
    window.make(1);
    assert_eq!((window.shared(), line(&window).as_str()), (1, "e5"));
    window.make(0);
    assert_eq!((window.made(), window.len()), (0, 0));
    assert_eq!(window.position(0), &Chess::new());
}
