use proptest::prelude::*;

use super::{
    reader::{MAX_LINE, plain_rx},
    *,
};

fn read(text: &str) -> (Vec<Line>, Vec<BrokenLine>) {
    let mut lines = Vec::new();
    let mut broken = Vec::new();
    for line in Reader::new(text.as_bytes()).unwrap() {
        match line.unwrap() {
            Ok(line) => lines.push(line),
            Err(line) => broken.push(line),
        }
    }
    (lines, broken)
}

#[test]
fn every_kind_of_line() {
    let (lines, broken) = read(
        "{\"capture\":1,\"link\":\"single\",\"colour\":\"green\"}\n\
         {\"t\":0,\"tx\":\"4b\"}\n{\"t\":120,\"rx\":\"8E00053400\",\"x\":1}\n\n\
         {\"t\":120,\"line\":\"down\"}\n{\"t\":130,\"mark\":\"tea\"}\n\
         {\"t\":131,\"command\":{\"result\":\"1-0\"}}\n{\"t\":132}",
    );
    assert_eq!(broken, []);
    let records: Vec<_> = lines.into_iter().map(|line| (line.t, line.record)).collect();
    assert_eq!(
        records,
        [
            (0, Record::Tx(vec![0x4B])),
            (120, Record::Rx(vec![0x8E, 0, 5, 0x34, 0])),
            (120, Record::Port(false)),
            (130, Record::Mark("tea".to_owned())),
            (131, Record::Command(serde_json::json!({"result": "1-0"}))),
            (132, Record::Other),
        ]
    );
}

#[test]
fn a_broken_line_is_told_and_skipped() {
    let long = "a".repeat(MAX_LINE + 10);
    let (lines, broken) = read(&format!(
        "{{\"capture\":1,\"link\":\"single\"}}\n{{\"t\":5,\"rx\":\"8e0\"}}\n{{\"t\":9,\"rx\":\"zz\"}}\nnonsense\n\
         {{\"t\":10,\"rx\":\"00\"}}\n{{\"t\":9,\"rx\":\"00\"}}\n{{\"rx\":\"00\"}}\n{long}\n{{\"t\":11,\"line\":\"sideways\"}}\n"
    ));
    assert_eq!(lines, [Line { t: 10, record: Record::Rx(vec![0]) }]);
    let numbers: Vec<_> = broken.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [2, 3, 4, 6, 7, 8, 9]);
    assert_eq!(broken[0].to_string(), "line 2: an odd number of hex digits");
    assert_eq!(broken[3].problem, "\"t\" is 9, earlier than 10 before it");
}

#[test]
fn the_time_of_a_broken_line_counts_for_nothing() {
    let (lines, broken) = read(
        "{\"capture\":1,\"link\":\"single\"}\n{\"t\":900,\"rx\":\"8e0\"}\n{\"t\":50,\"rx\":\"00\"}\n",
    );
    assert_eq!(lines, [Line { t: 50, record: Record::Rx(vec![0]) }]);
    assert_eq!(broken.len(), 1);
}

#[test]
fn plain_lines_are_what_any_parser_makes_of_them() {
    for (line, plain) in [
        ("{\"t\":120,\"rx\":\"8e00\"}\n", true),
        ("{\"t\":120,\"rx\":\"8Eab\"}\n", true),
        ("{\"t\":0,\"rx\":\"\"}\n", true),
        ("{\"t\":9999999999999999999,\"rx\":\"\"}\n", true),
        ("{\"t\": 120, \"rx\": \"8E00\"}\r\n", false),
        ("{\"t\":120,\"rx\":\"8e00\"}", false),
        ("{\"t\":120,\"rx\":\"8e0\"}\n", false),
        ("{\"t\":012,\"rx\":\"00\"}\n", false),
        ("{\"t\":-1,\"rx\":\"00\"}\n", false),
        ("{\"t\":1.5,\"rx\":\"00\"}\n", false),
        ("{\"t\":1,\"rx\":\"00\",\"x\":\"\"}\n", false),
        ("{\"t\":1,\"rx\":\"0g\"}\n", false),
        ("{\"t\":,\"rx\":\"00\"}\n", false),
        ("{\"t\":99999999999999999999,\"rx\":\"00\"}\n", false),
    ] {
        let mut bytes = Vec::new();
        let text = format!("{line}{{\"t\":130}}");
        let found = plain_rx(text.as_bytes(), &mut bytes);
        assert_eq!(found.is_some(), plain, "{line}");
        if let Some((t, length)) = found {
            assert_eq!(length, line.len());
            let any: RawLine = serde_json::from_str(line).unwrap();
            assert_eq!(
                (any.t, any.rx.map(|hex| hex.to_lowercase())),
                (Some(t), Some(to_hex(&bytes)))
            );
        }
    }
}

