//! English texts about limits of the target.

texts! {
    // Rules in `concurrency.rs`.
    concurrency_by_spacing(k, noun, of, range, or_fail, flying, rate, workers, alone) =
        "The target works on about {k} {noun}{of} at once{range}. More users only wait longer{or_fail}: {flying} were in flight, and the rate stays at {rate}/s; answers come apart from each other as from {k} {workers} of {alone} each.";
    concurrency_by_product(k, noun, of, range, or_fail, rate, alone, product, flying) =
        "The target works on about {k} {noun}{of} at once{range}. More users only wait longer{or_fail}: {rate} requests/s × {alone} alone ≈ {product}, while {flying} were in flight.";
    concurrency_advice(about, k) =
        "Look for a limit of {about}{k} that a request holds for all of its time, or a smaller one that it holds for a part of it (the network or another service takes the rest): worker or I/O threads, a pool of connections behind the target, processors, a lock.";
    single_worker_advice(rate) =
        "Look for a lock, a single worker, a single thread that never rests (top -H), a single connection behind the target, or a limit of the rate that delays requests to {rate}/s.";
    full_processors_advice(host, share) =
        "The processors of {host} are full ({share}): give it more, or make a request cheaper.";
    opening_connections_share(share) = "opening connections ({share} of the response time)";
    plateau_with_full_processors(each, from, to, before, after, host, share) =
        "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}). The processors of {host} are full ({share}).";
    plateau_with_other_limit(each, from, to, before, after, alone) =
        "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}), and {alone}.";
    plateau_without_full_processors(each, from, to, before, after) =
        "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}), and no watched host's processors are full: look at the network, pools and locks.";
    plateau_found(each, from, to, before, after) =
        "The rate does not grow beyond {each}/s: from {from} to {to} users only the response time does ({before} to {after}).";
    plateau_advice =
        "Watch the target's hosts (--watch NAME=URL) to see whose processors are full, and begin the run with one user: then the verdict can tell how many requests the target works on at once.";
    range_of_workers(between) = " ({between})";
    or_fail = " or fail";
    one_thread_sentence(clause) = " {clause}.";

    // Rules in `constant_load.rs`.
    rate_at_users(each, n, noun) = "{each}/s at {n} {noun}";
    constant_load_advice_without_light_load =
        "Start with few users (--ramp 30s --hold 30s), or let throng capacity search: then the verdict can tell the highest rate and the number of requests worked on at once.";
    constant_load_advice =
        "Let the users start more slowly (--ramp 30s --hold 30s), or let throng capacity search for the limit.";
    constant_load_with_full_processors(load, host, share) =
        "{load}, and the processors of {host} are full ({share}): more users would probably only wait. Run with --ramp 30s --hold 30s, or throng capacity, to see the limit.";
    most_of_median_of_label(share, name, usual) =
        "{share} of the response time passes in \"{name}\". Most of its {usual}";
    most_of_median(usual) = "Most of the {usual}";
    constant_load_waits(load, of, first, cause, full) =
        "{load}. {of} is probably waiting: the first answers took {first}{cause}.{full} Run with --ramp 30s --hold 30s, or throng capacity, to see the limit.";
    constant_load_on_full_line(load, each, part, verb) =
        "{load}, and {each} per second that stay the same: {part} of the response time passes in {verb}. The line may be full, or the target sends slowly. Run with --ramp 30s --hold 30s, or throng capacity, to see whether more users get more.";
    constant_load_cause(cause) = "; {cause}";
    shared_machine_may_be_limit(shared) = " {shared}: that may be the limit.";

    // Rules in `defaults.rs`.
    advice_with_default(advice, default) = "{advice} {default}.";
    default_of_undertow =
        "2 are the I/O threads of Undertow on two processors, the workers of nginx (worker_processes auto) there, or the event loops of Netty on one";
    default_of_jedis = "8 is the default of a Jedis or DBCP pool (maxTotal)";
    default_of_hikari =
        "10 is the default of a HikariCP pool (maximumPoolSize), and of Hystrix (coreSize, maxConcurrentRequests)";
    default_of_hystrix =
        "100 is the default of the Hystrix semaphore in Zuul (zuul.semaphore.max-semaphores), and of max_connections of PostgreSQL";
    default_of_mysql = "151 is the default of max_connections of MySQL";
    default_of_tomcat = "200 is the default of Tomcat's threads (server.tomcat.threads.max)";
    default_of_nginx =
        "512 is the default of worker_connections of nginx, those to its upstreams included";
    default_of_linux_ports =
        "28 232 are the local ports of Linux by default (net.ipv4.ip_local_port_range)";

    // Rules in `light.rs`.
    more_than_one_user = "more than one user";
    light_load_before_full_load(each, n) =
        "a light load before the full one of {each}/s at {n} users: run with --ramp 30s --hold 30s, or throng capacity";

    // Rules in `one_thread.rs`.
    one_thread_clause(who, used) =
        "{who} one processor all the time ({used}), like a single thread that never rests";
    one_thread_advice =
        "Find the thread that never rests (top -H on the target): let several work, make a request cheaper, or run more instances.";
    process_on_host_uses(host) = "the process on {host} uses";
    programs_use = "programs beside the generator use";

    // Rules in `queue_grows.rs`.
    queue_grows_found(said, from, to, slow) =
        "The target does not keep up: {said}, which is its limit under this load. The others wait: users in the run grew from {from} to {to}, and the mean response time to {slow}.";
    queue_grows_not_short_test = "a test that is too short: the growth does not end";
    queue_grows_advice(less, fast) =
        "Ask for less{less}, or let throng capacity --rps find the highest rate at which answers still come in time (here they took {fast} at first).";
    queue_finishes(asked, done) = "of {asked} starts/s it finishes about {done}/s";
    queue_less_than(done) = " than {done}/s";
    queue_answers(asked, done) =
        "{asked} users start per second, and it answers about {done} requests/s";
    queue_less = "";

    // Rules in `series_level.rs`.
    series_level_found(name, level, since, from, to, early_ms, late_ms) =
        "{name} stays at {level} from {since} on, while users went from {from} to {to} and the mean response time from {early_ms} to {late_ms}.";
    series_level_advice(level) =
        "Check whether {level} is a limit of the service: of threads, connections or a queue.";

    // Rules in `storm.rs`.
    storm_found(name, alone_words, longest, n, k, were, rate_words) =
        "The first answers of \"{name}\" took {alone_words} to {longest}, one after another: {n} requests came at once, and about {k} {were} worked on at a time ({rate_words}/s × {alone_words}).";
    storm_advice(k, name) =
        "If users do not come at once, let them start over a longer time (--ramp). If they do, look for what works on about {k} of \"{name}\" at a time: a pool, a lock, processors that hash passwords.";
}
