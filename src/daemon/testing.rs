//! What several tests of this layer need.

use std::path::PathBuf;

use rustix::pty::OpenptFlags;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

use crate::{game::Timestamp, hall::Recorded};

/// Some event with this number.
pub(crate) fn recorded(id: u64) -> Recorded {
    Recorded { id, at: Timestamp::from_millis(id), table: 1, event: format!("event {id}") }
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
