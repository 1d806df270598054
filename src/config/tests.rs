use super::*;
use crate::game::StartRule;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::from_toml("hall.toml", text)
}

const SMALL: &str = "[[table]]\nnumber = 1\nport = \"/dev/ttyUSB0\"\n";

#[test]
fn the_smallest_configuration_has_working_defaults() {
    let config = parse(SMALL).unwrap();
    assert_eq!(config.event.base_topic(), "boardcast/hall");
    let Broker::Embedded(broker) = &config.broker else { panic!("{:?}", config.broker) };
    assert_eq!(broker.address().to_string(), "127.0.0.1:1883");
    assert!(config.http.address().unwrap().ip().is_loopback());
    assert_eq!(config.log.level, Level::Info);
    let setup = config.hall_setup();
    assert_eq!(setup.tables.len(), 1);
    assert_eq!(setup.tables[0].settings.start, StartRule::Classical);
    assert_eq!(config.all_ports().into_iter().collect::<Vec<_>>(), [PortName::new("/dev/ttyUSB0")]);
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let config = parse(
        r#"
        [event]
        name = "Club Championship"
        site = "club-hall"
        place = "Wien AUT"
        date = 2026-12-01
        round = 3
        time-control = "5400+30"
        ruleset = "fide2023_standard"

        [serial]
        ports = ["/dev/ttyUSB1", "/dev/ttyACM*", "/dev/ttyUSB0"]
        exclude = ["/dev/serial/by-id/*u-blox*"]

        [[table]]
        number = 1
        port = "/dev/ttyUSB0"
        white = { name = "Menchik, Vera", title = "WGM", federation = "ENG", rating = 2350, fide-id = 1 }
        black = { name = "Graf, Sonja" }

        [[table]]
        number = 2
        board = "24689"
        time-control = "40/5400+30:1800+30"
        ruleset = "fide2018_rapid"
        fen = "nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1"
        chess960 = true

        [broker]
        url = "mqtts://broker.example:8884"
        user = "hall"
        password-file = "/etc/boardcast/password"
        ca-file = "/etc/boardcast/ca.pem"

        [http]
        listen = "0.0.0.0"
        port = 80

        [timing]
        settle-s = 0.5
        signal-hold-s = 4

        [log]
        level = "debug"
        "#,
    )
    .unwrap();
    assert_eq!(config.event.date.as_deref(), Some("2026-12-01"));
    assert_eq!(config.event.round.as_deref(), Some("3"));
    assert_eq!(config.all_ports().len(), 2);
    assert_eq!(config.serial.patterns, [Pattern::new("/dev/ttyACM*").unwrap()]);
    assert!(config.serial.exclude[0].fits(Path::new("/dev/serial/by-id/usb-u-blox_7-if00")));
    let [first, second] = &config.tables[..] else { panic!("two tables") };
    assert_eq!(first.players.white.rating, Some(2350));
    assert_eq!(first.time_control.as_deref(), Some("5400+30"));
    assert_eq!(first.ruleset.as_deref(), Some("fide2023_standard"));
    assert_eq!((first.settings.settle_ms, first.settings.signal_hold_ms), (500, 4_000));
    assert_eq!(second.source, Source::Board("24689".to_owned()));
    assert_eq!(second.time_control.as_deref(), Some("40/5400+30:1800+30"));
    assert!(matches!(second.settings.start, StartRule::Position(_)));
    let Broker::Outside(broker) = &config.broker else { panic!("{:?}", config.broker) };
    assert_eq!(broker.url.to_string(), "mqtts://broker.example:8884");
    assert_eq!(broker.account.as_ref().unwrap().user, "hall");
}

