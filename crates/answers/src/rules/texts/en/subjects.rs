//! English subjects of the rules: what each rule looks for.

texts! {
    cpu_quota = "a CPU quota that stops the generator";
    generator_limit = "a generator at its limit";
    machine_busy = "other programs that fill the generator's machine";
    files_exhausted = "descriptors gone";
    workers_lost = "lost worker processes";
    generator_stalled = "pauses of the generator";
    java_pauses = "pauses of the generator's Java machine";
    reading_stopped = "full message queues";
    messages_dropped = "dropped messages";
    unread_growing = "unread data in the generator";
    zero_windows = "closed TCP windows";
    generator_memory = "a generator short of memory";
    target_down = "a target that is gone";
    errors_named = "errors";
    queue_grows = "starts that the target does not keep up with";
    concurrency_limit = "a fixed number of requests at once";
    plateau = "a rate that does not grow with the users";
    ports = "local ports that run out";
    host_ports = "local ports of watched hosts";
    host_churn = "connections of watched hosts to what is behind them";
    host_sessions = "sessions of watched firewalls and load balancers";
    host_uneven = "watched hosts that are left out";
    host_busy = "processors of watched hosts that are busy without load";
    host_java = "pauses of Java on watched hosts";
    plan_fault = "a plan that fails at any load";
    cut_by_end = "errors made by the end of the run";
    fails_above = "errors from a number of requests in flight on";
    reset_under_load = "connections reset from some load on";
    connection_churn = "connections that are not kept";
    tls_cost = "the cost of TLS handshakes";
    fixed_timeout = "time limits";
    accept_queue = "a full accept queue";
    backend_uneven = "one backend that is ill or not used";
    rate_limit = "a rate limit";
    late_starts = "a rate that was not reached";
    warmup_unfinished = "an unfinished warm-up";
    stalls = "stops of the whole target";
    slow_phase = "a time of slower answers";
    bimodal = "two kinds of answers";
    drift = "a target that gets slower";
    step_change = "a sudden change of the target";
    network_loss = "lost segments";
    bandwidth = "a saturated network";
    constant_load = "waiting under a load that does not change";
    delayed_ack = "answers held back until an acknowledgement";
    too_few_samples = "too few samples";
    circuit_breaker = "a circuit breaker";
    test_realism = "an unrealistic test";

    series_level = "a number in answers that stays at a limit";
    series_moves = "a number in answers that moves with the response time";
    java_options = "options of a Java machine that are not in force";
    transactions_failed = "transactions that fail by their own assertions";
}