#[test]
fn lines_cut_by_the_buffer_are_whole() {
    let lines: Vec<_> =
        (0..20).map(|t| Line { t, record: Record::Rx(vec![0x8E, t as u8]) }).collect();
    let mut writer = Writer::new(Vec::new(), &Header::single()).unwrap();
    for line in &lines {
        writer.write(line).unwrap();
    }
    let text = writer.finish().unwrap();
    for capacity in 1..100 {
        let input = io::BufReader::with_capacity(capacity, text.as_slice());
        let read: Vec<_> = Reader::new(input).unwrap().map(|line| line.unwrap().unwrap()).collect();
        assert_eq!(read, lines, "a buffer of {capacity} bytes");
    }
}

#[test]
fn the_memory_of_a_line_is_used_again_and_nothing_of_it_stays() {
    let text = "{\"capture\":1,\"link\":\"single\"}\n{\"t\":1,\"rx\":\"8e0102\"}\n\
         {\"t\":2,\"rx\":\"00zz\"}\n{\"t\":3,\"rx\":\"05\"}\n{\"t\":4,\"mark\":\"tea\"}\n{\"t\":5,\"rx\":\"\"}";
    let mut reader = Reader::new(text.as_bytes()).unwrap();
    let mut line = Line::default();
    let mut seen = Vec::new();
    while let Some(found) = reader.read_into(&mut line) {
        seen.push(found.unwrap().map(|()| line.clone()).map_err(|broken| broken.to_string()));
    }
    let good = |t, record| Ok(Line { t, record });
    let broken = "line 3: 'z' is not a hex digit".to_owned();
    assert_eq!(
        seen,
        [
            good(1, Record::Rx(vec![0x8E, 1, 2])),
            Err(broken),
            good(3, Record::Rx(vec![5])),
            good(4, Record::Mark("tea".to_owned())),
            good(5, Record::Rx(vec![])),
        ]
    );
}

#[test]
fn files_from_other_systems_are_read() {
    let (lines, broken) =
        read("\u{FEFF}{\"capture\":1,\"link\":\"single\"}\r\n{\"t\":7,\"rx\":\"00\"}\r\n");
    assert_eq!((lines.len(), broken.len()), (1, 0));
}

#[test]
fn what_is_no_capture_is_refused() {
    for (text, part) in [
        ("", "empty"),
        ("[Event \"?\"]\n", "not a capture"),
        ("{\"capture\":7,\"link\":\"single\"}\n", "version 7"),
    ] {
        let error = Reader::new(text.as_bytes()).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        runs in proptest::collection::vec((0u64..500, proptest::collection::vec(any::<u8>(), 0..80)), 0..40),
    ) {
        let mut writer = Writer::new(Vec::new(), &Header::single()).unwrap();
        let mut t = 0;
        let mut written = Vec::new();
        for (wait, bytes) in runs {
            t += wait;
            let line = Line { t, record: Record::Rx(bytes) };
            writer.write(&line).unwrap();
            written.push(line);
        }
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        prop_assert_eq!(read(&text), (written, vec![]));
    }
}