#[test]
fn misspelt_keys_and_wrong_types_are_found_with_their_line() {
    for (text, line, words) in [
        ("[evnt]\n", "line 1", "evnt"),
        ("[event]\nnmae = \"x\"\n", "line 2", "expected one of `name`"),
        ("[[table]]\nnumber = \"one\"\nport = \"/dev/a\"\n", "line 2", "expected u32"),
        ("[[table]]\nport = \"/dev/a\"\n", "line 1", "missing field `number`"),
        ("[http]\nport = 70000\n", "line 2", "u16"),
        ("[log]\nlevel = \"loud\"\n", "line 2", "`warn`"),
        ("[event\n", "line 1", "]"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with("hall.toml: "), "{error}");
        assert!(error.contains(line) && error.contains(words), "{text:?}: {error}");
    }
}

#[test]
fn what_makes_no_sense_is_found_with_line_and_key() {
    let table = |rest: &str| format!("[[table]]\nnumber = 1\nport = \"/dev/ttyUSB0\"\n{rest}");
    let second = |rest: &str| table(&format!("[[table]]\n{rest}\n"));
    for (text, line, key, words) in [
        ("[event]\nname = \"x\"\n".to_owned(), 2, "table", "at least one"),
        (second("number = 1\nport = \"/dev/b\""), 5, "table.number", "already on line 2"),
        (second("number = 2\nport = \"/dev/ttyUSB0\""), 6, "table.port", "line 3"),
        (second("number = 0\nport = \"/dev/b\""), 5, "table.number", "expected 1 to 9999"),
        (second("number = 2"), 4, "table.port", "no board"),
        (second("number = 2\nport = \"ttyUSB1\""), 6, "table.port", "no full path"),
        (second("number = 2\nboard = \"24689\""), 6, "table.board", "[serial]"),
        (second("number = 2\nboard = \"24 689\""), 6, "table.board", "label"),
        (table("board = \"24689\""), 4, "table.board", "one of them"),
        (table("time-control = \"90 minutes\""), 4, "table.time-control", "5400+30"),
        (table("ruleset = \"fide\""), 4, "table.ruleset", "fide2023_standard"),
        (table("fen = \"8/8/8/8/8/8/8/8 w - - 0 1\""), 4, "table.fen", "legal position"),
        (table("fen = \"start\""), 4, "table.fen", "FEN"),
        (table("white = { name = \" \" }"), 4, "table.white.name", "empty"),
        (table("white = { name = \"a\", title = \"king\" }"), 4, "table.white.title", "GM"),
        (
            table("black = { name = \"a\", federation = \"N\u{c4}R\" }"),
            4,
            "table.black.federation",
            "NOR",
        ),
        (table("black = { name = \"a\", rating = 40000 }"), 4, "table.black.rating", "4000"),
        (table("[event]\nsite = \"hall/2\""), 5, "event.site", "wildcards"),
        (table("[event]\nsite = \"#\""), 5, "event.site", "wildcards"),
        (table("[event]\ndate = \"1.12.2026\""), 5, "event.date", "YYYY-MM-DD"),
        (table("[event]\ndate = 07:32:00"), 5, "event.date", "YYYY-MM-DD"),
        (table("[event]\nround = \"final\""), 5, "event.round", "number"),
        (table("[timing]\nsettle-s = 0"), 5, "timing.settle-s", "0.1 to 10"),
        (table("[timing]\nsettle-s = nan"), 5, "timing.settle-s", "0.1 to 10"),
        (table("[http]\nlisten = \"localhost\""), 5, "http.listen", "127.0.0.1"),
        (table("[http]\nport = 1883"), 5, "http.port", "also the broker's"),
        (table("[serial]\nports = [\"ttyUSB*\"]"), 5, "serial.ports", "no full path"),
        (table("[serial]\nports = [\"/dev/*/a\"]"), 5, "serial.ports", "name of the device only"),
        (table("[serial]\nexclude = [\"/dev/a\"]"), 5, "serial.exclude", "nothing to exclude"),
        (
            table("[serial]\nports = [\"/dev/b*\", \"/dev/a\"]\nexclude = [\"/dev/?\"]"),
            5,
            "serial.ports",
            "one of them",
        ),
        (table("[broker]\nurl = \"broker\""), 5, "broker.url", "mqtt://"),
        (table("[broker]\nurl = \"mqtt://a:b@h\""), 5, "broker.url", "file of its own"),
        (table("[broker]\nurl = \"mqtt://h\"\nport = 1"), 6, "broker.port", "one or the other"),
        (table("[broker]\nurl = \"mqtt://h\"\nuser = \"a\""), 6, "broker.user", "password-file"),
        (table("[broker]\nurl = \"mqtt://h\"\nca-file = \"/c\""), 6, "broker.ca-file", "mqtts://"),
        (table("[broker]\nuser = \"a\""), 5, "broker.user", "another broker"),
        (
            table(
                "[[broker.arbiter]]\nuser = \"a\"\npassword-file = \"/p\"\n\
                 [[broker.arbiter]]\nuser = \"a\"\npassword-file = \"/q\"",
            ),
            8,
            "broker.arbiter.user",
            "each name once",
        ),
    ] {
        let error = parse(&text).unwrap_err();
        let [problem] = error.problems() else { panic!("{text}\n{error}") };
        assert_eq!((problem.line, problem.key.as_str()), (line, key), "{text}\n{error}");
        assert!(problem.message.contains(words), "{text}\n{error}");
        let start = format!("hall.toml, line {line}, `{key}`: ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = "[[table]]\nnumber = 0\nport = \"x\"\n[timing]\nsettle-s = 99\n";
    let error = parse(text).unwrap_err();
    let lines: Vec<_> = error.problems().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 5]);
    assert_eq!(error.to_string().lines().count(), 3);
}

