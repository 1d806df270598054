//! Boards that come and go at ports that nobody has named.
//!
//! Patterns of the configuration say which devices may have a board. Each that appears is visited: it
//! is asked, with the two harmless letters that make a board answer, who is there. If a board answers
//! it is used until its device goes away. Anything else that speaks is left alone until its device
//! goes away and comes back. A device at which nobody answers may have a board that is not switched
//! on yet: it is visited again, less and less often.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    task::{JoinSet, spawn_blocking},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{
    backoff::Backoff,
    clock::Clock,
    discovery::{entries, natural},
    engine::Desk,
    port::{Departure, Port, Trouble},
    roster::Roster,
};
use crate::{
    config::{Config, Pattern},
    hall::PortName,
};

/// Looks for devices that the patterns mean.
pub struct Scout {
    map: Arc<Map>,
    places: BTreeMap<PathBuf, Place>,
    visits: JoinSet<(Sighting, Departure)>,
    desk: Desk,
    clock: Clock,
    roster: Arc<Roster>,
}

/// Where to look.
#[derive(Debug)]
struct Map {
    patterns: Vec<Pattern>,
    exclude: Vec<Pattern>,
    /// The ports that are named: they have a task of their own.
    named: Vec<PathBuf>,
}

/// A device that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sighting {
    /// The path that fits a pattern.
    path: PathBuf,
    /// The device to which it leads.
    device: PathBuf,
    /// Tells the device from another one that has its name later.
    node: [u64; 4],
}

/// What is known of a device.
#[derive(Debug)]
struct Place {
    node: [u64; 4],
    visit: Visit,
    backoff: Backoff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visit {
    Now,
    /// Again at this time after the start.
    Later(Duration),
    /// Not as long as the device is there.
    Never,
}

impl Scout {
    /// A scout for the patterns in `config`; none if there are none.
    pub fn new(config: &Config, desk: Desk, clock: Clock, roster: Arc<Roster>) -> Option<Self> {
        let named = config.all_ports().into_iter().chain(config.buses.iter().cloned());
        let map = Map {
            patterns: config.serial.patterns.clone(),
            exclude: config.serial.exclude.clone(),
            named: named.map(|port| PathBuf::from(port.as_str())).collect(),
        };
        (!map.patterns.is_empty()).then(|| Self {
            map: Arc::new(map),
            places: BTreeMap::new(),
            visits: JoinSet::new(),
            desk,
            clock,
            roster,
        })
    }

    /// Looks until `stop`, and then waits for the visits to end.
    pub async fn run(mut self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let map = self.map.clone();
            match spawn_blocking(move || map.look()).await {
                Ok(seen) => self.take_in(seen, &stop),
                Err(error) => debug!("looking for devices failed inside: {error}"),
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep(BETWEEN_LOOKS) => {}
                Some(Ok((sighting, departure))) = self.visits.join_next() => {
                    self.leave(&sighting, departure);
                }
            }
        }
        while self.visits.join_next().await.is_some() {}
    }

    /// Begins to visit whoever is new or due.
    fn take_in(&mut self, present: Vec<Sighting>, stop: &CancellationToken) {
        // A visit notices by itself that its device has gone.
        self.places.retain(|device, place| {
            let same = |now: &Sighting| now.device == *device && now.node == place.node;
            place.visit == Visit::Now || present.iter().any(same)
        });
        for sighting in present {
            let now = self.clock.elapsed();
            let before = self.places.get_mut(&sighting.device);
            let again = match &before {
                None => false,
                Some(Place { visit: Visit::Later(due), .. }) if *due <= now => true,
                Some(_) => continue,
            };
            if let Some(place) = before {
                place.visit = Visit::Now;
            } else {
                let seed = Backoff::seed(&sighting.device.to_string_lossy());
                let backoff = Backoff::new(FIRST_RETURN, LAST_RETURN, seed);
                let place = Place { node: sighting.node, visit: Visit::Now, backoff };
                self.places.insert(sighting.device.clone(), place);
            }
            self.visit(sighting, again, stop.clone());
        }
    }

    fn visit(&mut self, sighting: Sighting, again: bool, stop: CancellationToken) {
        let name = PortName::new(&sighting.path.to_string_lossy());
        let port = Port::new(name.clone(), &sighting.path, self.clock);
        let mut port = port.on_roster(self.roster.clone());
        if again {
            port = port.known_for(Trouble::Quiet);
        }
        let desk = self.desk.clone();
        self.visits.spawn(async move {
            let departure = match desk.sign_on(name).await {
                Some((inputs, requests)) => port.visit(inputs, requests, stop).await,
                None => Departure::Stopped,
            };
            (sighting, departure)
        });
    }

