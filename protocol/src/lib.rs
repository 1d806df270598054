#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod fault;
mod field;
mod frame;
mod message;

mod bus;
mod command;
mod link;

pub use bus::{Address, BusCommand, BusDeframer, BusReply, ChangesForm, Content, Order, Target};
pub use command::{
    Beep, ClockCommand, Command, CommandReader, HostCommand, HostReader, Leds, Run, SegmentText,
    SetAndRun, Side,
};
pub use fault::{Counts, Fault};
pub use field::{Field, PieceCode};
pub use frame::{Deframer, MAX_FRAME};
pub use link::{
    BoardEvent, BusEvent, BusLink, BusRequest, BusSettings, Changes, Identity, LinkEvent, Pace,
    Request, SingleLink, SingleSettings,
};
pub use message::{
    Message,
    battery::{Battery, Duty},
    board::Dump,
    clock::{AckMeaning, Button, ClockAck, ClockMessage, ClockSide, ClockTimes, Lever},
    identity::{LongSerialNumber, SerialNumber, Text},
    malformed::{Defect, Malformed},
    memory::{Log, Tag},
};
