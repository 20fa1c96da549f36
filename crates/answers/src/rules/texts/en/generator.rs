//! English texts about the load generator, its machine, and rates that were not reached.

texts! {
    // Rules in `generator.rs`.
    generator_limit_found(cpus, full, seconds) =
        "The generator used all of its processors ({cpus:.0}) in {full} of {seconds} seconds: rates and response times are limits of the generator, not of the target.";
    generator_limit_advice(here) =
        "Give the generator more processors or more machines, or ask for less load{here}.";
    machine_busy_found(others, seconds, own, here) =
        "Other programs filled the generator's machine in {others} of {seconds} seconds (the generator itself used {own} of its processors), while samples waited in the generator{here}.";
    machine_busy_advice = "Run the target, and other busy programs, on another machine.";
    own_share_found(in_all, part, of) =
        "Throng itself caused {in_all} of the response time (p99 {part} of {of}).";
    own_share_advice =
        "Give the run more processors or fewer users; until then its response times are too long.";
    generator_not_cause(cpu, lag) = "the generator (CPU {cpu}, p99 of its own share {lag} ms)";
    target_on_same_machine = "; the target runs on this machine, too";

    // Rules in `java.rs`.
    generator_java_heap_advice(heap, of) =
        "The Java heap was nearly full ({heap} of {of}): give it more (--jvm-heap), or run fewer users in Java.";
    generator_java_collector_advice(heap, of) =
        "Let scripts and plug-ins make less garbage, or choose a collector with short pauses (--jvm-option -XX:+UseParallelGC, or -XX:+UseZGC); at most {heap} of {of} were in use.";
    generator_java_pauses_found(n, in_all, part, up_to) =
        "Java stood still to collect its garbage: {n} collections took {in_all} ({part} of the run), {up_to}. Samples, scripts and plug-ins in Java waited meanwhile, so response times of such samples are too long.";
    host_java_heap_advice(name, used, most) =
        "The heap of {name} was nearly full ({used} of {most}): give it more (-Xmx), or look for what it keeps.";
    host_java_collector_advice(name) =
        "Look at the collector of {name} and its log (-Xlog:gc): a larger heap, a collector with shorter pauses, or less garbage for each request.";
    host_java_pauses_found(name, in_all, part, most) =
        "Java on {name} stood still to collect its garbage: {in_all} in all ({part} of the time), up to {most} in one second. Requests that it had taken waited meanwhile.";
    longest_collection_in_second(longest) = "up to {longest} in one second";
    longest_collection_on_average(longest) = "at worst {longest} a second on average";

    // Rules in `late_starts.rs`.
    because_generator_stood_still = "the generator stood still";
    because_generator_at_limit = "the generator was at its limit";
    because_machine_busy = "other programs filled the generator's machine";
    because_answers_waited = "answers waited in the generator";
    rate_missed_by_generator(missing, why, asked_words, reached) =
        "The rate was not reached: {missing} were never made, because {why}: {asked_words}/s asked for, {reached}/s made.";
    rate_missed_by_generator_advice =
        "Give the generator more processors, or ask for a lower rate.";
    rate_missed_in_group(missing, all, verb, asked_words, reached, users) =
        "The rate was not reached: {missing} were never made, because {all} that the schedule may start {verb} busy: {asked_words}/s asked for, {reached}/s made. Other thread groups have users of their own, which do not count.";
    rate_missed_in_group_advice(reached) =
        "Give the group with the schedule more users. If more of them only make its answers slower, {reached}/s is the target's limit beside the other groups.";
    rate_missed_in_pause(missing, pause, at, everyone, then, asked_words, reached, users) =
        "The rate was not reached: {missing} were never made. The target gave no answers for up to {pause} (first at {at}), {everyone} waited for it, and {then} of them fell into that time: {asked_words}/s asked for, {reached}/s made.";
    rate_missed_in_pause_advice =
        "Ask for the rate with an open load (--rps), which starts whatever the answers do, and look at the target at that time.";
    rate_missed_by_slow_target(missing, why, asked_words, reached, everyone, now, first, then, users) =
        "The rate was not reached: {missing} were never made, because {why}: {asked_words}/s asked for, {reached}/s made, while {everyone} waited {now} for answers that took {first} under a light load. {then}";
    rate_missed_by_slow_target_advice =
        "Look for the limit in the target rather than in the number of users: throng capacity --rps finds the highest rate at which answers still come in time.";
    rate_missed_for_users(missing, why, asked_words, reached, need) =
        "The rate was not reached: {missing} were never made, because {why}: {asked_words}/s asked for, {reached}/s made. {need}, and more if answers or pauses get longer then.";
    rate_missed_for_users_advice(give, each_own, reached) =
        "Give the plan {give}{each_own}. If more users only make the answers slower, {reached}/s is the target's limit: throng capacity --rps finds it.";
    late_starts_generator_advice = "Give the run more processors, or ask for a lower rate.";
    late_starts_advice =
        "Response times from the intended start are what users would have waited; give the plan more users if all starts must be on time.";
    late_starts_found(kept, why, from_due, from_start) =
        "Samples started later than they should have{kept}{why}: p99 from the intended start is {from_due}, from the actual start {from_start}.";
    because_all_wait(everyone, verb, each, users) =
        "{everyone} {verb} waiting for answers of {each}";
    because_all_busy(everyone, verb, share, their, each, users) =
        "{everyone} {verb} busy: {share} of {their} time passed in waiting for answers of {each}, the rest between an answer and the next request (pauses, other steps of the plan)";
    same_rate_in_all =
        ", and keep the total rate: a timer that each user applies separately asks for a higher rate with more users";
    starts_made(made, due) = " ({made} of {due} starts were made)";
    missing_starts(n, of, share) = "{n} of {of} starts ({share})";
    because_target_at_limit(reached) = "the target answers about {reached}/s and not more";
    more_users_wait_longer = "More users would only wait longer.";
    because_answers_got_slower = "its answers got slower";
    more_users_help_if_not_slower = "More users help only if that makes the answers no slower.";
    rate_needs_users(by_each, need) =
        "At {by_each}/s for each user, as now, the rate needs about {need} users";
    give_users(need) = "about {need} users";
    rate_needs_more_users = "The rate needs more users";
    give_more_users = "more users";
    late_because_generator_was_busy = ", because the generator or its machine was busy";
    late_because_only_user_waited = ", because the only user was waiting for answers";
    late_because_all_users_waited = ", because all users were waiting for answers";

    // Rules in `machine.rs`.
    files_exhausted_found(samples) =
        "Descriptors ran out on the generator: {samples} failed because none was free.";
    connections_lost_with_workers(connections) =
        ", and {connections} WebSocket connections with them";
    workers_lost_found(workers, verb, connections) =
        "Worker processes of the generator died ({workers} {verb} noticed){connections}.";
    workers_lost_advice =
        "See the run's log for the reason; most often the system ran out of memory.";
    generator_stalled_found(length, at, of_seconds, effect) =
        "The generator stood still: no answer was read for {length}, until about {at} after the start; in all in {of_seconds} of the run. {effect}";
    generator_stalled_advice =
        "Make sure that nothing stops or slows this process (SIGSTOP, swapping, a paused virtual machine, a quota of processor time) and that no sample computes for long.";
    some_samples_in_stall(n, were, them, mean, p95, mean_less, p95_less) =
        "{n} {were} to start in it: with {them} the mean of the response time is {mean} and p95 {p95}, without {them} {mean_less} and {p95_less}.";
    only_sample_in_stall = "The one sample was in flight over it, or was to start in it.";
    all_samples_in_stall(n) = "All {n} samples were in flight over it, or were to start in it.";
    no_sample_in_stall = "No sample was in flight.";
    one_sample_ended_in_stall =
        "A sample ended in these seconds and may show a time longer than the server's.";
    samples_ended_in_stall(n) =
        "{n} samples ended in these seconds and may show times longer than the server's.";
    machine_memory_found(left, all) =
        "The generator's machine was short of memory: at least once only {left} of {all} were available.";
    machine_memory_advice =
        "Run fewer users on this machine, or add memory; throng preflight estimates the need.";
    tcp_memory_advice = "Raise net.ipv4.tcp_mem, or read faster; throng preflight names the value.";
    tcp_memory_of_others_advice =
        "Look for the program whose sockets hold the most (ss -tm), or raise net.ipv4.tcp_mem; throng preflight names the value.";
    tcp_memory_found(times, dropped, were, whose) =
        "TCP reached its memory limit on the generator's machine: {times} under pressure, {dropped} {were} dropped because of it.{whose}";
    one_second = "one second";
    several_seconds(n) = "{n} seconds";
    tcp_memory_of_all_programs(moved) =
        " The kernel counts all programs together, and this run sent and received only {moved}: probably another program fills it.";
    one_interval(step) = "one interval of {step}";
    several_intervals(n, step) = "{n} intervals of {step}";

    // Rules in `ports.rs`.
    ports_ran_out(samples, text) =
        "Local ports ran out on the generator: {samples} failed because none was free{text}";
    ports_nearly_taken(least_words, all_words) =
        "Nearly all local ports of the generator were taken: at least once only {least_words} of {all_words} were left.";
    ports_to_address_run_out(address, when, waiting, all, pace) =
        "Local ports of the generator towards {address} run out at about {when} if it goes on like this: at least {waiting} of {all} are in TIME_WAIT, {pace} more each second.";
    ports_run_out(when, least_words, all_words, pace) =
        "Local ports of the generator run out at about {when} if it goes on like this: {least_words} of {all_words} are left, {pace} fewer each second.";
    ports_without_example = ".";
    ports_with_example(text) = ": {text}";

    // Rules in `quota.rs`.
    cpu_quota_found(allowed, of, stopped_words, periods_words) =
        "The CPU quota of the generator's control group ({allowed} processors) stopped the generator in {of} of the scheduler's periods ({stopped_words} of {periods_words}): rates and response times are limits of the quota, not of the target.";
    cpu_quota_advice =
        "Raise or remove the limit (docker run --cpus, resources.limits.cpu, CPUQuota=), or ask for less load.";

    // Rules in `reading.rs`.
    reading_stopped_found(times, peak, not_read, most) =
        "Sockets were left unread {times} times because their users' inboxes were full: on {peak} sockets at once at most, {not_read} at the end; at most {most} were queued.";
    reading_stopped_advice =
        "Let the plan read more often, or raise the limit of the inbox; while a socket is not read, its peer has to wait or buffer.";
    messages_dropped_found(n, all) =
        "{n} of {all} messages were dropped in the generator because inboxes were full.";
    messages_dropped_advice =
        "The plan's settings ask for it; raise the limit of the inbox if the plan needs these messages.";
    unread_growing_found(each, longest) =
        "Unread data piled up in the generator's sockets: up to {each} per socket, growing for {longest} seconds in a row.";
    unread_growing_advice =
        "The generator reads more slowly than the server sends: give it more processors, or fewer connections each.";
    small_receive_buffer_advice(bytes) =
        "Sockets start here with a receive buffer of {bytes} bytes, and half of it is the TCP window: a longer message fills the window and stops the sender. Raise the default of net.ipv4.tcp_rmem; Linux sets 131 072.";
    zero_windows_advice =
        "A peer or proxy that cannot send buffers its data or closes the connection: lost connections may be the generator's fault; see CPU, lag and unread bytes in seconds.jsonl.";
    zero_windows_found(times) =
        "Sockets of the generator's machine told their peers {times} times to stop sending (TCP zero window).";

    // Rules in `systems.rs`.
    ports_advice_windows =
        "Widen the range of dynamic ports of the Windows machine (netsh int ipv4 set dynamicport tcp start=10000 num=55535; MaxUserPort before Windows Vista), let closed connections wait for less time (TcpTimedWaitDelay), or keep connections open.";
    ports_advice_macos =
        "Widen net.inet.ip.portrange.first to net.inet.ip.portrange.last of the macOS machine, or keep connections open.";
    ports_advice_linux =
        "Widen net.ipv4.ip_local_port_range, add source addresses, or keep connections open; throng preflight computes the need.";
    files_advice_windows =
        "Windows sets no limit of open files by default: look for files and connections that the generator never closes (its number of handles in the Task Manager), and for a full non-paged pool, or spread the users over more machines.";
    files_advice_macos =
        "Raise the limits of open files of the macOS machine (ulimit -n of the shell, launchctl limit maxfiles, kern.maxfilesperproc), or spread the users over more machines.";
    files_advice_linux =
        "Raise the limit of open files (ulimit -n), or spread the users over more worker processes.";
    connect_timeout_advice(end) =
        "Connection attempts got no answer: look for a firewall that drops them, a wrong address, or a full accept queue of the target (somaxconn, the service's backlog). {end}";
    reset_by_windows_advice =
        "Windows itself ended these connections (error 10053): after data that nobody acknowledged, a time limit, or by its virus scanner, VPN or firewall. Look at these, and at the target's log for that time.";
    reset_advice =
        "The target or a proxy before it closed the connection: look at its time limits, its limits of connections and its log.";
    connect_limit_windows =
        "If the plan sets no connect timeout, Windows gives up after about 21 s (netsh int tcp show global: Max SYN Retransmissions).";
    connect_limit_macos =
        "If the plan sets no connect timeout, macOS gives up after 75 s (net.inet.tcp.keepinit).";
    connect_limit_linux =
        "If the plan sets no connect timeout, Linux gives up after about 127 s (net.ipv4.tcp_syn_retries).";
}
