//! Properties that hold for any value and any bytes.

mod link;
mod strategy;

use dgt_protocol::{
    BusCommand, BusDeframer, BusReply, Command, CommandReader, Deframer, HostReader, Log, Message,
    Tag,
};
use proptest::{collection::vec, prelude::*};

use strategy::{bus_commands, bus_replies, commands, messages, noisy_bytes, tags, written};

proptest! {
    #[test]
    fn any_messages_arrive_as_they_were_sent(sent in vec(messages(), 0..8)) {
        let bytes = written(&sent, Message::encode);
        let mut deframer = Deframer::new();
        deframer.push(&bytes);
        let seen: Result<Vec<Message>, _> = deframer.collect();
        prop_assert_eq!(seen, Ok(sent));
    }

    #[test]
    fn any_commands_arrive_as_they_were_sent(sent in vec(commands(), 0..8)) {
        let bytes = written(&sent, Command::encode);
        let mut reader = CommandReader::new();
        reader.push(&bytes);
        let seen: Result<Vec<Command>, _> = reader.collect();
        prop_assert_eq!(seen, Ok(sent));
    }

    #[test]
    fn any_bus_command_is_read_as_it_was_sent(command in bus_commands()) {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        let bytes: [u8; 4] = bytes.try_into().expect("four bytes");
        prop_assert_eq!(BusCommand::decode(bytes), Ok(command));
    }

    #[test]
    fn any_bus_replies_arrive_as_they_were_sent(sent in vec(bus_replies(), 0..8)) {
        let bytes = written(&sent, BusReply::encode);
        let mut deframer = BusDeframer::new();
        deframer.push(&bytes);
        let seen: Result<Vec<BusReply>, _> = deframer.collect();
        prop_assert_eq!(seen, Ok(sent));
    }

    #[test]
    fn any_tags_are_read_as_they_were_written(tags in vec(tags(), 0..64)) {
        let bytes = written(&tags, Tag::encode);
        let mut log = Log::new(&bytes);
        let seen: Vec<_> = log.by_ref().collect();
        prop_assert_eq!(seen, tags);
        prop_assert_eq!(log.skipped(), 0);
    }

    #[test]
    fn a_log_accounts_for_every_byte(bytes in vec(any::<u8>(), 0..512)) {
        for mut log in [Log::new(&bytes), Log::cyclic(&bytes)] {
            let tags: Vec<_> = log.by_ref().collect();
            prop_assert_eq!(written(&tags, Tag::encode).len() + log.skipped(), bytes.len());
        }
    }

    #[test]
    fn what_was_read_from_noise_reads_the_same_again(bytes in noisy_bytes()) {
        let mut deframer = Deframer::new();
        deframer.push(&bytes);
        for message in deframer.by_ref().flatten() {
            let mut again = Vec::new();
            message.encode(&mut again);
            prop_assert_eq!(Message::decode(again[0], &again[3..]), Ok(message));
        }
        let mut deframer = BusDeframer::new();
        deframer.push(&bytes);
        for reply in deframer.by_ref().flatten() {
            let mut again = Vec::new();
            reply.encode(&mut again);
            prop_assert_eq!(BusReply::decode(again[0], &again[3..]), Ok(reply));
        }
    }

    #[test]
    fn pieces_make_no_difference(bytes in noisy_bytes(), size in 1usize..40) {
        let mut whole = Deframer::new();
        whole.push(&bytes);
        let at_once: Vec<_> = whole.by_ref().collect();
        let mut pieces = Deframer::new();
        let mut one_by_one = Vec::new();
        for piece in bytes.chunks(size) {
            pieces.push(piece);
            one_by_one.extend(pieces.by_ref());
        }
        prop_assert_eq!(at_once, one_by_one);
        prop_assert_eq!(whole.counts(), pieces.counts());
    }

    #[test]
    fn a_board_survives_whatever_a_host_sends(bytes in noisy_bytes()) {
        let mut reader = HostReader::new();
        reader.push(&bytes);
        let results = reader.by_ref().count();
        prop_assert!(results <= bytes.len());
        let counts = reader.counts();
        let seen = counts.messages + counts.unknown + counts.cut + counts.bad_length
            + counts.malformed + counts.bad_checksum;
        prop_assert_eq!(seen, results as u64);
    }

    #[test]
    fn a_message_is_found_after_any_noise(mut bytes in noisy_bytes(), message in messages()) {
        message.encode(&mut bytes);
        let mut deframer = Deframer::new();
        deframer.push(&bytes);
        prop_assert_eq!(deframer.last(), Some(Ok(message)));
    }
}
