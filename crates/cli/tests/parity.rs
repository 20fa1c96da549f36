//! Throng against JMeter 5.6.3, case by case: every request as the target saw it and every row of the results.
//!
//! JMeter's side is recorded in `tests/parity/cases/*/golden`, so nothing here needs Java; `tests/parity/record`
//! records it anew. `tests/parity/README.md` says what a case holds and what is masked.

#[path = "../../../tests/parity/case.rs"]
mod case;
#[path = "../../../tests/parity/diff.rs"]
mod diff;
#[path = "../../../tests/parity/document.rs"]
mod document;
#[path = "../../../tests/parity/figures.rs"]
mod figures;
#[path = "../../../tests/parity/normal.rs"]
mod normal;
#[path = "../../../tests/parity/server.rs"]
mod server;
#[path = "../../../tests/parity/socket.rs"]
mod socket;

/// One test per folder; `every_folder_is_listed` keeps the list complete.
macro_rules! cases {
    ($($name:ident)*) => {
        const LISTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { case::check(stringify!($name)); })*
    };
}

cases! {
    auth_basic
    auth_digest
    auth_none
    auth_not_preemptive
    auth_outermost
    auth_preemptive_digest
    backend_graphite
    backend_graphite_pickle
    backend_influx
    backend_influx_raw
    backend_influx_udp
    boundary_extractor
    cache_by_group
    cache_clear
    cache_expires
    cache_methods
    cache_mode_200_cache
    cache_mode_200_cache_named
    cache_mode_custom_status
    cache_mode_custom_status_unset
    cache_outermost
    cache_validators
    cache_vary
    config_scope
    connections_alternating
    cookies_by_group
    cookies_clear
    cookies_header
    cookies_keep
    cookies_no_prefix
    cookies_policy_best_match
    cookies_policy_compatibility
    cookies_policy_default
    cookies_policy_ignorecookies
    cookies_policy_netscape
    cookies_policy_none
    cookies_policy_rfc2109
    cookies_policy_rfc2965
    cookies_policy_standard
    cookies_policy_standard_strict
    cookies_redirect
    cookies_user
    cookies_variables
    cookies_version_default
    cookies_version_standard
    counter
    counter_users
    csv_basic
    csv_empty_file
    csv_encoding
    csv_eof
    csv_fewer
    csv_header
    csv_missing
    csv_names
    csv_quoted
    csv_scope
    csv_shared
    csv_stop
    csv_tab
    csv_unquoted
    debug_sampler
    fn_regex_function
    fn_jexl3
    debug_post_processor
    md5_hex_assertion
    size_assertion
    dummy
    dummy_times
    duration_assertion
    embedded_cached
    embedded_concurrent
    embedded_serial
    extract_chain
    flow_action_children
    flow_break
    flow_break_around_transaction
    flow_break_thread
    flow_in_transaction
    flow_next_current
    flow_next_thread_loop
    flow_pause
    flow_stop_now
    flow_stop_test
    flow_stop_thread
    fn_counter_users
    fn_escape_plain
    fn_files
    fn_in_every_place
    fn_math
    fn_names
    fn_nesting
    fn_properties
    fn_random
    fn_refused_int_sum
    fn_refused_p
    fn_refused_three
    fn_refused_urlencode
    fn_script_free_conditions
    fn_string_from_file_sequence
    fn_text
    fn_time
    fn_time_language
    fn_unknown
    fn_variables
    fn_variables_runtime
    foreach
    foreach_extracted
    group_delayed_start
    group_forever
    group_loops
    group_name_function
    group_on_error_assertion
    group_on_error_continue
    group_on_error_setup
    group_on_error_startnextloop
    group_on_error_stoptest
    group_on_error_stoptestnow
    group_on_error_stopthread
    group_on_error_teardown
    group_on_error_transaction
    group_ramp
    group_same_user
    group_scheduler
    group_scheduler_bad
    group_serialize
    group_setup_teardown
    group_several
    group_users
    group_variables
    http_body_encoding
    http_chunked
    http_compressed
    http_compressed_broken
    http_compressed_relaxed
    http_compressed_unread
    http_content_type
    http_data_type
    http_defaults_merge
    http_errors
    http_multipart
    http_files
    http_file_body
    http_file_missing
    http_full_url
    http_get
    http_headers_merge
    http_headers_special
    http_implementation
    http_keepalive
    http_label
    http_md5
    http_methods
    http_params_get
    http_params_post
    http_path_chars
    http_raw_body
    http_response_headers
    http_source_address
    http_source_device
    http_stale
    http_status
    http_timeouts
    http_unnamed_body
    http_url_errors
    http_variables_in_path
    if_condition
    if_evaluate_all
    if_nested
    if_script
    java_test
    java_test_time
    json_assertion
    json_extractor_all
    json_extractor_default
    json_extractor_first
    json_extractor_options
    json_extractor_uneven
    jtl_all_columns
    jtl_append
    jtl_assertions
    jtl_default
    jtl_delimiter
    jtl_exists_empty
    jtl_few_columns
    jtl_no_header
    jtl_no_timestamp
    jtl_sample_variables
    jtl_tab
    jtl_xml
    jtl_xml_all
    jtl_xml_append
    jtl_xml_embedded
    jtl_xml_functional
    jtl_xml_on_error
    jtl_xml_over
    jtl_xml_variables
    loop_controller
    loop_not_continuing
    nested_controllers
    once
    os_process
    plan_disabled
    plan_functional
    plan_old_names
    post_processor_scope
    properties_files
    random_variable
    redirect_auto
    redirect_both
    redirect_follow
    redirect_loop
    redirect_max_property
    redirect_off
    redirect_processors
    redirect_refused
    redirect_relative
    regex_extractor
    regex_extractor_again
    regex_extractor_failing
    regex_extractor_scope
    response_assertion
    response_assertion_document
    response_assertion_variables
    result_collector
    result_collector_append
    result_collector_xml
    result_saver
    simple_recording
    subresults_no_renaming
    subresults_off
    tcp_sampler
    timer_factor
    timer_throughput
    timers
    transaction_assertion_parent
    transaction_assertion_sample
    transaction_multi_loop
    transaction_parent
    transaction_parent_sub
    transaction_sample
    transaction_time_parent
    transaction_time_sample
    user_parameters
    user_parameters_iteration
    variables_names
    variables_order
    variables_per_thread
    while_controller
    while_extracted
    ws_bare
    ws_binary_assertion
    ws_close
    ws_closed_just_opened
    ws_cookies
    ws_cookies_none
    ws_deflate
    ws_deflate_unasked
    ws_extractors
    ws_files
    ws_filter_any
    ws_filter_binary
    ws_filter_nested
    ws_filter_ping
    ws_filter_sizes
    ws_filter_sub_labels
    ws_filter_text
    ws_filter_timeout
    ws_filter_timeout_nested
    ws_fragments
    ws_headers
    ws_hold_jmeter
    ws_new_connection_each
    ws_no_connection
    ws_open
    ws_open_refused
    ws_ping
    ws_properties_merged
    ws_proxy
    ws_proxy_closed
    ws_proxy_refused
    ws_proxy_user
    ws_read
    ws_read_end
    ws_read_timeout
    ws_request_response
    ws_request_response_wrong
    ws_server_closes
    ws_survives_iterations
    ws_thread_stop_tcp
    ws_thread_stop_ws
    ws_validation
    zaleski
    zaleski_closed
    zaleski_streaming
}

#[test]
fn every_folder_is_listed() {
    let mut folders: Vec<String> = std::fs::read_dir(case::folder())
        .expect("the cases")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut listed = LISTED.to_vec();
    listed.sort_unstable();
    assert_eq!(folders, listed);
}
