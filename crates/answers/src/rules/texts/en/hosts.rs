//! English texts about watched hosts and backends.

texts! {
    // Rules in `backend_names.rs`.
    backend_names_advice =
        "Ask what the values name. If they name servers of one service, take this one out and look at its host, its version and its log. If they name different services, give their requests names of their own in the plan.";
    value_is_slow(header, value, slow, usual, n, all) =
        "Responses with {header}: {value} are slow: they take {slow} at the median, those with other values {usual} ({n} of {all} responses kept at random have this value).";
    backend_by_value_is_slow(total, header, value, slow, usual, n, all) =
        "One of {total} backends is slow: {header}: {value} takes {slow} at the median, the others {usual} ({n} of {all} responses kept at random come from it).";
    value_fails(header, value, bad, usual, n, all) =
        "Responses with {header}: {value} fail: {bad} of them, and {usual} of those with other values ({n} of {all} responses kept at random have this value).";
    backend_by_value_fails(total, header, value, bad, usual, n, all) =
        "One of {total} backends fails: {header}: {value} fails {bad} of its responses, the others {usual} ({n} of {all} responses kept at random come from it).";

    // Rules in `backends.rs`.
    backend_advice =
        "Take that backend out and look at its host, its version and its log; the figures of all backends together hide the others.";
    backend_is_slow(total, name, slow, usual, n) =
        "One of {total} backends is slow: {name} takes {slow} at the median, the others {usual} ({n} requests went to it).";
    backend_fails(total, name, bad, n, usual) =
        "One of {total} backends fails: {name} fails {bad} of its {n} requests, the others at most {usual}.";
    backends_are_uneven(total, name, share, expected) =
        "Requests are uneven over {total} backends: {name} got {share}, an even share would be {expected}.";
    backends_uneven_advice =
        "If no weights or sticky sessions are meant: look at the balancer's rule (ip_hash sees one generator as one client; use more source addresses), and at names cached by the client.";

    // Rules in `host_ports.rs`.
    default_range_of_ports = " (the default range; that of the host is not known)";
    failures_after_ports_ran_out(failed, share, code, early) =
        " From then on {failed} requests failed ({share}), most with {code}; {early} before.";
    ports_foreseen_since(seen, pace) =
        " It could be foreseen from {seen} on, by {pace} more each second.";
    one_connection_for_several_requests(every) =
        " It opened one for every {every} requests: if it has a pool, that keeps connections too briefly, or holds too few.";
    connections_for_each_request(number) = " It opened {number} connections for each request.";
    host_ports_ran_out(name, at, waiting_words, ports, note, opening, aftermath) =
        "Local ports of {name} ran out at about {at}: {waiting_words} of {ports}{note} are in TIME_WAIT, which holds each for 60 s.{opening}{aftermath}";
    host_ports_run_out(name, at, waiting, ports, note, pace, opening) =
        "Local ports of {name} run out at about {at} if it goes on like this: {waiting} of {ports}{note} are in TIME_WAIT, {pace} more each second.{opening}";
    host_ports_range_advice(name) = " Give its port range with --watch {name}=URL,ports=N.";
    host_ports_advice(name, more) =
        "Let {name} keep its connections to the services behind it, in a connection pool or with keepalive to upstreams, for longer than a few milliseconds. Otherwise widen its net.ipv4.ip_local_port_range, or add addresses to it or to the service: each pair of addresses has the whole port range.{more}";

    // Rules in `hosts.rs`.
    host_time_wait_on_average(waiting) = " {waiting} of them are in TIME_WAIT on average.";
    host_churn_found(host, each, kept, held) =
        "{host} opens {each} connections behind it for each request, and accepts {kept}: the connections to it are kept, those to the services behind it are not.{held}";
    host_churn_advice(host) =
        "Let {host} keep its connections to the services behind it (keepalive in nginx' upstream, with HTTP/1.1 and an empty Connection header; a pool). Each new one costs both sides, takes a port for 60 s, and may be where a rate stops growing though no processor is full.";
    host_churn_brief(host, every, each, kept, held) =
        "{host} keeps its connections to the services behind it too briefly: it still opens one for every {every} requests, all the time ({each} for each; it accepts {kept}).{held}";
    host_churn_brief_advice(host) =
        "Look at the pool of {host} towards the services behind it: a lifetime or an idle time of milliseconds, a small number of requests for each connection (keepalive_time, keepalive_timeout and keepalive_requests in nginx' upstream, timeToLive of a pool), or fewer connections than are busy at once. Each new one takes a port for 60 s.";
    host_uneven_unreachable(host, part, names, of, before, rate) =
        "{host} gets {part} of the traffic of {names}; a fair share is {of}. {before} repeats {rate} attempts to connect each second: {host} is probably in its list and cannot be reached.";
    host_uneven_unreachable_advice(before, host) =
        "Connect from {before} to {host} by hand; look for a network policy or firewall between them that drops the segments, and for a wrong address or port.";
    host_uneven_one_gets_most(only, most, names, of) =
        "{only} gets {most} of the traffic of {names}; a fair share is {of}.";
    host_uneven_one_gets_most_advice =
        "The proxy before them probably chooses by the client's address (ip_hash), which is one for the whole run: connect from several networks (--source), or let the proxy choose in another way. If it does not choose by address, check whether its list contains the other hosts.";
    host_uneven_others_even(host, part, names, of) =
        "{host} gets {part} of the traffic of {names}; a fair share is {of}, and the others share evenly.";
    host_uneven_others_even_advice(host) =
        "Check whether {host} is in the list of the proxy before it, and is up.";
    host_uneven_found(host, part, names, of) =
        "{host} gets {part} of the traffic of {names}; a fair share is {of}.";
    host_uneven_advice(host) =
        "Check whether {host} is in the list of the proxy before it, and is up. A proxy that chooses by the client's address (ip_hash) gives all connections from one network to one of them: connect from several networks (--source), or choose otherwise. Watch the proxy's own host (--watch), too: it counts attempts to connect that get no answer.";
    host_busy_found(names, part, of, under) =
        "Processors of {names} are {part} busy{of} without any load, and {under} busy under load: another program runs there.";
    host_busy_advice(names) =
        "Look for a process on {names} that does not belong to the test (top, sorted by processor), end it, and measure again.";
    the_busiest = " (the busiest)";

    // Rules in `java_options.rs`.
    java_options_found(are, options, program, host, they, them, more) =
        "The {are} {options} behind {program} on {host} {they} not in force: Java gives {them} to the program as arguments.{more}";
    java_options_advice(them, options, program) =
        "Put {them} before: java {options} {program}. Then repeat the run.";
    java_options_of_others(n) = " So are those of {n} more on this host.";

    // Rules in `series_moves.rs`.
    series_moves_found(name, rises, low_ms, low, high_ms, high, alike_words, n) =
        "{name} {rises} in the seconds in which answers take longer, under the same load: {low_ms} on average where it is {low} or less, {high_ms} where it is {high} or more (rank correlation {alike_words} over {n} s). That is no cause: both may follow something else.";
    series_moves_advice(name) =
        "Look at what {name} counts in the service at these times, and what else happens then.";
    series_rises = "rises";
    series_falls = "falls";

    // Rules in `sessions.rs`.
    sessions_exhausted(host, now, of) =
        "{host} has no session left: {now} of {of}. New connections through it fail or wait.";
    sessions_exhausted_advice(host) =
        "Let everything that connects through {host} keep its connections, shorten its time limit of closed sessions, or raise its limit.";
    sessions_with_clients(clients) = "of its {clients} sessions with clients";
    connections_of_run(shown) = "of the run's {shown} connections";
    sessions_of_unknown_owner(host, works, sessions, held) =
        "The processors of {host} are {works} busy, and it has {sessions} sessions while the run holds {held} connections. The owner of these sessions is unknown: the run already held its connections at the first reading.";
    sessions_of_unknown_owner_advice =
        "Let the users come slowly (--ramp 30s): then the sessions at first are those of others, and those that come with the users show whether a proxy opens a connection for each request.";
    and_processors_busy(cpu) = ", and its processors are {cpu} busy";
    sessions_for_each_connection(host, per, of, works) =
        "{host} has {per} sessions for each {of}{works}: connections to the first server are kept, those behind it probably are not.";
    sessions_for_each_connection_advice(host) =
        "Let the proxy keep its connections to the services behind it (keepalive in nginx' upstream, with HTTP/1.1 and an empty Connection header): each new connection is a session of {host} until its time limit. To be sure, watch the proxy's own host: it counts the connections that it opens.";
}
