//! Battery of a Bluetooth board.

use super::{
    BATTERY,
    malformed::{Defect, Malformed},
};

/// State of the battery (0xA0, bytes 3 to 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Battery {
    /// Byte 3: charge in percent, 0 to 100.
    pub percent: u8,
    /// Bytes 4 and 5: how long it will last, if the board knows.
    pub time_left: Option<Duty>,
    /// Bytes 6 and 7: how long it has been switched on, if the board knows.
    pub on_time: Option<Duty>,
    /// Byte 8: whole days of standby, 0 to 127.
    pub standby_days: u8,
    /// Bytes 9 and 10: the rest of the standby time, if the board knows.
    pub standby: Option<Duty>,
    /// Byte 11 bit 0.
    pub charging: bool,
    /// Byte 11 bit 1.
    pub discharging: bool,
}

/// A span of hours and minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duty {
    /// 0 to 126.
    pub hours: u8,
    /// 0 to 59.
    pub minutes: u8,
}

impl Battery {
    pub(crate) fn decode(payload: &[u8; 9]) -> Result<Self, Malformed> {
        let &[percent, left_h, left_m, on_h, on_m, standby_days, standby_h, standby_m, status] =
            payload;
        if percent > 100 {
            return Err(Malformed { id: BATTERY, defect: Defect::Percent(percent) });
        }
        Ok(Self {
            percent,
            time_left: Duty::decode(left_h, left_m)?,
            on_time: Duty::decode(on_h, on_m)?,
            standby_days,
            standby: Duty::decode(standby_h, standby_m)?,
            charging: status & 1 != 0,
            discharging: status & 2 != 0,
        })
    }

    pub(crate) fn encode(&self) -> [u8; 9] {
        let [left_h, left_m] = Duty::encode(self.time_left);
        let [on_h, on_m] = Duty::encode(self.on_time);
        let [standby_h, standby_m] = Duty::encode(self.standby);
        let status = u8::from(self.charging) | u8::from(self.discharging) << 1;
        [
            self.percent.min(100),
            left_h,
            left_m,
            on_h,
            on_m,
            self.standby_days,
            standby_h,
            standby_m,
            status,
        ]
    }
}

impl Duty {
    fn decode(hours: u8, minutes: u8) -> Result<Option<Self>, Malformed> {
        match (hours, minutes) {
            (UNKNOWN, _) | (_, UNKNOWN) => Ok(None),
            (_, 60..) => Err(Malformed { id: BATTERY, defect: Defect::Minutes(minutes) }),
            _ => Ok(Some(Self { hours, minutes })),
        }
    }

    fn encode(duty: Option<Self>) -> [u8; 2] {
        duty.map_or([UNKNOWN; 2], |duty| [duty.hours.min(UNKNOWN - 1), duty.minutes.min(59)])
    }
}

const UNKNOWN: u8 = 0x7F;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_reads_and_writes_the_same_bytes() {
        let bytes = [0x54, 0x7F, 0x7F, 0x01, 0x1E, 0x00, 0x02, 0x0F, 0x02];
        let battery = Battery {
            percent: 84,
            time_left: None,
            on_time: Some(Duty { hours: 1, minutes: 30 }),
            standby_days: 0,
            standby: Some(Duty { hours: 2, minutes: 15 }),
            charging: false,
            discharging: true,
        };
        assert_eq!(Battery::decode(&bytes), Ok(battery));
        assert_eq!(battery.encode(), bytes);
    }

    #[test]
    fn impossible_values_are_malformed() {
        let table = [
            ([101, 0, 0, 0, 0, 0, 0, 0, 0], Defect::Percent(101)),
            ([50, 0, 60, 0, 0, 0, 0, 0, 0], Defect::Minutes(60)),
        ];
        for (bytes, defect) in table {
            assert_eq!(Battery::decode(&bytes), Err(Malformed { id: BATTERY, defect }));
        }
    }
}
