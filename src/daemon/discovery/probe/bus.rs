//! Asking a bus which boards are on it, without taking anything from them that they tell once only.

use std::{path::Path, time::Duration};

use dgt_protocol::{
    Address, BusCommand, BusDeframer, BusReply, ClockMessage, Content, Identity, Order,
    SerialNumber,
};
use tokio::time::sleep_until;
use tokio_serial::SerialStream;

use super::{Board, Finding};
use crate::daemon::{
    clock::Clock,
    port::{
        Trouble,
        device::{self, Moved},
    },
};

/// Opens the port of a bus, looks for its boards, asks each who it is and what stands on it, and
/// closes the port.
///
/// The boards stay in bus mode, and what changed on them is not read: that a daemon still gets.
pub async fn probe_bus(path: &Path) -> Finding {
    let serial = match device::open(path).await {
        Ok((serial, _)) => serial,
        Err(trouble) => return Finding::Trouble(trouble),
    };
    let (clock, deframer) = (Clock::start(), BusDeframer::new());
    let mut line = Line { serial, clock, deframer, bytes: 0 };
    let finding = match line.boards().await {
        Ok(boards) if !boards.is_empty() => Finding::Bus(boards),
        Ok(_) if line.bytes > 0 => Finding::Foreign { bytes: line.bytes },
        Ok(_) => Finding::Quiet,
        Err(trouble) => Finding::Trouble(trouble),
    };
    device::close(line.serial).await;
    finding
}

/// The line on which all of them speak.
struct Line {
    serial: SerialStream,
    clock: Clock,
    deframer: BusDeframer,
    bytes: usize,
}

impl Line {
    async fn boards(&mut self) -> Result<Vec<Board>, Trouble> {
        // Some adapters need a moment after they were opened.
        self.listen(self.clock.elapsed() + OPENING_PAUSE, |_| false).await?;
        let mut boards = Vec::new();
        for address in self.search().await? {
            boards.push(self.ask(address).await?);
        }
        Ok(boards)
    }

    /// Who answers a ping to all, in the order of the addresses. Answers of many boards collide: who
    /// was heard is told to be quiet the next time, until nobody is left.
    async fn search(&mut self) -> Result<Vec<Address>, Trouble> {
        let mut known: Vec<Address> = Vec::new();
        let mut calm = 0;
        for _ in 0..MOST_ROUNDS {
            for address in known.clone() {
                self.request(address, Order::IgnoreNextPing).await?;
            }
            let (before, heard) = (known.len(), self.bytes);
            self.send(BusCommand::to_all(Order::Ping)).await?;
            let until = self.clock.elapsed() + PING_WINDOW;
            self.listen(until, |reply| {
                if reply.content == Content::Pong && !known.contains(&reply.address) {
                    known.push(reply.address);
                }
                false
            })
            .await?;
            let surprised = known.len() > before || self.bytes > heard;
            calm = if surprised { 0 } else { calm + 1 };
            if calm == CALM_ROUNDS || known.len() >= MOST_BOARDS {
                break;
            }
        }
        known.sort_unstable();
        Ok(known)
    }

    async fn ask(&mut self, address: Address) -> Result<Board, Trouble> {
        let mut board = Board {
            identity: Identity {
                serial_number: SerialNumber::from_number(address.number().into()),
                bus_address: Some(address.number()),
                ..Identity::default()
            },
            ..Board::default()
        };
        for order in [Order::ReadVersion, Order::ReadClock, Order::ReadBoard] {
            match self.request(address, order).await? {
                Some(Content::Version(version)) => board.identity.version = version,
                Some(Content::Clock(ClockMessage::Times(times))) => {
                    board.clock = Some(times).filter(|times| times.connected);
                }
                Some(Content::Dump(dump)) => board.dump = Some(dump),
                _ => {}
            }
        }
        Ok(board)
    }

    /// One board's answer, if it comes in a few attempts.
    async fn request(
        &mut self,
        address: Address,
        order: Order,
    ) -> Result<Option<Content>, Trouble> {
        for _ in 0..ATTEMPTS {
            self.send(BusCommand::to(address, order)).await?;
            let mut answer = None;
            let until = self.clock.elapsed() + REPLY_TIMEOUT;
            self.listen(until, |reply| {
                let fits = reply.address == address && answers(&reply.content, order);
                if fits {
                    answer = Some(reply.content.clone());
                }
                fits
            })
            .await?;
            if answer.is_some() {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    async fn send(&mut self, command: BusCommand) -> Result<(), Trouble> {
        let mut unsent = Vec::new();
        command.encode(&mut unsent);
        let until = self.clock.elapsed() + REPLY_TIMEOUT;
        let mut buffer = [0; 512];
        while !unsent.is_empty() {
            tokio::select! {
                biased;
                moved = device::transfer(&mut self.serial, &mut buffer, &unsent) => match moved {
                    Ok(Moved::In(0)) => return Err(Trouble::Gone),
                    // Whatever was said before the question is no answer to it.
                    Ok(Moved::In(length)) => self.bytes += length,
                    Ok(Moved::Out(length)) => drop(unsent.drain(..length)),
                    Err(error) => return Err(Trouble::of_transfer(&error)),
                },
                () = sleep_until(self.clock.after_start(until)) => return Err(Trouble::Deaf),
            }
        }
        self.deframer = BusDeframer::new();
        Ok(())
    }

    /// Hears answers until a time, or until one is `enough`.
    async fn listen(
        &mut self,
        until: Duration,
        mut enough: impl FnMut(&BusReply) -> bool,
    ) -> Result<(), Trouble> {
        let mut buffer = [0; 512];
        loop {
            tokio::select! {
                biased;
                // A line that never pauses must not keep anybody here.
                () = sleep_until(self.clock.after_start(until)) => return Ok(()),
                moved = device::transfer(&mut self.serial, &mut buffer, &[]) => match moved {
                    Ok(Moved::In(0)) => return Err(Trouble::Gone),
                    Ok(Moved::In(length)) => {
                        self.bytes += length;
                        self.deframer.push(&buffer[..length]);
                        let mut replies = self.deframer.by_ref().flatten();
                        if replies.any(|reply| enough(&reply)) {
                            return Ok(());
                        }
                    }
                    Ok(Moved::Out(_)) => {}
                    Err(error) => return Err(Trouble::of_transfer(&error)),
                },
            }
        }
    }
}

fn answers(content: &Content, order: Order) -> bool {
    matches!(
        (order, content),
        (Order::IgnoreNextPing | Order::Ping, Content::Pong)
            | (Order::ReadVersion, Content::Version(_))
            | (Order::ReadClock, Content::Clock(_))
            | (Order::ReadBoard, Content::Dump(_))
    )
}

const OPENING_PAUSE: Duration = Duration::from_millis(300);

/// Boards wait up to 1100 ms before they answer a ping to all.
const PING_WINDOW: Duration = Duration::from_millis(1300);

/// The longest answer takes 73 ms on the line; an adapter and a busy machine add to that.
const REPLY_TIMEOUT: Duration = Duration::from_millis(300);
const ATTEMPTS: usize = 3;

/// Rounds of the search without anything new, and in all.
const CALM_ROUNDS: usize = 2;
const MOST_ROUNDS: usize = 12;
const MOST_BOARDS: usize = 64;
