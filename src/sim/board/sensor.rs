//! Sensors that are looked at one after the other.

use std::time::Duration;

use dgt_protocol::{Field, PieceCode};

/// The fields: what stands there, and what the board saw when it last looked.
///
/// Looking at a field that did not change has no effect, so only the looks after a change are
/// scheduled. A field that changed twice between two looks has changed once, and a man that moves may be
/// seen on its new field before the old one is found empty: both follow from the order of the looks.
#[derive(Clone, Debug)]
pub(super) struct Sensors {
    scan: Duration,
    standing: [PieceCode; 64],
    seen: [PieceCode; 64],
    looks: [Option<Duration>; 64],
    /// The earliest of them.
    next: Option<Duration>,
}

impl Sensors {
    /// Empty fields, all seen in this time.
    pub(super) fn new(scan: Duration) -> Self {
        Self {
            scan: scan.max(SHORTEST_SCAN),
            standing: [PieceCode::Empty; 64],
            seen: [PieceCode::Empty; 64],
            looks: [None; 64],
            next: None,
        }
    }

    pub(super) fn standing(&self, field: Field) -> PieceCode {
        self.standing[usize::from(field.index())]
    }

    /// The picture of the board, as of the last look at each field.
    pub(super) fn seen(&self) -> [PieceCode; 64] {
        self.seen
    }

    pub(super) fn set(&mut self, now: Duration, field: Field, code: PieceCode) {
        let index = usize::from(field.index());
        self.standing[index] = code;
        if self.looks[index].is_none() {
            let look = self.next_look(now, field);
            self.looks[index] = Some(look);
            self.next = Some(self.next.map_or(look, |next| next.min(look)));
        }
    }

    /// When the next look that may find something happens.
    pub(super) fn next(&self) -> Option<Duration> {
        self.next
    }

    /// Looks at the field whose turn has come, if any; gives a change.
    pub(super) fn look(&mut self, at: Duration) -> Option<(Field, PieceCode)> {
        self.next.filter(|&next| next <= at)?;
        let field = Field::all()
            .find(|&field| self.looks[usize::from(field.index())].is_some_and(|look| look <= at))?;
        let index = usize::from(field.index());
        self.looks[index] = None;
        self.next = self.looks.iter().flatten().min().copied();
        let code = self.standing[index];
        let changed = self.seen[index] != code;
        self.seen[index] = code;
        changed.then_some((field, code))
    }

    /// A whole scan at once, without telling.
    pub(super) fn see_everything(&mut self) {
        self.seen = self.standing;
        self.looks = [None; 64];
        self.next = None;
    }

    /// The first look at this field after `now`.
    fn next_look(&self, now: Duration, field: Field) -> Duration {
        let offset = self.scan * u32::from(field.index()) / 64;
        let scans = now.saturating_sub(offset).as_nanos() / self.scan.as_nanos();
        let mut look = offset + self.scan * u32::try_from(scans).unwrap_or(u32::MAX);
        while look <= now {
            look += self.scan;
        }
        look
    }
}

const SHORTEST_SCAN: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCAN: Duration = Duration::from_millis(224);

    fn field(number: u8) -> Field {
        Field::new(number).unwrap()
    }

    fn all_changes(sensors: &mut Sensors) -> Vec<(Duration, u8, PieceCode)> {
        let mut changes = Vec::new();
        while let Some(at) = sensors.next() {
            changes.extend(sensors.look(at).map(|(field, code)| (at, field.index(), code)));
        }
        changes
    }

    #[test]
    fn two_changes_between_looks_are_one() {
        let mut sensors = Sensors::new(SCAN);
        sensors.set(Duration::from_millis(10), field(63), PieceCode::WhitePawn);
        sensors.set(Duration::from_millis(20), field(63), PieceCode::BlackKing);
        let changes = all_changes(&mut sensors);
        assert_eq!(changes, [(Duration::from_micros(220_500), 63, PieceCode::BlackKing)]);
    }

    #[test]
    fn a_man_back_in_time_was_never_away() {
        let mut sensors = Sensors::new(SCAN);
        sensors.set(Duration::ZERO, field(63), PieceCode::WhitePawn);
        sensors.see_everything();
        sensors.set(Duration::from_millis(10), field(63), PieceCode::Empty);
        sensors.set(Duration::from_millis(90), field(63), PieceCode::WhitePawn);
        assert_eq!(all_changes(&mut sensors), []);
    }

    #[test]
    fn the_new_field_may_be_seen_before_the_old() {
        let mut sensors = Sensors::new(SCAN);
        sensors.set(Duration::ZERO, field(52), PieceCode::WhitePawn);
        sensors.see_everything();
        sensors.set(Duration::from_millis(1), field(52), PieceCode::Empty);
        sensors.set(Duration::from_millis(90), field(36), PieceCode::WhitePawn);
        let order: Vec<u8> =
            all_changes(&mut sensors).into_iter().map(|(_, field, _)| field).collect();
        assert_eq!(order, [36, 52]);
    }

    proptest! {
        #[test]
        fn a_change_is_seen_within_one_scan(at in 0_u64..100_000_000, number in 0_u8..64) {
            let at = Duration::from_micros(at);
            let mut sensors = Sensors::new(SCAN);
            sensors.set(at, field(number), PieceCode::WhiteQueen);
            let look = sensors.next().unwrap();
            prop_assert!(look > at && look <= at + SCAN);
        }
    }
}
