use proptest::prelude::*;

use super::*;

fn secs(time: u64) -> Duration {
    Duration::from_secs(time)
}

#[test]
fn reads_every_kind_of_fault() {
    let spec: FaultSpec =
        "loss=1e-3, flip=0.0001,noise=100k@0,noise=7@1h,pull=60s+4s,pull=3@2m+500ms,silence=3@120"
            .parse()
            .unwrap();
    let expected = FaultSpec {
        loss: 0.001,
        flip: 0.0001,
        noise: vec![
            Burst { bytes: 102_400, at: Duration::ZERO },
            Burst { bytes: 7, at: secs(3600) },
        ],
        pulls: vec![
            Outage { board: None, from: secs(60), until: Some(secs(64)) },
            Outage { board: Some(3), from: secs(120), until: Some(Duration::from_millis(120_500)) },
        ],
        silences: vec![Outage { board: Some(3), from: secs(120), until: None }],
    };
    assert_eq!(spec, expected);
    assert!(!spec.is_none());
    assert!("".parse::<FaultSpec>().unwrap().is_none());
}

#[test]
fn explains_what_it_does_not_understand() {
    for (text, words) in [
        ("los=1e-3", "there are loss, flip, noise, pull and silence"),
        ("loss", "has no value"),
        ("loss=2", "from 0 to 1"),
        ("loss=1e-3,flip=NaN", "\"flip=NaN\": the part of the bytes"),
        ("flip=-0.1", "from 0 to 1"),
        ("noise=100k", "noise=100k@0"),
        ("noise=17M@0", "at most 16M"),
        ("noise=0@0", "how many bytes"),
        ("noise=18446744073709551615k@0", "how many bytes"),
        ("pull=60s", "for how long"),
        ("pull=60s+0", "for how long"),
        ("pull=60x+4s", "like pull=60s+4s"),
        ("pull=é+4s", "like pull=60s+4s"),
        ("silence=120s", "which board"),
        ("silence=0@120s", "which board"),
        ("silence=+3@120s", "which board"),
        ("silence=3@400000h", "which board"),
        ("pull=60+10,pull=65+10", "\"pull=65+10\" begins before"),
        ("pull=60+10,pull=3@55+10", "begins before"),
        ("silence=3@60,silence=3@90+1", "begins before"),
        (&"noise=1@0,".repeat(65), "64 of a kind"),
    ] {
        let error = text.parse::<FaultSpec>().unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let apart = "pull=60+10,pull=70+10,silence=3@60,silence=4@60";
    assert!(apart.parse::<FaultSpec>().is_ok());
}

#[test]
fn a_board_with_a_cable_of_its_own_has_its_own_faults() {
    let spec: FaultSpec =
        "loss=0.5,pull=60+1,pull=2@70+1,pull=3@80+1,silence=3@90,silence=2@95".parse().unwrap();
    let second: FaultSpec = "loss=0.5,pull=60+1,pull=70+1,silence=1@95".parse().unwrap();
    assert_eq!(spec.for_board(2), second);
    let first: FaultSpec = "loss=0.5,pull=60+1".parse().unwrap();
    assert_eq!(spec.for_board(1), first);
}

#[test]
fn every_example_of_the_documentation_can_be_read() {
    let page = include_str!("../../../../docs/faults.md");
    let words = page.split(|c: char| c.is_whitespace() || c == '`');
    let examples: Vec<&str> =
        words.filter(|word| word.contains('=') && !word.contains(char::is_uppercase)).collect();
    assert!(examples.len() >= 10, "{examples:?}");
    for example in examples {
        let spec = example.parse::<FaultSpec>().unwrap_or_else(|error| panic!("{error}"));
        assert!(!spec.is_none(), "{example}");
    }
}

proptest! {
    #[test]
    fn reads_what_it_writes(
        loss in 0.0..=1.0, flip in 0.0..=1.0,
        bursts in prop::collection::vec((1_usize..1 << 20, 0_u64..1 << 30), 0..5),
        pulls in prop::collection::vec((1_u64..100_000, 1_u64..100_000), 0..5),
        silences in prop::collection::vec((1_usize..40, 0_u64..1 << 30), 0..5),
    ) {
        let mut spec = FaultSpec { loss, flip, ..FaultSpec::default() };
        for (bytes, at) in bursts {
            spec.noise.push(Burst { bytes, at: Duration::from_millis(at) });
        }
        spec.noise.sort_by_key(|burst| burst.at);
        let mut from = Duration::ZERO;
        for (wait, length) in pulls {
            from += Duration::from_millis(wait);
            let until = from + Duration::from_millis(length);
            spec.pulls.push(Outage { board: None, from, until: Some(until) });
            from = until;
        }
        for (board, from) in silences {
            let from = Duration::from_millis(from);
            let _ = add(&mut spec.silences, Outage { board: Some(board), from, until: None });
        }
        prop_assert_eq!(spec.to_string().parse(), Ok(spec));
    }

    #[test]
    fn any_text_is_survived(text: String, items in "([a-z]{0,7}=[0-9a-z@+.-]{0,9},?){0,4}") {
        for text in [text, items] {
            if let Err(error) = text.parse::<FaultSpec>() {
                prop_assert!(error.to_string().len() > 10);
            }
        }
    }
}
