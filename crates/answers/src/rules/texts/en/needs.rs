//! English texts about data that a rule lacks.

texts! {
    // Rules in `backends.rs`.
    labels_of_each_address = "the labels that each address served";
    several_addresses_or_header_values =
        "more than one address, or value of a response header, of the same service";

    // Rules in `bimodal.rs`.
    thirty_seconds_of_same_load = "30 s under the same load";

    // Rules in `concurrency.rs`.
    thirty_seconds_of_full_load =
        "30 s under the full load behind a light one: run with --ramp 30s --hold 30s";
    hundred_requests = "100 requests";
    number_of_users = "the number of users";

    // Rules in `connections.rs`.
    counters_of_connections = "counters of connections";
    counters_of_tls_handshakes = "counters of TLS handshakes";

    // Rules in `constant_load.rs`.
    ten_seconds_of_same_load = "10 s and 100 requests under the same load";

    // Rules in `course.rs`.
    sixty_seconds_of_same_load = "60 s under the same load";

    // Rules in `delayed_ack.rs`.
    twenty_answers_with_phases = "20 answers kept with their phases";

    // Rules in `down.rs`.
    any_requests = "requests";

    // Rules in `errors.rs`.
    success_column = "the column success";

    // Rules in `generator.rs`.
    figures_of_generator = "figures of the generator";

    // Rules in `host_ports.rs`.
    time_wait_of_watched_host =
        "connections in TIME_WAIT of a watched host (--watch NAME=URL of a node_exporter)";

    // Rules in `hosts.rs`.
    connections_opened_by_watched_host =
        "connections that a watched host opens (--watch NAME=URL of a node_exporter)";
    similar_watched_hosts = "watched hosts alike, with names such as gateway-1 and gateway-2";
    processors_of_watched_host =
        "processors of a watched host (--watch NAME=URL of a node_exporter)";
    five_seconds_of_little_load = "five seconds with little load, at the start or while paused";

    // Rules in `java.rs`.
    pauses_of_watched_java = "pauses of a watched Java machine (--watch NAME=URL of its exporter)";

    // Rules in `machine.rs`.
    figures_of_generator_machine = "figures of the generator's machine";

    // Rules in `network.rs`.
    phases_of_requests = "the phases of requests";

    // Rules in `pace.rs`.
    required_rate = "the rate that was asked for, if any";
    users_that_wait =
        "users that wait for answers: here most of those that came later paused until a request was due";

    // Rules in `ports.rs`.
    number_of_free_ports = "the number of free ports";

    // Rules in `queue_grows.rs`.
    six_seconds_of_same_rate = "6 s in which users start at the same rate (--rps)";

    // Rules in `resets.rs`.
    lighter_load_after_first_reset =
        "a lighter load after the first reset: until then, the time explains resets as well as the load";

    // Rules in `sessions.rs`.
    sessions_of_watched_host =
        "sessions of a firewall or load balancer (--watch NAME=URL of an snmp_exporter)";
    readings_of_sessions(least) = "{least} readings of the sessions: run longer";

    // Rules in `slow_phase.rs`.
    twelve_seconds_of_same_load = "12 s and 200 requests under the same load";

    // Rules in `slows.rs`.
    growing_load_at_same_speed =
        "a load that grows while the target stays as fast: here answers got slower with the time as well, and throng capacity tells both apart";

    // Rules in `stalls.rs`.
    completions_of_100_ms = "completions of each 100 ms";
    generator_with_free_processors =
        "a generator's machine whose processors are not full: here gaps of less than 400 ms may be its own";

    // Rules in `timeouts.rs`.
    times_of_connects = "times of connects";
    new_connections = "new connections";
}