    fn leave(&mut self, sighting: &Sighting, departure: Departure) {
        let Some(place) = self.places.get_mut(&sighting.device) else { return };
        place.visit = match departure {
            Departure::Quiet => Visit::Later(self.clock.elapsed() + place.backoff.delay()),
            Departure::Foreign => Visit::Never,
            Departure::Gone | Departure::Stopped => {
                self.places.remove(&sighting.device);
                return;
            }
        };
    }
}

impl Map {
    /// All devices that are meant, each once, in the order people count.
    fn look(&self) -> Vec<Sighting> {
        let named: Vec<_> =
            self.named.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        let excluded: Vec<_> = self.exclude.iter().flat_map(devices).collect();
        let mut seen: Vec<Sighting> = Vec::new();
        for sighting in self.patterns.iter().flat_map(devices) {
            let same = |other: &Sighting| other.device == sighting.device;
            if !(named.contains(&sighting.device)
                || excluded.iter().any(same)
                || seen.iter().any(same))
            {
                seen.push(sighting);
            }
        }
        seen
    }
}

/// The devices that a pattern means.
fn devices(pattern: &Pattern) -> Vec<Sighting> {
    let paths = entries(pattern.folder()).filter(|path| pattern.fits(path));
    let mut seen: Vec<_> = paths.filter_map(|path| Sighting::at(&path)).collect();
    seen.sort_by_cached_key(|sighting| natural(&sighting.path));
    seen
}

impl Sighting {
    fn at(path: &Path) -> Option<Self> {
        let device = fs::canonicalize(path).ok()?;
        let status = fs::metadata(&device).ok()?;
        let node = [status.dev(), status.ino(), status.ctime() as u64, status.ctime_nsec() as u64];
        let path = path.to_owned();
        status.file_type().is_char_device().then_some(Self { path, device, node })
    }
}

const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// A board that is switched on late is found soon; what stays quiet is asked less and less often.
const FIRST_RETURN: Duration = Duration::from_secs(5);
const LAST_RETURN: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::daemon::testing::Pty;

    fn map(folder: &Path, patterns: &[&str], exclude: &[&str], named: &[&str]) -> Map {
        let read = |names: &[&str]| {
            let full = names.iter().map(|name| format!("{}/{name}", folder.display()));
            full.map(|path| Pattern::new(&path).unwrap()).collect::<Vec<_>>()
        };
        let named = named.iter().map(|name| folder.join(name)).collect();
        Map { patterns: read(patterns), exclude: read(exclude), named }
    }

    fn names(map: &Map) -> Vec<String> {
        let name = |seen: Sighting| seen.path.file_name().unwrap().to_string_lossy().into_owned();
        map.look().into_iter().map(name).collect()
    }

    #[tokio::test]
    async fn a_device_is_seen_once_whatever_its_names_and_not_if_it_is_named_or_excluded() {
        let folder = tempfile::tempdir().unwrap();
        let ptys: Vec<_> = (0..4).map(|_| Pty::open()).collect();
        for (name, pty) in [("usb10", 0), ("usb9", 1), ("usb11", 2), ("usb12", 3), ("id-a", 0)] {
            symlink(&ptys[pty].path, folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("usb1"), "no device").unwrap();
        let map = |exclude: &[&str], named: &[&str]| {
            map(folder.path(), &["usb*", "id-*"], exclude, named)
        };
        assert_eq!(names(&map(&[], &[])), ["usb9", "usb10", "usb11", "usb12"]);
        assert_eq!(names(&map(&["id-?"], &["usb12"])), ["usb9", "usb11"]);
    }

    #[tokio::test]
    async fn a_device_that_comes_back_under_its_name_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("usb0");
        let look = map(folder.path(), &["usb*"], &[], &[]);
        let mut pty = Pty::open();
        symlink(&pty.path, &link).unwrap();
        let before = look.look();
        assert_eq!(look.look(), before, "the same is the same");
        for _ in 0..2 {
            drop(pty);
            fs::remove_file(&link).unwrap();
            assert_eq!(look.look(), []);
            pty = Pty::open();
            symlink(&pty.path, &link).unwrap();
        }
        assert_ne!(look.look(), before);
    }
}
