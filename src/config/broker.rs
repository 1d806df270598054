//! `[broker]`: where everything is published.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use serde::Deserialize;
use toml::Spanned;

use super::{
    check::Check,
    secret::{Secret, SecretError},
    url::BrokerUrl,
};

/// Where everything is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broker {
    /// At a broker inside the daemon.
    Embedded(Embedded),
    /// At another broker.
    Outside(Outside),
}

/// The broker inside the daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The address to listen on; loopback unless others may look.
    pub listen: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Who may read what is kept from the public.
    pub arbiters: Vec<Account>,
}

/// Another broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Where it is.
    pub url: BrokerUrl,
    /// The account there, if the address has none.
    pub account: Option<Account>,
    /// The authority that signed the broker's certificate, if it is none of the system's (PEM).
    pub ca_file: Option<PathBuf>,
}

/// A name and the file that holds its password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name.
    pub user: String,
    /// The file with the password and nothing else.
    pub password_file: PathBuf,
}

impl Default for Broker {
    fn default() -> Self {
        Self::Embedded(Embedded::default())
    }
}

impl Default for Embedded {
    fn default() -> Self {
        Self { listen: Ipv4Addr::LOCALHOST.into(), port: DEFAULT_PORT, arbiters: Vec::new() }
    }
}

impl Embedded {
    /// Where to listen.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.listen, self.port)
    }
}

impl Outside {
    /// The broker at this address, with the account that the address names.
    pub fn new(url: BrokerUrl) -> Self {
        Self { url, account: None, ca_file: None }
    }

    /// The user and password to log in with.
    ///
    /// # Errors
    ///
    /// If the password file cannot be read.
    pub fn credentials(&self) -> Result<Option<(String, Secret)>, SecretError> {
        if let Some(account) = &self.account {
            return Ok(Some((account.user.clone(), account.password()?)));
        }
        let empty = || Secret::new("");
        let BrokerUrl { user, password, .. } = &self.url;
        Ok(user.clone().map(|user| (user, password.clone().unwrap_or_else(empty))))
    }
}

impl Account {
    /// Reads the password.
    ///
    /// # Errors
    ///
    /// If its file cannot be read.
    pub fn password(&self) -> Result<Secret, SecretError> {
        Secret::read(&self.password_file)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    url: Option<Spanned<String>>,
    user: Option<Spanned<String>>,
    password_file: Option<Spanned<PathBuf>>,
    ca_file: Option<Spanned<PathBuf>>,
    listen: Option<Spanned<String>>,
    port: Option<Spanned<u16>>,
    arbiter: Vec<AccountSection>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct AccountSection {
    user: Spanned<String>,
    password_file: PathBuf,
}

impl Section {
    pub(super) fn check(self, check: &mut Check<'_>) -> Broker {
        let Some(url) = &self.url else {
            self.refuse_outside(check);
            return Broker::Embedded(self.embedded(check));
        };
        self.refuse_embedded(check);
        self.outside(url, check).map_or_else(Broker::default, Broker::Outside)
    }

    fn outside(&self, text: &Spanned<String>, check: &mut Check<'_>) -> Option<Outside> {
        let url: BrokerUrl = match text.get_ref().parse() {
            Ok(url) => url,
            Err(error) => {
                check.report(&text.span(), "broker.url", error.to_string());
                return None;
            }
        };
        if url.password.is_some() {
            let message = "a password does not belong here; write it to a file of its own that \
                           only the daemon can read, and name that with `password-file`";
            check.report(&text.span(), "broker.url", message);
            return None;
        }
        if let Some(ca) = self.ca_file.as_ref().filter(|_| !url.tls) {
            let message = "certificates need TLS; expected an `url` that begins with mqtts://";
            check.report(&ca.span(), "broker.ca-file", message);
        }
        let user = self.user.as_ref().map(|user| (user.span(), check.name("broker.user", user)));
        let user = user.map(|(_, user)| user).or_else(|| url.user.clone());
        let account = match (user, &self.password_file) {
            (Some(user), Some(file)) => {
                Some(Account { user, password_file: file.get_ref().clone() })
            }
            (None, None) => None,
            (Some(_), None) => {
                let span = self.user.as_ref().map_or_else(|| text.span(), Spanned::span);
                let message = "expected a `password-file` for this user";
                check.report(&span, "broker.user", message);
                None
            }
            (None, Some(file)) => {
                let message = "expected the `user` whose password this is";
                check.report(&file.span(), "broker.password-file", message);
                None
            }
        };
        Some(Outside { url, account, ca_file: self.ca_file.as_ref().map(|f| f.get_ref().clone()) })
    }

    fn embedded(&self, check: &mut Check<'_>) -> Embedded {
        let default = Embedded::default();
        let listen = self.listen.as_ref().and_then(|ip| check.address("broker.listen", ip));
        let mut arbiters: Vec<Account> = Vec::new();
        for account in &self.arbiter {
            let user = check.name("broker.arbiter.user", &account.user);
            if arbiters.iter().any(|known| known.user == user) {
                let message = format!("`{user}` is there twice; expected each name once");
                check.report(&account.user.span(), "broker.arbiter.user", message);
            }
            arbiters.push(Account { user, password_file: account.password_file.clone() });
        }
        Embedded {
            listen: listen.unwrap_or(default.listen),
            port: self.port.as_ref().map_or(default.port, |port| *port.get_ref()),
            arbiters,
        }
    }

    fn refuse_embedded(&self, check: &mut Check<'_>) {
        let message = "this is for the broker inside the daemon, but `url` names another broker; \
                       expected one or the other";
        if let Some(listen) = &self.listen {
            check.report(&listen.span(), "broker.listen", message);
        }
        if let Some(port) = &self.port {
            check.report(&port.span(), "broker.port", message);
        }
        if let Some(account) = self.arbiter.first() {
            check.report(&account.user.span(), "broker.arbiter", message);
        }
    }

    fn refuse_outside(&self, check: &mut Check<'_>) {
        let message = "this is for another broker; expected its `url` too";
        if let Some(user) = &self.user {
            check.report(&user.span(), "broker.user", message);
        }
        for (key, file) in
            [("broker.password-file", &self.password_file), ("broker.ca-file", &self.ca_file)]
        {
            if let Some(file) = file {
                check.report(&file.span(), key, message);
            }
        }
    }
}

const DEFAULT_PORT: u16 = 1883;
