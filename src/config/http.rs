//! `[http]`: the web port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Deserialize;

use super::check::Check;

/// The web port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Http {
    /// Whether there is one.
    pub enabled: bool,
    /// The address to listen on; loopback unless others may look.
    pub listen: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
}

impl Default for Http {
    fn default() -> Self {
        Self { enabled: true, listen: Ipv4Addr::LOCALHOST.into(), port: DEFAULT_PORT }
    }
}

impl Http {
    /// Where to listen, if at all.
    pub fn address(&self) -> Option<SocketAddr> {
        self.enabled.then(|| SocketAddr::new(self.listen, self.port))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    enabled: Option<bool>,
    listen: Option<toml::Spanned<String>>,
    port: Option<u16>,
}

impl Section {
    pub(super) fn check(self, check: &mut Check<'_>) -> Http {
        let default = Http::default();
        let listen = self.listen.and_then(|listen| check.address("http.listen", &listen));
        Http {
            enabled: self.enabled.unwrap_or(default.enabled),
            listen: listen.unwrap_or(default.listen),
            port: self.port.unwrap_or(default.port),
        }
    }
}

const DEFAULT_PORT: u16 = 8380;