#[test]
fn a_file_that_is_not_there_or_too_large_is_told() {
    let error = Config::load(Path::new("/nowhere/boardcast.toml")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/boardcast.toml: there is no such file"), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![b'#'; MAX_FILE_BYTES as usize + 1]).unwrap();
    assert!(Config::load(file.path()).unwrap_err().to_string().contains("larger than"));
}

const SAMPLE: &str = include_str!("../../systemd/boardcast.toml");

#[test]
fn the_sample_is_right_as_it_is_installed() {
    let config = parse(SAMPLE).unwrap();
    assert_eq!(config.tables.len(), 1);
    assert_eq!(config.broker, Broker::default());
    assert_eq!(config.http, Http::default());
}

#[test]
fn the_sample_is_right_with_everything_that_it_offers() {
    let offers = |rest: &str| rest.starts_with(|c: char| c == '[' || c.is_ascii_lowercase());
    let lines = SAMPLE.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if offers(rest) => rest,
        _ => line,
    });
    let config = parse(&lines.collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(config.tables.len(), 3);
    assert_eq!(config.tables[0].time_control.as_deref(), Some("5400+30"));
    assert_eq!((config.all_ports().len(), config.serial.patterns.len()), (2, 2));
    // What the sample calls the default is the default.
    assert_eq!((&config.http, &config.log), (&Http::default(), &Log::default()));
    let Broker::Embedded(broker) = &config.broker else { panic!("{:?}", config.broker) };
    assert_eq!(broker.address(), Embedded::default().address());
    let timing = crate::game::Settings::default();
    assert_eq!(config.tables[0].settings, timing);
}

#[test]
fn the_boards_of_a_bus_are_named_by_their_serial_numbers() {
    let bus = "[[bus]]\nport = \"/dev/ttyUSB3\"\n";
    let table = "[[table]]\nnumber = 1\nboard = \"01025\"\n";
    let config = parse(&format!("{bus}{table}")).unwrap();
    assert_eq!(config.buses, [PortName::new("/dev/ttyUSB3")]);
    assert_eq!(config.tables[0].source, Source::Board("01025".to_owned()));
    assert!(config.all_ports().is_empty(), "a bus is never spoken to as a single board");

    for other in [
        bus,
        "[[table]]\nnumber = 2\nport = \"/dev/ttyUSB3\"\n",
        "[serial]\nports = [\"/dev/ttyUSB3\"]\n",
    ] {
        let error = parse(&format!("{bus}{table}{other}")).unwrap_err();
        assert!(error.to_string().contains("a port of its own"), "{error}");
    }
}
