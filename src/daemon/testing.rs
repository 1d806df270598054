//! What several tests of this layer need.

use std::path::PathBuf;

use dgt_protocol::{Dump, PieceCode};
use rustix::pty::OpenptFlags;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use crate::{
    game::{Event, Timestamp},
    hall::Recorded,
};

/// Some event with this number.
pub(crate) fn recorded(id: u64) -> Recorded {
    let event = Event::Link { up: id.is_multiple_of(2) };
    Recorded { id, at: Timestamp::from_millis(id), table: 1, event }
}

/// The array of a new game, as a board at the usual side reports it.
pub(crate) fn array() -> Dump {
    use PieceCode as P;
    let mut codes = [P::Empty; 64];
    codes[..16].copy_from_slice(&[
        P::BlackRook,
        P::BlackKnight,
        P::BlackBishop,
        P::BlackQueen,
        P::BlackKing,
        P::BlackBishop,
        P::BlackKnight,
        P::BlackRook,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
        P::BlackPawn,
    ]);
    codes[48..].copy_from_slice(&[
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhitePawn,
        P::WhiteRook,
        P::WhiteKnight,
        P::WhiteBishop,
        P::WhiteQueen,
        P::WhiteKing,
        P::WhiteBishop,
        P::WhiteKnight,
        P::WhiteRook,
    ]);
    Dump::new(codes)
}

/// The far end of a serial line, as a board would hold it; dropping it pulls the cable.
pub(crate) struct Pty {
    // tokio's pipe ends take any descriptor that can be polled.
    read: pipe::Receiver,
    write: pipe::Sender,
    pub(crate) path: PathBuf,
}

impl Pty {
    pub(crate) fn open() -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        rustix::io::ioctl_fionbio(&master, true).unwrap();
        let path = rustix::pty::ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let read = pipe::Receiver::from_owned_fd_unchecked(master.try_clone().unwrap()).unwrap();
        let write = pipe::Sender::from_owned_fd_unchecked(master).unwrap();
        Self { read, write, path: path.into() }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.unwrap();
    }

    /// Waits for that many bytes.
    pub(crate) async fn receive(&mut self, count: usize) -> Vec<u8> {
        let mut received = vec![0; count];
        self.read.read_exact(&mut received).await.unwrap();
        received
    }
}
