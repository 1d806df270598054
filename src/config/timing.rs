//! `[timing]`: the constants of the reading rules, in seconds.

use serde::Deserialize;
use toml::Spanned;

use super::check::Check;
use crate::game::Settings;

#[expect(clippy::struct_field_names, reason = "the keys of the file, which carry their unit")]
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Section {
    settle_s: Option<Spanned<f64>>,
    press_grace_s: Option<Spanned<f64>>,
    signal_hold_s: Option<Spanned<f64>>,
    setup_stable_s: Option<Spanned<f64>>,
}

impl Section {
    /// The settings of all tables, where the file says nothing else.
    pub(super) fn check(self, check: &mut Check<'_>) -> Settings {
        let default = Settings::default();
        let mut ms = |key: &str, value: &Option<Spanned<f64>>, range, default| {
            let seconds = value.as_ref().and_then(|value| check.within(key, value, range));
            seconds.map_or(default, |seconds| (seconds * 1000.0).round() as u64)
        };
        Settings {
            settle_ms: ms("timing.settle-s", &self.settle_s, 0.1..=10.0, default.settle_ms),
            press_grace_ms: ms(
                "timing.press-grace-s",
                &self.press_grace_s,
                0.0..=5.0,
                default.press_grace_ms,
            ),
            signal_hold_ms: ms(
                "timing.signal-hold-s",
                &self.signal_hold_s,
                0.5..=60.0,
                default.signal_hold_ms,
            ),
            setup_stable_ms: ms(
                "timing.setup-stable-s",
                &self.setup_stable_s,
                0.5..=60.0,
                default.setup_stable_ms,
            ),
            ..default
        }
    }
}
