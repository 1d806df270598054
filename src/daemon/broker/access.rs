//! Who may do what at the broker inside the daemon. No word of the broker's library.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use crate::config::secret::Secret;

/// The rules: anybody may read what is public, accounts may read everything, and only the daemon
/// itself may write.
pub(super) struct Access {
    base: String,
    /// The client id of the daemon's own connection.
    own_id: String,
    accounts: BTreeMap<String, Secret>,
    /// Which account has used which client id. An id is the key to a session with all that waits
    /// in it, and connecting with it throws out whoever uses it: it stays with its account. The
    /// latest to log in is at the end.
    owners: Mutex<VecDeque<Owned>>,
}

struct Owned {
    client_id: String,
    account: String,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No such account, or not this password.
    WrongPassword,
    /// The client id belongs to an account.
    ForeignId,
}

impl Access {
    /// The rules for the topics below `base`. The daemon logs in as [`DAEMON`] with `secret`.
    pub(super) fn new(base: &str, secret: Secret, arbiters: BTreeMap<String, Secret>) -> Self {
        let mut accounts = arbiters;
        accounts.insert(DAEMON.to_owned(), secret);
        let owners = Mutex::default();
        Self { base: base.to_owned(), own_id: base.replace('/', "-"), accounts, owners }
    }

    /// Checks a log-in. Gives the account, or `None` for a reader without one.
    pub(super) fn log_in(
        &self,
        client_id: &str,
        user: Option<&str>,
        password: Option<&[u8]>,
    ) -> Result<Option<String>, Refusal> {
        let account = match user {
            Some(user) => {
                let secret = self.accounts.get(user).ok_or(Refusal::WrongPassword)?;
                let password = password.unwrap_or_default();
                if !same(secret.reveal().as_bytes(), password) {
                    return Err(Refusal::WrongPassword);
                }
                Some(user)
            }
            None => None,
        };
        if client_id == self.own_id && account != Some(DAEMON) {
            return Err(Refusal::ForeignId);
        }
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let place = owners.iter().position(|owned| owned.client_id == client_id);
        if place.is_some_and(|place| Some(owners[place].account.as_str()) != account) {
            return Err(Refusal::ForeignId);
        }
        if let Some(account) = account {
            // Tools that make up an id for each connection must not use up the places.
            if let Some(place) = place {
                owners.remove(place);
            } else if owners.len() == MAX_OWNED_IDS {
                owners.pop_front();
            }
            let (client_id, account) = (client_id.to_owned(), account.to_owned());
            owners.push_back(Owned { client_id, account });
        }
        Ok(account.map(str::to_owned))
    }

    /// Whether `user` may publish to `topic`.
    pub(super) fn may_publish(&self, user: Option<&str>, topic: &str) -> bool {
        user == Some(DAEMON)
            && topic.strip_prefix(&self.base).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whether `user` may subscribe to `filter`. Wildcards must not reach further than the
    /// permission does: the broker delivers whatever a filter matches.
    pub(super) fn may_subscribe(&self, user: Option<&str>, filter: &str) -> bool {
        if user.is_some() {
            return true;
        }
        let filter = match filter.strip_prefix("$share/") {
            Some(shared) => match shared.split_once('/') {
                Some((_, filter)) => filter,
                None => return false,
            },
            None => filter,
        };
        let Some(filter) = filter.strip_prefix(&self.base).and_then(|f| f.strip_prefix('/')) else {
            return false;
        };
        PUBLIC.iter().any(|public| covers(public, filter))
    }
}

/// The account of the daemon itself.
pub(super) const DAEMON: &str = "boardcast-daemon";

/// What anybody may read, below the base.
pub(super) const PUBLIC: [&str; 2] = ["status", "public/#"];

/// Whether every topic that `filter` matches is matched by `permitted` too.
fn covers(permitted: &str, filter: &str) -> bool {
    let (mut permitted, mut filter) = (permitted.split('/'), filter.split('/'));
    loop {
        match (permitted.next(), filter.next()) {
            // `a/#` matches `a` as well.
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(level)) if level != "#" => {}
            (Some(own), Some(level)) if own == level && level != "#" && level != "+" => {}
            _ => return false,
        }
    }
}

