//! The numbers that SECURITY.md promises: each stands in the code as it is written there, and has a test. Who changes one of the
//! three is reminded of the other two.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

const DOCUMENT: &str = "SECURITY.md";
/// The tables of limits stand between these two.
const BEGIN: &str = "**Limits.**";
const END: &str = "**The store**";

/// What the document says in one row, the line of code it comes from, and the tests that would fail without it.
struct Promise(&'static str, &'static str, &'static [&'static str]);

const PROMISES: &[Promise] = &[
    // Of a server.
    Promise(
        "`max_message` (32 MiB)",
        "DEFAULT_MAX_MESSAGE: usize = 32 * 1024 * 1024",
        &["an_answer_that_is_too_large_fails_alone", "pages_are_put_together_and_an_endless_list_ends"],
    ),
    Promise(
        "64 MiB or two messages",
        "LEAST: usize = 64 * 1024 * 1024",
        &["an_answer_for_which_there_is_no_memory_fails_alone"],
    ),
    Promise("| 100, 128, 10,000 |\n", "MOST_BATCHED: usize = 100", &["a_batch_of_many_is_no_message"]),
    Promise("| 100, 128, 10,000 |\n", "DEEPEST: usize = 128", &["a_batch_has_a_hundred_messages_and_json_128_levels"]),
    Promise(
        "| 100, 128, 10,000 |\n",
        "MOST_MEMBERS: usize = 10_000",
        &["an_object_of_more_than_10000_members_is_none"],
    ),
    Promise("| 25,000 |", "MOST_ENTRIES: usize = 25_000", &["a_list_has_an_end"]),
    Promise(
        "| after 0.5 s or ten times as long as listing takes, then doubled, up to 60 s |",
        "SHORTEST: Duration = Duration::from_millis(500)",
        &["a_server_that_changes_without_end_is_listened_to_less_and_less"],
    ),
    Promise(
        "| after 0.5 s or ten times as long as listing takes, then doubled, up to 60 s |",
        "LONGEST: Duration = Duration::from_secs(60)",
        &["a_server_that_changes_without_end_is_listened_to_less_and_less"],
    ),
    Promise(
        "| after 0.5 s or ten times as long as listing takes, then doubled, up to 60 s |",
        "REST: u32 = 10",
        &["a_server_that_changes_without_end_is_listened_to_less_and_less"],
    ),
    Promise(
        "| 1,000 a second;",
        "NOTIFICATIONS_A_SECOND: u32 = 1_000",
        &["so_many_a_second", "what_belongs_to_no_call_and_to_no_subscription_is_reported_to_nobody"],
    ),
    Promise("| 100 a second, 4 KiB each |", "LINES_A_SECOND: u32 = 100", &["so_many_a_second"]),
    Promise(
        "| 100 a second, 4 KiB each |",
        "LONGEST_LINE: usize = 4096",
        &["a_line_of_stderr_has_4_kilobytes_and_the_next_one_is_heard"],
    ),
    Promise("| 64, 1,024, 30 min", "MOST_QUESTIONS: usize = 64", &["a_flood_of_questions_is_bounded"]),
    Promise(
        "| 64, 1,024, 30 min",
        "MOST_OPEN: usize = 1024",
        &["a_server_has_1024_calls_open_and_the_next_one_is_told_so"],
    ),
    Promise(
        "| 64, 1,024, 30 min",
        "LONGEST_THOUGHT: Duration = Duration::from_secs(30 * 60)",
        &["nobody_thinks_for_ever"],
    ),
    Promise(
        "| two call deadlines, at least a minute |",
        "timeouts.call.max(LEAST_PATIENCE) * 2",
        &["a_server_that_does_not_read_costs_the_newest_call_an_error_and_nobody_memory"],
    ),
    // Of a client.
    Promise(
        "| 8,192, and three quarters",
        "MOST: usize = 8_192",
        &["the_longest_quiet_goes_and_whoever_is_answered_stays", "one_address_gets_half_of_the_places"],
    ),
    Promise("| 96 KB, 10 s |", "LARGEST_HEAD: usize = 96 * 1024", &["a_head_has_96_kilobytes"]),
    Promise("| 96 KB, 10 s |", "head: Duration::from_secs(10)", &["a_connection_without_a_request_is_closed"]),
    Promise("| 32 MB; 20 s", "LARGEST_BODY: usize = 32 * 1024 * 1024", &["a_body_that_is_too_large_is_refused"]),
    Promise("| 32 MB; 20 s", "body: Duration::from_secs(20)", &["a_body_that_does_not_come_is_not_waited_for"]),
    Promise(
        "and 64 KB a second |",
        "BYTES_PER_SECOND: usize = 64 * 1024",
        &["a_body_that_drips_is_out_of_time_and_one_that_comes_is_not"],
    ),
    Promise(
        "| 100, 128, 10,000 | refused |",
        "MOST_BATCHED: usize = 100",
        &["a_batch_has_a_hundred_messages_and_json_128_levels"],
    ),
    Promise(
        "| 100, 128, 10,000 | refused |",
        "DEEPEST: usize = 128",
        &["a_batch_has_a_hundred_messages_and_json_128_levels"],
    ),
    Promise(
        "| 100, 128, 10,000 | refused |",
        "MOST_MEMBERS: usize = 10_000",
        &["an_object_of_more_than_10000_members_is_none"],
    ),
    Promise("answers above 64 KB together", "SMALL: usize = 64 * 1024", &["what_is_large_takes_memory_as_it_comes"]),
    Promise(
        "| 120 s; 30 s |",
        "idle: Duration::from_secs(120)",
        &["heads_and_pauses_between_requests_have_their_time_and_answers_as_much_as_they_need"],
    ),
    Promise("| 120 s; 30 s |", "stalled: Duration::from_secs(30)", &["who_takes_nothing_of_an_answer_is_given_up"]),
    Promise(
        "| 4,096, half of them",
        "MOST: usize = 4096",
        &["there_are_4096_sessions_and_the_next_one_is_told_when_to_come_back"],
    ),
    Promise(
        "; 30 idle minutes.",
        "IDLE: Duration = Duration::from_secs(30 * 60)",
        &["sessions_are_forgotten_after_half_an_hour_and_streams_that_ended_after_a_minute"],
    ),
    Promise(
        "goes after 10 s, others after 5 idle minutes",
        "UNUSED: Duration = Duration::from_secs(10)",
        &["who_never_asked_goes_after_seconds_and_who_did_after_minutes"],
    ),
    Promise(
        "goes after 10 s, others after 5 idle minutes",
        "SPARE: Duration = Duration::from_secs(5 * 60)",
        &["who_never_asked_goes_after_seconds_and_who_did_after_minutes"],
    ),
    Promise(
        "| 64 KB, 256 bytes, 16 KB, 2 KB |",
        "LARGEST_CAPABILITIES: usize = 64 * 1024",
        &["what_is_kept_of_a_client_has_a_length"],
    ),
    Promise(
        "| 64 KB, 256 bytes, 16 KB, 2 KB |",
        "LONGEST_METHOD: usize = 256",
        &["what_is_kept_of_a_client_has_a_length"],
    ),
    Promise(
        "| 64 KB, 256 bytes, 16 KB, 2 KB |",
        "LONGEST_ID: usize = 16 * 1024",
        &["what_is_kept_of_a_client_has_a_length"],
    ),
    Promise(
        "| 64 KB, 256 bytes, 16 KB, 2 KB |",
        "LONGEST_WATCHED: usize = 2048",
        &["an_address_that_is_watched_has_2_kilobytes_and_a_listener_a_hundred"],
    ),
    Promise("| 512 (256) |", "AT_ONCE: usize = 512", &["a_session_has_512_requests_at_once_and_a_pipe_256"]),
    Promise("| 512 (256) |", "AT_ONCE: usize = 256", &["a_session_has_512_requests_at_once_and_a_pipe_256"]),
    Promise("| 8 MB, a quarter", "KEPT: usize = 8 * 1024 * 1024", &["what_is_kept_is_bounded_in_number_and_bytes"]),
    Promise(
        "; 60 s |",
        "KEPT_FOR: Duration = Duration::from_secs(60)",
        &["sessions_are_forgotten_after_half_an_hour_and_streams_that_ended_after_a_minute"],
    ),
    Promise(
        "stateless request to read | 8 MB |",
        "WAITING: usize = 8 * 1024 * 1024",
        &["what_is_told_is_lost_where_there_is_no_room_and_an_answer_waits"],
    ),
    Promise(
        "| 2,048, 64 on stdio; 100 addresses each |",
        "SUBSCRIPTIONS: usize = 2_048",
        &["a_pipe_has_64_subscriptions"],
    ),
    Promise(
        "| 2,048, 64 on stdio; 100 addresses each |",
        "SUBSCRIPTIONS: usize = 64",
        &["a_pipe_has_64_subscriptions"],
    ),
    Promise(
        "| 2,048, 64 on stdio; 100 addresses each |",
        "MOST_RESOURCES: usize = 100",
        &["an_address_that_is_watched_has_2_kilobytes_and_a_listener_a_hundred"],
    ),
    Promise(
        "| 20 s | they are told",
        "drain: Duration::from_secs(20)",
        &["the_end_waits_for_calls_and_not_for_listeners"],
    ),
    Promise("| 64; 500 | 429;", "FOLLOWERS: usize = 64", &["only_so_many_follow_calls_at_once"]),
    Promise("| 64; 500 | 429;", "KEPT: usize = 500", &["who_reads_slowly_misses_some_and_is_told_how_many"]),
    // Of a call that is worked on here.
    Promise("| 1 MiB, 100 patterns, 300 schemas", "LARGEST_DEFINITION: usize = 1 << 20", &["hostile_schemas_end"]),
    Promise(
        "| 1 MiB, 100 patterns, 300 schemas",
        "MOST_PATTERNS: usize = 100",
        &["many_slow_patterns_end_with_the_fuel_or_are_not_looked_at"],
    ),
    Promise("| 1 MiB, 100 patterns, 300 schemas", "DEEPEST: usize = 300", &["depth_has_an_end"]),
    Promise(
        "| 5,000,000 steps of counted work, 200,000 values",
        "LONG: u64 = 5_000_000",
        &["references_that_double_end_with_the_fuel"],
    ),
    Promise(
        "| 5,000,000 steps of counted work, 200,000 values",
        "MOST_VALUES: usize = 200_000",
        &["arguments_of_very_many_values_are_let_through"],
    ),
    Promise("| 2 MiB, 100,000 values |", "bytes: 2 << 20,", &["what_would_be_enormous_is_refused"]),
    Promise("| 2 MiB, 100,000 values |", "values: 100_000", &["what_would_be_enormous_is_refused"]),
    Promise(
        "| the answer of a toolbox tool | 1 MiB |",
        "LARGEST: usize = 1 << 20",
        &["what_would_be_enormous_is_refused"],
    ),
    Promise("| 50,000,000 steps of counted work; 8", "fuel: 50_000_000", &["work_that_doubles_ends_with_the_fuel"]),
    Promise(
        "of counted work; 8 calls at a time, others wait 10 s",
        "BOUNDED: Threads = Threads::new(8, Duration::from_secs(10))",
        &["eight_bounded_calls_at_a_time_and_the_next_waits_ten_seconds"],
    ),
    Promise(
        "of counted work; 8 calls at a time, others wait 10 s",
        "patience: Duration",
        &["waiting_for_a_thread_has_an_end"],
    ),
    Promise(
        "| 2,000 parts and members,",
        "FUEL: u64 = 2_000",
        &["members_of_members_by_reference", "lists_and_alternatives_of_themselves"],
    ),
    Promise(
        "| answers that read definitions above 128 KiB",
        "LARGE: usize = 128 * 1024",
        &["what_is_large_is_worked_out_aside_and_two_at_a_time"],
    ),
    Promise(
        "| 2 at a time, others wait 10 s",
        "THREADS: Threads = Threads::new(2, Duration::from_secs(10))",
        &["what_is_large_is_worked_out_aside_and_two_at_a_time"],
    ),
    Promise("| 2 at a time, others wait 10 s", "patience: Duration", &["waiting_for_a_thread_has_an_end"]),
    Promise("| 4 MiB, regular,", "LARGEST_FILE: u64 = 4 << 20", &["what_is_private_or_no_file_is_not_read"]),
    // Of what a client asks for.
    Promise(
        "| 512 bytes; a longer one is nobody's |",
        "LONGEST_SPELLING: usize = 512",
        &["what_is_asked_has_a_length"],
    ),
    Promise("| 400 characters |", "LONGEST_QUERY: usize = 400", &["what_is_asked_has_a_length"]),
    Promise("| 32 steps, 32 tags, 500 characters each |", "MOST_STEPS: usize = 32", &["what_is_asked_has_a_length"]),
    Promise("| 32 steps, 32 tags, 500 characters each |", "LONGEST_NAME: usize = 500", &["what_is_asked_has_a_length"]),
    Promise(
        "| 20 (`compact`), 100 (`gateway`); loaded at once 128 |",
        "MOST_TOOLS: usize = 20",
        &["what_is_asked_has_a_length"],
    ),
    Promise(
        "| 20 (`compact`), 100 (`gateway`); loaded at once 128 |",
        "MOST_LOADED: usize = 128",
        &["a_session_loads_so_many_tools_and_all_of_a_wish_or_none"],
    ),
    Promise(
        "| 20 (`compact`), 100 (`gateway`); loaded at once 128 |",
        "MOST_NAMES: usize = 100",
        &["what_is_asked_has_a_length"],
    ),
    Promise(
        "| 256 KiB; a larger one is refused |",
        "LARGEST_LIST: usize = 256 * 1024",
        &["what_is_asked_has_a_length"],
    ),
    Promise("| 200, and how many more", "MOST_NAMED: usize = 200", &["very_many_parameters_are_counted_and_not_named"]),
    Promise("| 256, of 128 letters |", "COMPARED: usize = 256", &["few_names_are_compared_letter_by_letter"]),
    Promise("| 256, of 128 letters |", "COMPARED: usize = 128", &["spellings_are_compared_up_to_a_length"]),
    Promise(
        "| 512 KiB; a larger one",
        "LARGEST_DEFINITION: usize = 512 * 1024",
        &["a_search_does_not_read_an_enormous_definition"],
    ),
    // In sentences.
    Promise(
        "its open streams end within ten seconds",
        "SWEEP: Duration = Duration::from_secs(10)",
        &["what_a_token_opened_ends_when_it_is_revoked"],
    ),
    Promise("At most 128 of them, 256 MiB", "MOST: usize = 128", &["there_is_so_much_room_and_the_oldest_go"]),
    Promise("At most 128 of them, 256 MiB", "keep_bytes: 256 << 20", &["there_is_so_much_room_and_the_oldest_go"]),
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

pub(super) fn check(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let document = fs::read_to_string(workspace.root.join(DOCUMENT)).context(DOCUMENT)?;
    let sources = files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let sources = sources.filter(|file| !file.ends_with("tidy/limits.rs"));
    let code: Result<String> = sources.map(|file| Ok(fs::read_to_string(workspace.root.join(file))?)).collect();
    Ok(findings(&document, &code?, PROMISES))
}

fn findings(document: &str, code: &str, promises: &[Promise]) -> Vec<String> {
    let mut findings = Vec::new();
    for Promise(said, kept, tests) in promises {
        if !document.contains(said) {
            findings.push(format!("{DOCUMENT}: no longer says {said:?}"));
        }
        if !code.contains(kept) {
            findings.push(format!("{DOCUMENT}: says {said:?}, and no code says {kept:?}"));
        }
        let missing = tests.iter().filter(|test| !code.contains(&format!("fn {test}(")));
        findings.extend(missing.map(|test| format!("{DOCUMENT}: {said:?} is tested by `{test}`, which is gone")));
        if tests.is_empty() {
            findings.push(format!("{DOCUMENT}: {said:?} has no test"));
        }
    }
    let tables = document.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map_or("", |(tables, _)| tables);
    let rows = tables
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|--") && !line.starts_with("| what |"));
    let kept = |row: &str| promises.iter().filter(|Promise(said, ..)| format!("{row}\n").contains(said)).count();
    // A row of three numbers has three lines of code behind it.
    let open = rows.filter(|row| kept(row) < numbers(row).max(1));
    findings.extend(open.map(|row| format!("{DOCUMENT}: not every number of this is known to be kept: {row}")));
    findings
}

/// How many different numbers a row of a table has beside what happens beyond them.
fn numbers(row: &str) -> usize {
    let promised = row.split('|').skip(1).take(2).collect::<Vec<_>>().join(" ");
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ',' | '.');
    let words = promised.split(|c: char| !is_part(c)).map(|word| word.trim_end_matches([',', '.']));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).collect::<std::collections::BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_row() {
        assert_eq!(numbers("| head of a request | 32 KB, 10 s | 431, or closed |"), 2);
        assert_eq!(numbers("| a path, tags | 32 steps, 32 tags, 500 characters each |"), 2);
        assert_eq!(numbers("| time without reading its input | two call deadlines |"), 0);
        assert_eq!(numbers("| x | 0.5 s, 1,024. |"), 2);
    }

    #[test]
    fn a_number_that_nobody_keeps_is_found() {
        let document = format!("{BEGIN}\n| what | at most |\n|---|---|\n| x | 5 s, 7 MB |\n{END}");
        let five = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_has_five"]);
        let code = "FIVE = 5 SEVEN = 7 fn it_has_five() fn it_has_seven()";
        assert_eq!(findings(&document, code, &[five]).len(), 1);
        let five = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_has_five"]);
        let seven = Promise("| 5 s, 7 MB |", "SEVEN = 7", &["it_has_seven"]);
        assert_eq!(findings(&document, code, &[five, seven]), Vec::<String>::new());
        let gone = Promise("| 5 s, 7 MB |", "FIVE = 5", &["it_is_gone"]);
        assert!(findings(&document, code, &[gone]).iter().any(|finding| finding.contains("it_is_gone")));
    }
}
