//! Why there is no connection to the broker, in words that say what to do.

use std::io;

use rumqttc::mqttbytes::v5::{ConnectReturnCode, DisconnectReasonCode};
use rumqttc::{ConnectionError, StateError, TlsError};

use crate::config::url::BrokerUrl;

/// One sentence for the operator. Never shows a password. `established` tells whether the broker
/// had accepted the connection.
pub(super) fn explain(url: &BrokerUrl, error: &ConnectionError, established: bool) -> String {
    match error {
        ConnectionError::MqttState(StateError::ServerDisconnect { reason_code, .. })
            if *reason_code == DisconnectReasonCode::SessionTakenOver =>
        {
            format!(
                "another boardcast with the same `site` has connected to {url}: give each hall a \
                 `site` of its own in `[event]`"
            )
        }
        // Some brokers do not say why.
        ConnectionError::MqttState(StateError::ConnectionAborted) if established => format!(
            "{url} closed the connection: if that goes on and the broker is well, another \
             boardcast with the same `site` uses it too"
        ),
        ConnectionError::Io(error) | ConnectionError::MqttState(StateError::Io(error)) => {
            explain_io(url, error)
        }
        ConnectionError::Timeout(_) => {
            format!(
                "no answer from {url}: check the address and the network between here and there"
            )
        }
        ConnectionError::ConnectionRefused(code) => explain_refusal(url, *code),
        ConnectionError::Tls(error) => explain_tls(url, error),
        ConnectionError::MqttState(StateError::AwaitPingResp) => {
            format!("{url} does not answer any more")
        }
        // Whatever the library makes of it, the other side did not behave like a broker.
        ConnectionError::MqttState(_) | ConnectionError::NotConnAck(_) if !established => {
            let other = if url.tls { "without TLS (mqtt://)" } else { "for TLS only (mqtts://)" };
            format!(
                "{url} does not answer like a broker: is an MQTT 5 broker on that port, and is it \
                 perhaps {other}? ({error})"
            )
        }
        error => format!("the connection to {url} failed: {error}"),
    }
}

fn explain_io(url: &BrokerUrl, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!(
            "nothing listens at {url}: start the broker there, or correct `url` in `[broker]`"
        ),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => {
            format!("{url} closed the connection")
        }
        _ => format!("{url} cannot be reached: {error}"),
    }
}

fn explain_refusal(url: &BrokerUrl, code: ConnectReturnCode) -> String {
    match code {
        ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized => format!(
            "{url} refuses the user or the password: check `user` and `password-file` in `[broker]`"
        ),
        ConnectReturnCode::UnsupportedProtocolVersion
        | ConnectReturnCode::RefusedProtocolVersion => {
            format!("{url} does not speak MQTT 5: update the broker (Mosquitto from 1.6 on does)")
        }
        code => format!("{url} refuses the connection: {code:?}"),
    }
}

fn explain_tls(url: &BrokerUrl, error: &TlsError) -> String {
    match error {
        TlsError::NoValidCertInChain | TlsError::Pem(_) => {
            "the file that `ca-file` names holds no certificate in PEM form".to_owned()
        }
        TlsError::Io(error) if error.to_string().contains("invalid peer certificate") => format!(
            "the certificate of {url} is not trusted ({error}): name the file of the authority \
             that signed it with `ca-file` in `[broker]`, and the host as the certificate names it"
        ),
        TlsError::Io(error) => explain_io(url, error),
        error => format!("no TLS connection to {url}: {error}"),
    }
}
