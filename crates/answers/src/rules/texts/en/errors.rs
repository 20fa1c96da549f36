//! English texts about failed and unanswered requests, time limits and rate limits.

texts! {
    // Rules in `breaker.rs`.
    breaker_found(n, each, part, quick, usual, even, text) =
        "Failures come in {n} bursts of about {each} each, {part} of the time, and fail in {quick} where answers take {usual}: a circuit breaker opens, or load is shed.{even} {text}";
    breaker_advice =
        "Look for a breaker or a health check in the gateway or in a client behind the service, and for what opens it.";
    breaker_at_intervals(every) = " They begin every {every}, as those of a job would.";

    // Rules in `down.rs`.
    down_once_and_back(who, from, about, n, how, more) =
        "{who} stopped accepting connections at {from} and accepted them again {about}: {n} connects {how} meanwhile{more}.";
    down_until_end(who, from, n, how, more) =
        "{who} stopped accepting connections at {from} and accepted none until the end: {n} connects {how}{more}.";
    down_several_times(who, times, at, end, n, how, more) =
        "{who} stopped accepting connections {times} times, at {at}, {end}: {n} connects {how} meanwhile{more}.";
    down_advice =
        "Look at the service and its log at that time: a crash, a restart, a deployment, the kernel's out-of-memory killer. Figures of the time before are those of a target that worked.";
    no_address_found(name, n) =
        "No request was sent: the host name has no address{name}. All {n} requests failed.";
    host_name_advice = "Check the host name and the name server.";
    no_connection_found(at, n, how) =
        "The target{at} accepted no connection: all {n} connects {how}.";
    no_connection_advice =
        "Check whether the service runs, at the host and port of the plan, and at firewalls between.";
    down_last_time_until(end_clock) = "the last time until about {end_clock}";
    down_last_time_until_end = "the last time until the end";
    down_by(end) = "by {end}";
    down_at_about(end) = "at about {end}";
    down_more_at_other_times(others) = ", and {others} more at other times";
    down_times_and_more(times, more) = "{times} and {more} more";
    target_at_address(address) = "The target ({address})";
    the_target = "The target";
    targets_at_addresses(several) = "Targets ({several})";
    one_of_the_targets = "One of the targets";
    connects_refused = "were refused";
    connects_without_answer = "got no answer";
    down_times_and_last(times, last) = "{times} and {last}";

    // Rules in `errors.rs`.
    errors_within_event(length, share, n) =
        ", all within {length}, in which {share} of the requests failed";
    share_of_errors(share) = " ({share})";
    errors_of_only_label(label, own, share) =
        ", all of \"{label}\" ({own} of its requests, {share} of all)";
    run_stopped_after_error(at, of) = "The run ended at {at}{of}: it was to stop after an error.";
    users_stopped_after_error(n, of, noun, verb) =
        "{n} of {of} {noun} {verb} stopped after an error, as the plan says.";
    include_missing(first, more) =
        "the plan ran without {first}{more}: an Include Controller could not include it";
    most_frequent_cause = "The most frequent cause";
    only_cause = "The cause";
    one_other_cause = "; 1 other cause";
    other_causes(more) = "; {more} other causes";
    errors_found(total, of, within, each, the, times, text, when, load, more, ended, whose, those) =
        "{total} failed{of}{within}{each}. {the}, {times}: {text} ({when}{load}){more}.{ended}{whose}";
    refused_at_start_advice =
        "Nothing listened at that address when the run began: start the next run when the service answers, and judge this run without its first seconds.";
    refused_for_a_time_advice =
        "Connections are refused while nothing listens: check whether the service, or one of its instances, was restarted at that time.";
    refused_advice =
        "Nothing listens at that address, or the accept queue is full: check whether the service runs.";
    tls_error_advice =
        "Look at the certificate of that host (its chain, its names, its dates), and at the versions of TLS that both sides allow.";
    route_advice = "Look at the routes and firewalls between the generator and that address.";
    unexpected_answer_advice(samples) =
        "The answer came but is not the one that the plan expects: look at {samples}.";
    other_error_advice(samples) =
        "Look at {samples} of this cause, and at the target's log for that time.";
    kept_samples = "the kept samples";
    failed_rows = "the failed rows";
    errors_by_end_found(late_words, all_errors, were, more) =
        "{late_words} of {all_errors} {were} caused by stopping the run, not by the target.{more}";
    errors_by_end_not_load = "the load: there were almost no errors before the stop";
    errors_by_end_advice =
        "Let samples in flight finish (one Ctrl-C, or the end by duration), and judge the run without them.";
    cut_requests_found(requests, typical) = "{requests} (a request took {typical} at the median).";
    cut_requests_advice = "Nothing to do; run longer than a few response times if they are many.";
    never_answered_found(n, requests, for_ms, others, they) =
        "{n} {requests} still had no answer {for_ms} after the run was stopped{others}; {they} counted apart, neither as answers nor as errors.";
    never_answered_advice =
        "Look at the target for requests that it never answers, and give the samplers a response timeout: then such requests are errors.";
    without_code_or_message = "without code or message";
    range_of_load(least, most) = "{least} to {most}";
    with_requests_in_flight(n) = ", with {n} requests in flight";
    with_one_user = ", with 1 user";
    with_users(n) = ", with {n} users";
    when_for_less_than_a_second(from) = "at {from}, for less than a second";
    when_for_less_than_two_seconds(from) = "at {from}, for less than 2 seconds";
    when_until_at_the_latest(from, to) = "from {from} until {to} at the latest";
    when_in_seconds_between(failing, all, from, to) =
        "in {failing} of {all} seconds between {from} and {to}";
    when_until(from, to) = "from {from} until {to}";
    when_since(from) = "since {from}";
    of_planned_time(of) = " of {of}";
    one_request_in_flight_at_end =
        "1 request was in flight when the run ended; it is counted apart, neither as an answer nor as an error";
    requests_in_flight_at_end(n) =
        "{n} requests were in flight when the run ended; they are counted apart, neither as answers nor as errors";
    longest_other_request(most) = ", where no other took longer than {most}";
    and_other_files(files) = " and {files}";
    next_sentence(sentence) = " {sentence}";
    one_more_sample_cut_off(n) = " 1 more sample was cut off and is in no figure.";
    more_samples_cut_off(n) = " {n} more samples were cut off and are in no figure.";

    // Rules in `failing_time.rs`.
    every_request_fails_from(every, from) = ": {every} from {from} on";
    every_request_fails_between(every, from, to) = ": {every} from {from} until {to}";
    when_at_intervals(every, long, times, from) =
        "every {every} for about {long}, {times} times from {from} on";

    // Rules in `fails_above.rs`.
    or_limit_of_requests(requests, n) =
        " A limit of about {requests} at once (semaphore, pool, queue) would look the same.";
    refused_beyond_number(k, of, range, users, failed, or) =
        "About {k} requests at once{of}{range} are answered, and what is beyond fails: a limit of {k} (semaphore, pool, queue). Of {users} users about {k} were being answered at any time, hardly more or fewer, while {failed} requests failed. No lighter load went before.{or}";
    errors_above_number(k, of, range, failed, calm, or) =
        "Errors begin above about {k} requests in flight{of}{range}: a limit of {k} (semaphore, pool, queue). {failed} requests failed above it, and hardly any of {calm} below it.{or}";
    errors_above_not_slow_target =
        "a target that gets slower: requests that it accepts are answered as fast as before";
    errors_above_advice(k) =
        "Look for a limit of {k} that turns away what is beyond it (a semaphore, a bulkhead, a pool without a queue, a bounded queue), in the target or what it calls; raise it, or let requests wait.";
    range_of_limit(low, high) = " ({low}–{high})";
    of_labels_together(n) = " of {n} labels together";
    or_limit_of_rate(rate) = " The same figures fit a limit of the rate, {rate} answers/s.";

    // Rules in `gateway.rs`.
    mgs_key_advice =
        "The gateway has another key or derives another: `throng mgs verify` finds the settings of a captured request (`throng explain mgs`).";
    mgs_signature_advice =
        "Compare secret, digest, join and headers with the gateway's: `throng mgs verify` finds them from a captured request (`throng explain mgs`).";
    mgs_clock_advice =
        "Compare the clocks (throng.mgs.clock.offset_ms), and throng.mgs.cache.window_s with the validity of time stamps at the gateway.";
    mgs_answer_advice =
        "The gateway encrypts its answers in another way, or not at all: compare throng.mgs.decrypt, iv, gzip and derive (`throng explain mgs`).";
    mgs_other_server_advice =
        "Something other than the gateway answered, or throng.mgs.header.result names another header (`throng explain mgs`).";
    mgs_settings_advice =
        "These requests were not sent: correct the settings of RPC Gateway Security; `throng check` says what is wrong (`throng explain mgs`).";

    // Rules in `hang.rs`.
    no_answer_found(length, waited) = "The target answered no request in {length}: {waited}.";
    no_answer_advice =
        "Check whether the service works at all, and whether host, port and protocol of the plan are its own: a stopped process, a lock, or a port that another program listens at takes requests and answers none.";
    slower_than_time_limit(first, most, at, limit, waited) =
        "Answers took longer and longer, from {first} up to {most}, and from {at} on all longer than the plan's time limit of {limit}: {waited}.";
    slower_than_time_limit_advice =
        "The target was probably working all the time, on requests that nobody waited for any more. Either the load grew beyond what it can carry (throng capacity finds that load), or it got slower under the same load; a run without the time limit shows how long answers take.";
    hang_until_end(at, waited) = "The target answered nothing from {at} until the end: {waited}.";
    hang_of_some_until_end(who, at, waited) =
        "{who} got no answer from {at} until the end: {waited}.";
    hang_advice =
        "Look at the service and its log at that time: a lock or a pool that nobody gives back, a disk or a dependency that does not answer, a stopped process; a dump of its threads shows where they wait. Figures of the time before are those of a target that worked.";
    waited_until_time_limit(gave_up, n_gave_up) = "{gave_up} waited until the plan's time limit";
    waited_until_run_end(cut, n_cut) = "{cut} waited until the run ended";
    waited_until_time_limit_or_run_end(gave_up, n_cut, n_gave_up) =
        "{gave_up} waited until the plan's time limit, and {n_cut} until the run ended";
    label_and_more_labels(name, more, n) = "\"{name}\" and {more}";
    one_label(name) = "\"{name}\"";

    // Rules in `plan_fault.rs`.
    plan_fault_not_load = "load: it fails from its first requests on";
    plan_fault_refused(name, text) =
        "Each connection for \"{name}\" was refused, from its first request on: nothing accepts connections at that address, and the load is not the cause.{text}";
    plan_fault_refused_advice(name) =
        "Check host and port of \"{name}\" in the plan, and whether the service listens there.";
    plan_fault_or_load(name, at_first, early, over, text) =
        "\"{name}\" fails from its first requests on ({at_first} of the first {early}, {over} in all), and no lighter load went before: either the plan, its data, the address or a target that does not work at all is the cause, or a load that is too high from the beginning.{text}";
    plan_fault_or_load_advice(samples) =
        "Run the plan with one user and look at {samples}. If it fails then too, correct URL, data, login or assertion; else the load is the cause, and throng capacity finds the load that the target can carry.";
    plan_fault_found(name, at_first, early, over, text) =
        "\"{name}\" fails from its first requests on ({at_first} of the first {early}, {over} in all): the load is not the cause, but the plan, its data, the address, or a target that does not work at all.{text}";
    plan_fault_advice(samples) =
        "Run the plan with one user and look at {samples}; then correct URL, data, login or assertion.";

    // Rules in `rate_limit.rs`.
    refused_of_label(name) = " of \"{name}\"";
    refused_of_labels = " of the labels concerned";
    rate_limit_advice =
        "Look for a limiter in the gateway or the service (nginx limit_req, an API quota): raise it for the test, or ask for less than it allows.";
    rate_limit_found(refused, share, text, passed) =
        "A rate limit refuses requests: {refused} of them ({share}) got {text}{passed}.";
    rate_limit_not_capacity = "the target's capacity: refusals are its choice";
    retry_after_found(refused, share, text, meanwhile) =
        "The server turns requests away and names a time to wait (Retry-After): {refused} of them ({share}) got {text}{meanwhile}.";
    retry_after_advice =
        "Look which it is: a limiter (raise it for the test), shedding of load (ask for less), or maintenance (end it).";
    rate_limit_fixed_rate(through, most, or, else_of) =
        "Answers come at a fixed rate of {through}/s, though up to {most}/s were asked for; the rest fails at once: this is typical of a rate limit.{or}{else_of}";
    rate_limit_delays(through, by_itself, one) =
        "Requests are held back to {through}/s: a request alone takes {by_itself}, so a single worker could answer {one}/s. A rate limit delays them.";
    rate_limit_not_workers = "a limit of workers: it would be less than one";
    or_rate_limit_delays(rate) =
        " A limit of the rate that delays requests to {rate}/s (nginx limit_req with a burst) would look the same.";
    let_through_meanwhile(rate, of) = "; about {rate}/s{of} were let through meanwhile";
    none_let_through_meanwhile(of) = "; none{of} was let through meanwhile";
    answered_meanwhile(rate, of) = "; about {rate}/s{of} were answered meanwhile";
    none_answered_meanwhile(of) = "; none{of} was answered meanwhile";

    // Rules in `resets.rs`.
    never_with_fewer_users(calm) = "not at all in {calm} requests";
    seldom_with_fewer_users(times, calm) = "{times} times in {calm} requests";
    resets_found(threshold, most_quiet, flying, n, never, or) =
        "From about {threshold} users on ({most_quiet}–{threshold}; {flying} requests in flight) the target resets or refuses connections: {n} times; with fewer users {never}.{or}";
    resets_advice =
        "Look for a limit of connections near that number: of the service, of a proxy (worker_connections), of descriptors (ulimit -n), of the accept queue (somaxconn).";

    // Rules in `short_wait.rs`.
    one_wait(wait_words) = "{wait_words}";
    range_of_waits(low, high) = "{low:.0} to {high:.0} ms";
    failures_name_a_pool = "They name a pool";
    or_time_limit = ", or of a time limit of that length";
    or_nothing_else = "";
    short_wait_found(wait, n_words, takes, answer, more, or) =
        "A wait of about {wait} precedes the failures: {n_words} requests failed after {takes}, all nearly alike, where the fastest answers take {answer}. {more}: this is typical of a pool or a queue that gives up after this wait{or}.";
    no_free_connection_found(n_words, takes, answer, wait) =
        "A pool had no free connection: {n_words} requests failed after {takes}, all nearly alike, where the fastest answers take {answer}. They name a pool, {wait}.";
    pool_gave_up_after(stated) = "which gave up after {stated} ms, as they say";
    pool_waits_or_refuses(takes) = "which waits for {takes} at most, or not at all";
    pool_waits(takes) = "which waits for {takes} at most";
    no_free_connection_advice =
        "Let the pool wait for a connection (blockWhenExhausted and max-wait of Jedis or DBCP, connectionTimeout, pool_timeout), make it larger, or look for what holds its connections for too long.";
    short_wait_advice =
        "Look for a wait of that length for a connection (max-wait of a Jedis or DBCP pool, connectionTimeout, pool_timeout) in the target or what it calls: the pool is too small for this load, or its connections are held for too long.";
    short_wait_advice_on_limit =
        "Look for a time limit of that length (of a client behind the service, a proxy, a query), then for the step that takes longer; or for a wait of that length for a connection (max-wait of a Jedis or DBCP pool, connectionTimeout, pool_timeout).";
    fail_more_with_requests_in_flight(many, few) =
        "{many} of the requests fail where most are in flight, and {few} where few are";
    fail_more_when_slow = "More requests fail in the seconds in which answers take longer";

    // Rules in `silence.rs`.
    silence_found(times, from, to, for_s, waited, or) =
        "The target answered nothing{times} from {from} to {to} (about {for_s}): {waited}.{or}";
    silence_advice =
        "Look at the service and its log at that time: a garbage collection, a lock, a failover, a disk or a dependency that did not answer, a stopped process or machine.";
    generator_did_not_stall = "the generator: it did not stand still in these seconds";
    or_generator_stalled = " A stop of the machine that sent the requests would look the same.";
    waited_and_answered(all, were) = "{all} waited and {were} answered then";
    all_waited_until_time_limit(all) = "{all} waited until the plan's time limit";
    some_waited_until_time_limit(all, gave_up_words) =
        "{all} waited, {gave_up_words} of them until the plan's time limit";
    times_the_longest(n) = " {n} times, the longest";

    // Rules in `timeouts.rs`.
    silent_connections_cut(silent, connections, of) =
        "A time limit of {silent} cuts connections: {connections} of {of} that the target closed had been without data for that long.";
    silent_connections_advice =
        "Send heartbeats more often than that, or raise the limit at the server or the proxy before it (proxy_read_timeout, idle timeout).";
    plan_timeout_found(errors, of, limit) =
        "{errors} of {of} failed requests were given up after {limit}: the plan's own time limit. How long the target would have taken is not known.";
    plan_timeout_advice =
        "Look for what makes these requests slow; raise the limit in the sampler only if users would wait that long.";
    target_timeout_found(errors, of, limit) =
        "{errors} of {of} failed requests failed after {limit}: a time limit of the target or of a proxy before it.";
    target_timeout_advice =
        "Look for a timeout of that length (proxy_read_timeout, a client behind the service, the wait time of a pool), then for the step that the request waits for.";
    accept_queue_found(full, late, of, part, sent, more) =
        "The target's accept queue is {full}: {late} of {of} connects ({part}) took 1, 3 or 7 s, the times after which a lost SYN is sent again (SYNs sent again: {sent}{more}).";
    accept_queue_advice =
        "Raise the listen backlog of the service and net.core.somaxconn, accept faster, or keep connections; ListenOverflows of nstat on the target confirms it.";
    accept_queue_not_loss = "loss of packets: hardly any data is sent again";
    queue_full = "full";
    queue_probably_full = "probably full";
    connections_rejected(n) = "; connections that the kernel rejected: {n}";

    // Rule in `transactions.rs`.
    transactions_failed_found(own, all, worst) =
        "{own} of {all} failed by their own assertions: no request inside failed, so that figures of requests do not show it.{worst}";
    transactions_failed_worst(name, own, all) =
        " The label with the most is \"{name}\": {own} of {all}.";
    transactions_failed_advice =
        "Look at the assertions of the Transaction Controller: a Duration Assertion fails a transaction that takes too long as a whole.";

    // Rules in `whose.rs`.
    threads_of_group(group) = "all of group \"{group}\"";
    threads_and_more(names, more) = "{names}{more}";
    threads_that_fail(n, all, who, have, share, of) =
        "{n} of {all} threads ({who}) {have} {share}: each of their requests{of} fails, and hardly any of the others.";
    threads_that_fail_advice =
        "Look at what these threads have of their own: accounts, rights, rows of data, addresses; or at a limit of sessions or connections that the other threads hold.";
    or_failing_users =
        " Users that always fail (accounts, data, addresses) would look the same if they were the last to start: the record does not say whose requests failed.";
    range_of_threads(first, last) = "{first} to {last}";
    share_of_these_failures(share) = "{share} of these failures";
    all_of_these_failures = "all of these failures";
    under_labels_concerned = " under the labels concerned";
}
