//! Every number in the tables of SECURITY.md, where it is kept and what shows it. A table: `limits` holds it against the document and the code.

/// What the document says in one row, the line of code it comes from, and the tests that would fail without it.
pub(super) struct Promise(pub(super) &'static str, pub(super) &'static str, pub(super) &'static [&'static str]);

pub(super) const PROMISES: &[Promise] = &[
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
    Promise("| 25,000, 200,000; further ones", "MOST_ENTRIES: usize = 25_000", &["a_list_has_an_end"]),
    Promise(
        "| 25,000, 200,000; further ones",
        "MOST_VALUES: usize = 200_000",
        &["an_entry_of_a_list_has_200000_values"],
    ),
    Promise("| 50,000; past that", "MOST_PINS: usize = 50_000", &["a_server_does_not_fill_the_record"]),
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
        "| as soon as it says, ten times; then once a second |",
        "HURRIED: u32 = 10",
        &["a_server_whose_streams_end_at_once_is_hurried_for_ten_times"],
    ),
    Promise(
        "| 1,000 a second;",
        "NOTIFICATIONS_A_SECOND: u32 = 1_000",
        &["so_many_a_second", "what_belongs_to_no_call_and_to_no_subscription_is_reported_to_nobody"],
    ),
    Promise(
        "| 512 for one client, 4,096 of all servers",
        "MOST_OF_ONE: usize = 512",
        &["who_gives_out_many_pushes_out_their_own"],
    ),
    Promise(
        "| 512 for one client, 4,096 of all servers",
        "MOST: usize = 4096",
        &["who_gives_out_many_pushes_out_their_own"],
    ),
    Promise(
        "| changes of resources that wait to be told | 1,000 |",
        "UPDATES_WAITING: usize = 1_000",
        &["who_is_behind_with_changes_of_resources_loses_some"],
    ),
    Promise(
        "| 1,024, three quarters of them for one principal; 10 min |",
        "PARKED: usize = 1024",
        &["one_principal_leaves_places_for_calls_of_others_that_wait"],
    ),
    Promise(
        "| 1,024, three quarters of them for one principal; 10 min |",
        "PARKED_OF_ONE: usize = PARKED - PARKED / 4",
        &["one_principal_leaves_places_for_calls_of_others_that_wait"],
    ),
    Promise(
        "| 1,024, three quarters of them for one principal; 10 min |",
        "PARKED_FOR: Duration = Duration::from_secs(600)",
        &["one_principal_leaves_places_for_calls_of_others_that_wait"],
    ),
    Promise("| 100 a second, 4 KiB each |", "LINES_A_SECOND: u32 = 100", &["so_many_a_second"]),
    Promise(
        "| 100 a second, 4 KiB each |",
        "LONGEST_LINE: usize = 4096",
        &["a_line_of_stderr_has_4_kilobytes_and_the_next_one_is_heard"],
    ),
    Promise(
        "| 64, 1,024, 30 min",
        "MOST_QUESTIONS: usize = 64",
        &["a_flood_of_questions_is_bounded", "more_than_64_questions_at_once_are_put_to_nobody"],
    ),
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
        "| 10,000 a second; then it is not listened to",
        "HEARD_A_SECOND: u32 = 10_000",
        &["a_server_that_says_too_much_is_not_listened_to_until_the_second_is_over"],
    ),
    Promise(
        "| 256 bytes, 16 KB; others are put to nobody |",
        "LONGEST_METHOD: usize = 256",
        &["a_question_whose_id_or_method_has_no_end_is_put_to_nobody"],
    ),
    Promise(
        "| 256 bytes, 16 KB; others are put to nobody |",
        "LONGEST_ID: usize = 16 * 1024",
        &["a_question_whose_id_or_method_has_no_end_is_put_to_nobody"],
    ),
    Promise(
        "| 256; further ones are lost |",
        "MOST_SOON: usize = 256",
        &["what_a_server_does_not_take_is_waited_for_by_nobody_and_256_times"],
    ),
    Promise("| 2,000 characters |", "LONGEST_REASON: usize = 2_000", &["why_a_server_failed_has_2000_characters"]),
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
    Promise("| 96 KB; 10 s, or 120 s", "LARGEST_HEAD: usize = 96 * 1024", &["a_head_has_96_kilobytes"]),
    Promise("| 96 KB; 10 s, or 120 s", "head: Duration::from_secs(10)", &["a_connection_without_a_request_is_closed"]),
    Promise(
        "| 96 KB; 10 s, or 120 s",
        "idle: Duration::from_secs(120)",
        &["heads_and_pauses_between_requests_have_their_time_and_answers_as_much_as_they_need"],
    ),
    Promise(
        "behind one above 12 KB, or above 8 KB in smaller pieces,",
        "LONG_HEAD: usize = 8 * 1024",
        &["a_head_is_counted_until_it_is_answered_and_the_connection_ends_behind_a_long_one"],
    ),
    Promise(
        "behind one above 12 KB, or above 8 KB in smaller pieces,",
        "READ: usize = 4 * 1024",
        &["the_connection_ends_behind_a_long_head"],
    ),
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
        "bodies up to 64 KB that are still coming, and answers that nothing was taken of for a second, where one is above 4 KB",
        "SMALL: usize = 64 * 1024",
        &["small_bodies_that_are_not_finished_take_nothing_from_anybody"],
    ),
    Promise(
        "bodies up to 64 KB that are still coming, and answers that nothing was taken of for a second, where one is above 4 KB",
        "LITTLE: usize = 4 * 1024",
        &[
            "heads_that_are_not_finished_take_nothing_from_anybody",
            "what_comes_behind_a_request_counts_like_any_other_head",
            "an_answer_is_counted_when_nothing_was_taken_of_it_for_a_while",
            "who_has_been_waited_for_the_longest_makes_room_and_no_newcomer_is_refused",
            "one_address_that_has_more_than_half_makes_room_for_the_others",
        ],
    ),
    Promise(
        "| bodies from 4 to 64 KB that are worked on, together | an eighth",
        "LITTLE: usize = 4 * 1024",
        &["what_is_small_has_room_while_all_the_rest_is_used_up"],
    ),
    Promise(
        "| bodies from 4 to 64 KB that are worked on, together | an eighth",
        "APART: usize = 8",
        &[
            "what_is_small_has_room_while_all_the_rest_is_used_up",
            "what_is_set_apart_is_there_when_all_the_rest_is_used_up",
        ],
    ),
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
    Promise(
        "| a progress token | 16 KB |",
        "LONGEST_ID: usize = 16 * 1024",
        &["a_progress_token_that_is_too_long_to_be_repeated_is_not"],
    ),
    Promise("| 512 | refused", "AT_ONCE: usize = 512", &["a_session_has_512_requests_at_once_and_so_has_a_pipe"]),
    Promise(
        "(stdio: after a second) |",
        "PATIENCE: Duration = Duration::from_secs(1)",
        &["a_session_has_512_requests_at_once_and_so_has_a_pipe"],
    ),
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
        "| 2,048, 64 on stdio; 100 addresses each;",
        "SUBSCRIPTIONS: usize = 2_048",
        &["a_pipe_has_64_subscriptions"],
    ),
    Promise("| 2,048, 64 on stdio; 100 addresses each;", "SUBSCRIPTIONS: usize = 64", &["a_pipe_has_64_subscriptions"]),
    Promise(
        "| 2,048, 64 on stdio; 100 addresses each;",
        "MOST_RESOURCES: usize = 100",
        &["an_address_that_is_watched_has_2_kilobytes_and_a_listener_a_hundred"],
    ),
    Promise(
        "; 15 s for the servers of these |",
        "PATIENCE: Duration = Duration::from_secs(15)",
        &["who_listens_does_not_wait_for_a_server_that_is_silent"],
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
        "THREADS: Threads = Threads::for_large(2, Duration::from_secs(10))",
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
    Promise(
        "| 8 KB; a longer one is nobody's,",
        "LONGEST_ADDRESS: usize = 8 * 1024",
        &["templates_match_what_they_could_have_made", "an_address_that_is_read_has_8_kilobytes"],
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
];
