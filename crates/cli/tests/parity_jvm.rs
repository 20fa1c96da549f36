//! Throng against JMeter 5.6.3 where a plan needs Java: scripts, and elements run by their own classes.
//!
//! The cases are like those of `parity.rs`, in folders whose names begin with `jvm_`. Throng runs them with the JMeter home that
//! `PARITY_JVM_HOME` names (`tests/parity/get-jmeter` makes one), or else with the set that `throng jvm install` has made; without
//! either they are left out, each saying so.

#[path = "../../../tests/parity/case.rs"]
mod case;
#[path = "../../../tests/parity/closed.rs"]
mod closed;
#[path = "../../../tests/parity/datagrams.rs"]
mod datagrams;
#[path = "../../../tests/parity/diff.rs"]
mod diff;
#[path = "../../../tests/parity/document.rs"]
mod document;
#[path = "../../../tests/parity/figures.rs"]
mod figures;
#[path = "../../../tests/parity/names.rs"]
mod names;
#[path = "../../../tests/parity/normal.rs"]
mod normal;
#[path = "../../../tests/parity/server.rs"]
mod server;
#[path = "../../../tests/skipped.rs"]
mod skipped;
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
    jvm_bsf
    jvm_bsf_xml
    jvm_bsh_assertion
    jvm_bsh_errors
    jvm_bsh_init_files
    jvm_bsh_post
    jvm_bsh_pre
    jvm_bsh_sampler
    jvm_bsh_scope
    jvm_bsh_state
    jvm_bsh_timer_listener
    jvm_context
    jvm_controller_every_second
    jvm_controller_holds
    jvm_controller_inside
    jvm_controller_left
    jvm_controller_parallel
    jvm_controller_repeats
    jvm_controller_throws
    jvm_controllers_counted
    jvm_cookies
    jvm_cookies_added_once
    jvm_cookies_of_jsr223_sampler
    jvm_data_and_scripts
    jvm_errors_end_users
    jvm_failing_scripts_and_actions
    jvm_fn_beanshell
    jvm_fn_groovy
    jvm_fn_groovy_conditions
    jvm_fn_groovy_utilities
    jvm_fn_javascript
    jvm_fn_jexl
    jvm_fn_unknown
    jvm_functional
    jvm_groovy_assertion
    jvm_groovy_bindings
    jvm_groovy_break_loop
    jvm_groovy_cached_variables
    jvm_groovy_error_thrown
    jvm_groovy_errors
    jvm_groovy_files
    jvm_groovy_listener
    jvm_groovy_post
    jvm_groovy_pre_headers_of_group
    jvm_groovy_pre_objects
    jvm_groovy_pre_request
    jvm_groovy_pre_request_more
    jvm_groovy_pre_variables
    jvm_groovy_props
    jvm_groovy_restart_loop
    jvm_groovy_sampler
    jvm_groovy_sampler_xml
    jvm_groovy_start_next_loop
    jvm_groovy_stop_engine
    jvm_groovy_stop_test
    jvm_groovy_stop_test_now
    jvm_groovy_stop_thread
    jvm_groovy_stop_thread_context
    jvm_groovy_timer
    jvm_groups
    jvm_https_scripts
    jvm_https_scripts_keystore
    jvm_https_scripts_reset
    jvm_https_scripts_wss
    jvm_if_counted
    jvm_if_javascript
    jvm_java_request
    jvm_jdbc_errors
    jvm_jdbc_hsqldb
    jvm_jdbc_mariadb
    jvm_jdbc_pool
    jvm_jdbc_pool_timeout
    jvm_jdbc_postgresql
    jvm_jdbc_shown
    jvm_jsr223_languages
    jvm_junit
    jvm_listener_order
    jvm_listeners_change
    jvm_many_users
    jvm_modules
    jvm_nested_functions
    jvm_objects_shown
    jvm_on_error_stops
    jvm_pre_native_plugins
    jvm_pre_on_every_sampler
    jvm_property_awaited
    jvm_redirect_and_embedded
    jvm_result_fields
    jvm_sampler_times
    jvm_simple_after
    jvm_simple_beanshell
    jvm_simple_conditions
    jvm_simple_groovy
    jvm_stopped
    jvm_transactions
    jvm_user_counts
    jvm_while_counted
    jvm_while_left
    jvm_writes_files
    jvm_xstream_references
}

#[test]
fn every_folder_is_listed() {
    let listed: Vec<String> = LISTED.iter().map(ToString::to_string).collect();
    assert_eq!(case::named(|name| name.starts_with(case::JVM)), listed);
}
