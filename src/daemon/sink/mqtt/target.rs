//! The broker that is published to, as the client needs it.

use std::time::Duration;

use rumqttc::{
    MqttOptions, Transport,
    mqttbytes::{QoS, v5::LastWill},
};

use crate::{
    config::{secret::Secret, url::BrokerUrl},
    daemon::clock::Clock,
    view::topic::{self, Online},
};

/// A broker and how to log in there.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it is. An account in the address is not used.
    pub url: BrokerUrl,
    /// User and password.
    pub credentials: Option<(String, Secret)>,
    /// The authority that signed the broker's certificate, in PEM form, if it is not one that the
    /// system knows.
    pub ca: Option<Vec<u8>>,
}

impl Target {
    /// # Errors
    ///
    /// If TLS cannot be set up; the text says why.
    pub(super) fn options(&self, base: &str, clock: Clock) -> Result<MqttOptions, String> {
        let url = &self.url;
        // The same name in every run: a broker that still believes in a connection of the last run
        // ends it, last will included, before it accepts this one.
        let id = base.replace('/', "-");
        let mut options = MqttOptions::new(id, (url.host.clone(), url.port));
        options
            .set_keep_alive(KEEP_ALIVE_S)
            .set_connect_timeout(CONNECT_TIMEOUT)
            .set_clean_start(true);
        let will = topic::status(Online::Offline, clock.started());
        let topic = format!("{base}/{}", will.topic);
        options.set_last_will(LastWill::new(topic, will.payload, QoS::AtLeastOnce, true, None));
        if let Some((user, password)) = &self.credentials {
            options.set_credentials(user.clone(), password.reveal().to_owned());
        }
        if url.tls {
            let transport = match &self.ca {
                Some(ca) => Transport::tls(ca.clone(), None, None),
                None => Transport::try_tls_with_default_config().map_err(|error| {
                    format!("the certificates of this system cannot be read: {error}")
                })?,
            };
            options.set_transport(transport);
        }
        Ok(options)
    }
}

/// A broker that is gone is noticed, and a daemon that is gone declared offline, within about half
/// again as much.
const KEEP_ALIVE_S: u16 = 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
