//! What hands do besides making moves, and how often under each preset.

use super::preset::Name;

/// One way of doing things, or of doing them wrong.
///
/// The first four groups are choices: exactly one way of each group is used whenever it is called for,
/// each as often as its share. All others are rates in a thousand opportunities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// A capture begins with taking the victim off.
    CaptureVictimFirst,
    /// The capturing man is taken up first, then the victim, then the man is put down.
    CaptureOwnFirst,
    /// The capturing man displaces the victim in one sweep: no empty square between.
    CaptureReplaced,
    /// The victim is pushed to a free neighbouring square and cleared away afterwards.
    CapturePushedAside,
    /// Castling: the king walks, then the rook.
    CastleKingFirst,
    /// Castling: both are in the air at once.
    CastleBothLifted,
    /// Castling: the rook goes first, and the king follows quickly.
    CastleRookFirst,
    /// En passant: the victim is taken off before the capturing pawn is touched.
    EnPassantVictimFirst,
    /// En passant: the victim is taken off while the capturing pawn is in the air.
    EnPassantVictimBetween,
    /// En passant: the victim is taken off after the capturing pawn has landed.
    EnPassantVictimLast,
    /// Promotion: the pawn goes to the last rank and is exchanged there.
    PromotionExchanged,
    /// Promotion: the pawn is taken off, and the new piece is put on the last rank.
    PromotionPawnOff,
    /// Promotion: the new piece is put down before the pawn is taken off.
    PromotionPieceFirst,
    /// A rider, a pawn moving two squares, or a king that castles is pushed over the squares between.
    Slid,
    /// The man rests on a square between, where it could have stayed.
    Rested,
    /// Another own man is lifted and put back before the move.
    Touched,
    /// Any man is lifted for a moment and put straight.
    Adjusted,
    /// A man beside the destination is knocked off its square and put back before the press.
    Bumped,
    /// A square beside the destination sees the man for a moment.
    NeighbourLit,
    /// The man is put on another square first, and moved on before the press.
    MoveChanged,
    /// The press comes long after the move.
    LatePress,
    /// The opponent answers before the press.
    ReplyBeforePress,
    /// The opponent's hand is over the board before the move is complete.
    HandsOverlap,
    /// The press is forgotten; the opponent answers, and then his lever is down already.
    PressForgotten,
    /// After a game with a result the kings are put into the centre.
    Signalled,
    /// The kings go to the centre one after the other, not both lifted first.
    SignalOneByOne,
    /// One king goes to a wrong square of the centre and is moved when the mistake is seen.
    SignalCorrected,
    /// The clock is left running after the game.
    ClockLeftRunning,
    /// The players try some moves after the game.
    Analysed,
}

impl Habit {
    /// The ways to capture, in the order of their columns.
    pub const CAPTURE: [Self; 4] = [
        Self::CaptureVictimFirst,
        Self::CaptureOwnFirst,
        Self::CaptureReplaced,
        Self::CapturePushedAside,
    ];
    /// The ways to castle.
    pub const CASTLING: [Self; 3] =
        [Self::CastleKingFirst, Self::CastleBothLifted, Self::CastleRookFirst];
    /// The ways to capture en passant.
    pub const EN_PASSANT: [Self; 3] =
        [Self::EnPassantVictimFirst, Self::EnPassantVictimBetween, Self::EnPassantVictimLast];
    /// The ways to promote.
    pub const PROMOTION: [Self; 3] =
        [Self::PromotionExchanged, Self::PromotionPawnOff, Self::PromotionPieceFirst];

    /// Every habit, in the order of the table in `docs/hands.md`.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|&(habit, _)| habit)
    }

    /// The name the table in `docs/hands.md` gives it.
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push(' ');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
}

/// How often each habit shows: of a thousand choices or opportunities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    per_mille: [u16; TABLE.len()],
}

impl Rates {
    /// The rates of a preset.
    pub fn of(name: Name) -> Self {
        Self { per_mille: TABLE.map(|(_, columns)| columns[name as usize]) }
    }

    /// The rate of a habit.
    pub fn get(&self, habit: Habit) -> u16 {
        self.per_mille[habit as usize]
    }

    /// The rates of several habits.
    pub fn each<const N: usize>(&self, habits: [Habit; N]) -> [u16; N] {
        habits.map(|habit| self.get(habit))
    }

    /// The same rates with another one for this habit.
    pub fn with(mut self, habit: Habit, per_mille: u16) -> Self {
        self.per_mille[habit as usize] = per_mille;
        self
    }

    /// The same rates with this way as the only one of its group.
    pub fn only<const N: usize>(mut self, group: [Habit; N], way: Habit) -> Self {
        for habit in group {
            self = self.with(habit, if habit == way { 1000 } else { 0 });
        }
        self
    }
}

