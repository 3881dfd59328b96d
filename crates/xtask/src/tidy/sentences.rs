//! Numbers that SECURITY.md promises outside of its tables: as `promises` has those inside.

use super::promises::Promise;

pub(super) const SENTENCES: &[Promise] = &[
    Promise(
        "asked for at most every five seconds",
        "PAUSE: Duration = Duration::from_secs(5)",
        &["keys_are_asked_for_seldom_and_kept_while_the_issuer_is_down"],
    ),
    Promise(
        "32 times at once and four times a second",
        "AT_ONCE: u32 = 32",
        &["wrong_ones_are_bounded_and_good_ones_are_not"],
    ),
    Promise(
        "32 times at once and four times a second",
        "EACH: Duration = Duration::from_millis(250)",
        &["wrong_ones_are_bounded_and_good_ones_are_not"],
    ),
    Promise(
        "15 s and 256 KiB an answer, 16 questions a login",
        "LONGEST: Duration = Duration::from_secs(15)",
        &["an_answer_has_15_seconds_to_its_last_byte"],
    ),
    Promise(
        "15 s and 256 KiB an answer, 16 questions a login",
        "LARGEST: usize = 256 * 1024",
        &["an_answer_has_256_kilobytes"],
    ),
    Promise("15 s and 256 KiB an answer, 16 questions a login", "MOST: usize = 16;", &["a_login_asks_16_questions"]),
    Promise(
        "within 40 MB, 100 levels and a budget for aliases",
        "LARGEST: usize = 40 * 1024 * 1024",
        &["a_document_has_40_megabytes", "a_document_has_40_megabytes_in_a_file_and_at_an_address"],
    ),
    Promise(
        "within 40 MB, 100 levels and a budget for aliases",
        "DEEPEST: usize = 100;",
        &["nesting_and_aliases_without_end_are_refused"],
    ),
    Promise(
        "at most 64 KB of schema\neach and about 16 MB together",
        "LARGEST_SCHEMA: usize = 64 << 10",
        &["schemas_that_all_refer_to_each_other_have_a_bound"],
    ),
    Promise(
        "at most 64 KB of schema\neach and about 16 MB together",
        "ALL_SCHEMAS: usize = 16 << 20",
        &["schemas_that_all_refer_to_each_other_have_a_bound"],
    ),
    Promise(
        "and a reaper; 16 of a server at once",
        "AT_ONCE: usize = 16;",
        &["sixteen_commands_of_a_server_run_at_once_and_the_next_ones_wait"],
    ),
    Promise(
        "computing time (500 ms beyond its limit)",
        "GRACE: Duration = Duration::from_millis(500)",
        &["every_limit_has_its_own_end", "none_of_them_goes_on_or_gets_anything"],
    ),
    Promise(
        "accepted within the last\nhour",
        "REMEMBERED: Duration = Duration::from_secs(60 * 60)",
        &["a_token_is_remembered_for_a_while_and_no_more_than_there_is_room_for"],
    ),
    Promise(
        "whose calls fail ten times in a row",
        "failures: 10,",
        &["a_server_that_fails_is_left_alone_and_tried_by_one"],
    ),
    Promise(
        "bounded (4,096 spans)",
        "MOST_WAITING: usize = 4096",
        &["for_a_collector_that_does_not_answer_4096_spans_wait_and_the_rest_is_lost"],
    ),
    Promise(
        "once and for half a minute by the clock of the database",
        "ON_THE_WAY: u64 = 30",
        &["a_voucher_is_for_one_request_one_replica_and_a_while"],
    ),
    Promise(
        "its open streams end within a second",
        "LOOK: Duration = Duration::from_millis(500)",
        &["what_a_token_opened_ends_when_it_is_revoked"],
    ),
    Promise("At most 128 of them, 256 MiB", "MOST: usize = 128", &["there_is_so_much_room_and_the_oldest_go"]),
    Promise("At most 128 of them, 256 MiB", "keep_bytes: 256 << 20", &["there_is_so_much_room_and_the_oldest_go"]),
    Promise(
        "at most 8 MiB and 1,500,000 values of JSON",
        "LARGEST: usize = 8 << 20",
        &["a_text_that_becomes_very_many_values_is_not_read_into_them"],
    ),
    Promise(
        "at most 8 MiB and 1,500,000 values of JSON",
        "MOST_VALUES: usize = 1_500_000",
        &["a_text_that_becomes_very_many_values_is_not_read_into_them"],
    ),
    Promise("two files of 1 MiB", "LARGEST: u64 = 1 << 20", &["a_file_is_bounded_and_read_from_its_older_half_on"]),
    Promise("at most 2,000 characters for a field", "LONGEST_LINE: usize = 2_000", &["a_long_line_is_cut_and_says_so"]),
    Promise("256 requests wait for a disk", "MOST_WAITING: usize = 256", &["more_than_can_wait_is_refused"]),
    Promise(
        "At most 8,192 events of 16 MiB wait",
        "MOST_WAITING: usize = 8192",
        &["what_waits_for_a_disk_has_16_megabytes_and_whoever_waits_20_seconds"],
    ),
    Promise(
        "At most 8,192 events of 16 MiB wait",
        "MOST_BYTES: u64 = 16 * 1024 * 1024",
        &["what_waits_for_a_disk_has_16_megabytes_and_whoever_waits_20_seconds"],
    ),
    Promise(
        "the disk has not answered after 20 s",
        "PATIENCE: Duration = Duration::from_secs(20)",
        &["what_waits_for_a_disk_has_16_megabytes_and_whoever_waits_20_seconds"],
    ),
    Promise(
        "at most 500 names of tools",
        "MOST_NAMES: usize = 500",
        &["names_of_tools_are_bounded_and_methods_are_known"],
    ),
];
