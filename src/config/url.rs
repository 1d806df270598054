//! The address of a broker as people write it: `mqtt://[user[:password]@]host[:port]`, or `mqtts`
//! for TLS.

use std::{fmt, str::FromStr};

use super::secret::Secret;

/// Where a broker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerUrl {
    /// Whether to speak TLS.
    pub tls: bool,
    /// A name or an IP address, without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The account, if the address names one.
    pub user: Option<String>,
    /// The password, if the address has one.
    pub password: Option<Secret>,
}

/// What is wrong with an address. Never shows a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerUrlError {
    /// It begins with neither `mqtt://` nor `mqtts://`.
    Scheme,
    /// It is MQTT over WebSocket.
    WebSocket,
    /// There is no host.
    NoHost,
    /// The host has characters that no host has.
    Host,
    /// The port is no number from 1 to 65535.
    Port,
    /// Something follows the port.
    Path,
    /// A `%` without two hexadecimal digits, or what they give is no text.
    Escape,
    /// It is longer than any address.
    Long,
}

impl FromStr for BrokerUrl {
    type Err = BrokerUrlError;

    fn from_str(text: &str) -> Result<Self, BrokerUrlError> {
        let text = text.trim();
        if text.len() > MAX_BYTES {
            return Err(BrokerUrlError::Long);
        }
        let (scheme, rest) = text.split_once("://").ok_or(BrokerUrlError::Scheme)?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "mqtt" | "tcp" => false,
            "mqtts" | "ssl" => true,
            "ws" | "wss" => return Err(BrokerUrlError::WebSocket),
            _ => return Err(BrokerUrlError::Scheme),
        };
        // The last `@` ends the account: a password may have one of its own.
        let (account, place) = match rest.rsplit_once('@') {
            Some((account, place)) => (Some(account), place),
            None => (None, rest),
        };
        let place = place.strip_suffix('/').unwrap_or(place);
        if place.contains(['/', '?', '#']) {
            return Err(BrokerUrlError::Path);
        }
        let (host, port) = split_place(place)?;
        let (user, password) = match account.map(|account| account.split_once(':')) {
            Some(Some((user, password))) => (Some(user), Some(password)),
            Some(None) => (account, None),
            None => (None, None),
        };
        Ok(Self {
            tls,
            host: host.to_owned(),
            port: match port {
                Some(port) => port,
                None if tls => 8883,
                None => 1883,
            },
            user: user.filter(|user| !user.is_empty()).map(unescape).transpose()?,
            password: password.map(unescape).transpose()?.map(Secret::new),
        })
    }
}

impl fmt::Display for BrokerUrl {
    /// The address without the account.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "mqtts" } else { "mqtt" };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{open}{}{close}:{}", self.host, self.port)
    }
}

impl fmt::Display for BrokerUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "expected mqtt://host, or mqtts://host for TLS",
            Self::WebSocket => {
                "MQTT over WebSocket is for browsers; expected the broker's own port as \
                 mqtt://host or mqtts://host"
            }
            Self::NoHost => "the host is missing; expected mqtt://host:port",
            Self::Host => "the host is neither a name nor an IP address (IPv6 goes in brackets)",
            Self::Port => "the port is not a number from 1 to 65535",
            Self::Path => {
                "nothing may follow host and port: the topics come from `site` in `[event]`, and \
                 a `#`, `?` or `/` in a password is written as %23, %3F or %2F"
            }
            Self::Escape => "a `%` needs two hexadecimal digits; a real one is written as %25",
            Self::Long => "it is too long for an address",
        })
    }
}

impl std::error::Error for BrokerUrlError {}

fn split_place(place: &str) -> Result<(&str, Option<u16>), BrokerUrlError> {
    let (host, port) = if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(BrokerUrlError::Host)?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| BrokerUrlError::Host)?;
        match rest.strip_prefix(':') {
            Some(port) => (host, Some(port)),
            None if rest.is_empty() => (host, None),
            None => return Err(BrokerUrlError::Host),
        }
    } else {
        match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    if host.is_empty() {
        return Err(BrokerUrlError::NoHost);
    }
    if !host.contains(':')
        && !host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
    {
        return Err(BrokerUrlError::Host);
    }
    let port = match port {
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port > 0 => Some(port),
            _ => return Err(BrokerUrlError::Port),
        },
        None => None,
    };
    Ok((host, port))
}

/// Resolves `%` escapes, which accounts and passwords need for the signs of an address.
fn unescape(text: &str) -> Result<String, BrokerUrlError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return Err(BrokerUrlError::Escape),
        }
    }
    String::from_utf8(bytes).map_err(|_| BrokerUrlError::Escape)
}

const MAX_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> (bool, String, u16, Option<String>, Option<String>) {
        let url: BrokerUrl = text.parse().unwrap();
        let password = url.password.map(|password| password.reveal().to_owned());
        (url.tls, url.host, url.port, url.user, password)
    }

    #[test]
    fn addresses_as_people_write_them() {
        let owned = |text: &str| Some(text.to_owned());
        let plain = (false, "broker.local".to_owned(), 1883, None, None);
        assert_eq!(parts("mqtt://broker.local"), plain);
        assert_eq!(parts(" MQTT://broker.local:1883/ "), plain);
        assert_eq!(parts("mqtts://10.0.0.7"), (true, "10.0.0.7".to_owned(), 8883, None, None));
        assert_eq!(parts("mqtt://[::1]:1884"), (false, "::1".to_owned(), 1884, None, None));
        assert_eq!(parts("mqtt://anna@h:2"), (false, "h".to_owned(), 2, owned("anna"), None));
        assert_eq!(
            parts("mqtt://anna:p@ss%3A%25%2F@h"),
            (false, "h".to_owned(), 1883, owned("anna"), owned("p@ss:%/"))
        );
    }

    #[test]
    fn everything_else_is_explained() {
        for (text, error) in [
            ("broker.local", BrokerUrlError::Scheme),
            ("http://broker.local", BrokerUrlError::Scheme),
            ("wss://broker.local/mqtt", BrokerUrlError::WebSocket),
            ("mqtt://", BrokerUrlError::NoHost),
            ("mqtt://:1883", BrokerUrlError::NoHost),
            ("mqtt://a b", BrokerUrlError::Host),
            ("mqtt://::1", BrokerUrlError::NoHost),
            ("mqtt://[::1", BrokerUrlError::Host),
            ("mqtt://h:0", BrokerUrlError::Port),
            ("mqtt://h:65536", BrokerUrlError::Port),
            ("mqtt://h:1883/chess", BrokerUrlError::Path),
            ("mqtt://u:%4@h", BrokerUrlError::Escape),
        ] {
            assert_eq!(text.parse::<BrokerUrl>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_password_is_never_printed() {
        let url: BrokerUrl = "mqtts://anna:hunter2@h".parse().unwrap();
        assert_eq!(url.to_string(), "mqtts://h:8883");
        assert!(!format!("{url:?}").contains("hunter2"));
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_read_is_written_the_same(text in ".{0,80}") {
            for text in [text.clone(), format!("mqtt://{text}")] {
                if let Ok(url) = text.parse::<BrokerUrl>() {
                    let again: BrokerUrl = url.to_string().parse().unwrap();
                    prop_assert_eq!((again.tls, again.host, again.port), (url.tls, url.host, url.port));
                }
            }
        }
    }
}