/// One row a habit, in the order of the enumeration; one column a preset, in the order of
/// [`Name::ALL`]. `docs/hands.md` holds the same table for people.
#[rustfmt::skip]
const TABLE: [(Habit, [u16; Name::ALL.len()]); 29] = [
    //                             clean orders class. blitz scram. lossy noclk casual hell
    (Habit::CaptureVictimFirst,     [1000, 250,   500,  350,  200,   450,  500,  300,  250]),
    (Habit::CaptureOwnFirst,        [   0, 250,   270,  250,  180,   270,  280,  250,  250]),
    (Habit::CaptureReplaced,        [   0, 250,   200,  370,  600,   250,  200,  300,  250]),
    (Habit::CapturePushedAside,     [   0, 250,    30,   30,   20,    30,   20,  150,  250]),
    (Habit::CastleKingFirst,        [1000, 340,   900,  750,  600,   850,  900,  650,  340]),
    (Habit::CastleBothLifted,       [   0, 330,    80,  200,  320,   120,   80,  200,  330]),
    (Habit::CastleRookFirst,        [   0, 330,    20,   50,   80,    30,   20,  150,  330]),
    (Habit::EnPassantVictimFirst,   [   0, 330,   200,  200,  200,   200,  200,  250,  330]),
    (Habit::EnPassantVictimBetween, [   0, 330,   200,  300,  400,   200,  200,  250,  330]),
    (Habit::EnPassantVictimLast,    [1000, 340,   600,  500,  400,   600,  600,  500,  340]),
    (Habit::PromotionExchanged,     [1000, 340,   500,  400,  300,   500,  500,  450,  340]),
    (Habit::PromotionPawnOff,       [   0, 330,   400,  400,  400,   400,  400,  350,  330]),
    (Habit::PromotionPieceFirst,    [   0, 330,   100,  200,  300,   100,  100,  200,  330]),
    (Habit::Slid,                   [   0,   0,    80,  200,  350,   100,  100,  300,  500]),
    (Habit::Rested,                 [   0,   0,     5,   10,   15,     5,   10,   40,  100]),
    (Habit::Touched,                [   0,   0,     5,    3,    0,     5,    5,   30,   60]),
    (Habit::Adjusted,               [   0,   0,    20,   10,    5,    20,   20,   50,  100]),
    (Habit::Bumped,                 [   0,   0,     5,   15,   40,     5,    5,   20,   80]),
    (Habit::NeighbourLit,           [   0,   0,     5,   15,   40,     5,    5,   20,  100]),
    (Habit::MoveChanged,            [   0,   0,     5,    5,    3,     5,    5,   40,   60]),
    (Habit::LatePress,              [   0,   0,    30,   20,   20,    30,    0,   80,   60]),
    (Habit::ReplyBeforePress,       [   0,   0,     5,   20,   80,     5,    0,   40,  100]),
    (Habit::HandsOverlap,           [   0,   0,     0,   10,   80,     0,    0,   10,  100]),
    (Habit::PressForgotten,         [   0,   0,     5,    3,    2,     5,    0,   40,   20]),
    (Habit::Signalled,              [1000,1000,   900,  800,  800,   900,  900,  400,  700]),
    (Habit::SignalOneByOne,         [   0,   0,   300,  400,  400,   300,  300,  500,  500]),
    (Habit::SignalCorrected,        [   0,   0,    20,   20,   20,    20,   20,   50,  150]),
    (Habit::ClockLeftRunning,       [   0,   0,    50,  100,  100,    50,    0,  300,  300]),
    (Habit::Analysed,               [   0,   0,   200,  100,   50,   200,  200,  500,  500]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_enumeration() {
        for (index, habit) in Habit::all().enumerate() {
            assert_eq!(habit as usize, index, "{habit:?}");
        }
    }

    #[test]
    fn the_ways_of_a_group_share_a_thousand() {
        for name in Name::ALL {
            let rates = Rates::of(name);
            let sum = |shares: &[u16]| shares.iter().sum::<u16>();
            assert_eq!(sum(&rates.each(Habit::CAPTURE)), 1000, "{name:?}");
            assert_eq!(sum(&rates.each(Habit::CASTLING)), 1000, "{name:?}");
            assert_eq!(sum(&rates.each(Habit::EN_PASSANT)), 1000, "{name:?}");
            assert_eq!(sum(&rates.each(Habit::PROMOTION)), 1000, "{name:?}");
        }
    }

    #[test]
    fn names_are_plain_words() {
        assert_eq!(Habit::CaptureVictimFirst.name(), "capture victim first");
    }
}