/// Compares without telling by the time it takes how much is right.
fn same(secret: &[u8], given: &[u8]) -> bool {
    let mut difference = u8::from(secret.len() != given.len());
    for (i, byte) in given.iter().enumerate() {
        difference |= byte ^ secret.get(i).copied().unwrap_or(!byte);
    }
    std::hint::black_box(difference) == 0
}

/// Ids remembered for accounts; more than arbiters have devices.
const MAX_OWNED_IDS: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        let arbiters = BTreeMap::from([("anna".to_owned(), Secret::new("pass"))]);
        Access::new("boardcast/hall", Secret::new("random"), arbiters)
    }

    #[test]
    fn strangers_read_what_is_public_and_nothing_that_could_match_more() {
        let access = access();
        for filter in [
            "boardcast/hall/status",
            "boardcast/hall/public/#",
            "boardcast/hall/public",
            "boardcast/hall/public/table/+/game",
            "boardcast/hall/public/+/3/#",
            "$share/group/boardcast/hall/public/#",
        ] {
            assert!(access.may_subscribe(None, filter), "{filter}");
        }
        for filter in [
            "#",
            "+/#",
            "boardcast/#",
            "boardcast/hall/#",
            "boardcast/hall/+",
            "boardcast/hall/+/table/1/game",
            "boardcast/hall/+/#",
            "boardcast/+/public/#",
            "boardcast/hall/status/#",
            "boardcast/hall/arbiter/table/1/live",
            "boardcast/hall",
            "boardcast/hallway/public/#",
            "$share/group/#",
            "$share/group/boardcast/hall/arbiter/#",
            "$share/#",
            "$share/group",
            "$SYS/#",
            "/boardcast/hall/public/#",
            "",
        ] {
            assert!(!access.may_subscribe(None, filter), "{filter}");
        }
        assert!(access.may_subscribe(Some("anna"), "#"));
    }

    #[test]
    fn only_the_daemon_writes_and_only_below_its_base() {
        let access = access();
        let topic = "boardcast/hall/public/table/1/game";
        assert!(access.may_publish(Some(DAEMON), topic));
        assert!(!access.may_publish(Some(DAEMON), "boardcast/hallway/status"));
        assert!(!access.may_publish(Some("anna"), topic));
        assert!(!access.may_publish(None, topic));
    }

    #[test]
    fn passwords_decide_and_client_ids_stay_with_their_account() {
        let access = access();
        let log_in = |id, user, password: &str| access.log_in(id, user, Some(password.as_bytes()));
        assert_eq!(access.log_in("screen", None, None), Ok(None));
        assert_eq!(log_in("tablet", Some("anna"), "pass"), Ok(Some("anna".to_owned())));
        for password in ["", "pas", "passs", "Pass"] {
            assert_eq!(log_in("x", Some("anna"), password), Err(Refusal::WrongPassword));
        }
        assert_eq!(log_in("x", Some("bob"), "pass"), Err(Refusal::WrongPassword));
        assert_eq!(access.log_in("x", Some("anna"), None), Err(Refusal::WrongPassword));

        // Nobody gets at the session of an account, or throws the daemon out, by using its id.
        assert_eq!(access.log_in("tablet", None, None), Err(Refusal::ForeignId));
        assert_eq!(log_in("boardcast-hall", Some("anna"), "pass"), Err(Refusal::ForeignId));
        let own = log_in("boardcast-hall", Some(DAEMON), "random");
        assert_eq!(own, Ok(Some(DAEMON.to_owned())));
        assert_eq!(log_in("tablet", Some("anna"), "pass"), Ok(Some("anna".to_owned())));
    }

    #[test]
    fn many_made_up_ids_do_not_push_out_one_that_is_used() {
        let access = access();
        let log_in = |id: &str| access.log_in(id, Some("anna"), Some(b"pass"));
        for i in 0..3 * MAX_OWNED_IDS {
            log_in(&format!("made-up-{i}")).unwrap();
            if i % (MAX_OWNED_IDS / 2) == 0 {
                log_in("tablet").unwrap();
            }
        }
        assert_eq!(access.log_in("tablet", None, None), Err(Refusal::ForeignId));
        let last = format!("made-up-{}", 3 * MAX_OWNED_IDS - 1);
        assert_eq!(access.log_in(&last, None, None), Err(Refusal::ForeignId));
        assert_eq!(access.log_in("made-up-0", None, None), Ok(None));
        assert_eq!(access.owners.lock().unwrap().len(), MAX_OWNED_IDS);
    }
}
