//! English texts about response times that change during a run.

texts! {
    // Rules in `bimodal.rs`.
    bimodal_found(name, fast, slow, share, by) =
        "\"{name}\" has two kinds of answers: around {fast}, and around {slow} ({share} of them){by}. Means and percentiles between the two describe neither.";
    bimodal_advice =
        "Find out what the slow ones have in common: a cache miss, other data, a second query, a new connection, another backend. Give the two names of their own in the plan if it can tell them.";
    slow_open_connection = ": the slow ones open a connection";
    slow_have_code(code) = ": the slow ones have the code {code}";
    slow_come_from(address) = ": the slow ones come from {address}";
    slow_have_size(size) = ": the slow ones have {size}";

    // Rules in `course.rs`.
    warmup_found(before, after) =
        "The run ended before the target was warm: the median still fell, from {before} in the first third to {after} in the last.";
    warmup_advice =
        "Run longer, and judge only the part that is steady; or warm the target up before.";
    drift_found(of, from, to, pace) =
        "Answers get slower under the same load: the median{of} grew from {from} to {to}, by {pace} a minute.";
    drift_advice =
        "Look for what grows in the target: memory and time in garbage collection, a table without an index, a log, open connections; data that the test makes, or pages that grow as its data goes on, count, too.";
    rate_stayed(b) = "the rate stayed at {b}/s";
    rate_changed(a, b) = "the rate from {a}/s to {b}/s";
    step_change_found(when, of, before, after, rates, failures) =
        "Response times changed at about {when}, under the same load: the median{of} went from {before} to {after}, {rates}{failures}.";
    step_change_advice =
        "Look at the target at that time: a deployment, a failover, scaling, a job that began, an instance that came or went. Or the plan's data changed then: other rows of a file, larger pages.";
    failures_changed(before, after) = ", failures from {before} to {after}";

    // Rules in `rhythm.rs`.
    rhythm_found(of, n, every, slow, usual, first) =
        "Answers{of} were slower {n} times, about every {every} s, under the same load: they took {slow} on average in these seconds, and {usual} in the others (first at about {first}).";
    rhythm_advice(every) =
        "Look for what runs in the target every {every} s: a job, a flush, an expiring cache, a garbage collection.";

    // Rules in `same_work.rs`.
    other_answers_found(of, when, b, a, fast, slow) =
        "Answers{of} differ from about {when} on: they have {b} instead of {a} on average, and take {fast} instead of {slow}. Figures of the whole run mix both.";
    other_answers_advice =
        "Compare kept answers of both times in the report. Either the target answers something else (a login page behind a lost session, an error page with status 200, an empty list), or the plan asks for something else (other rows of a file, pages from its own cache). Add a Response Assertion on what must be there.";

    // Rules in `slow_phase.rs`.
    slow_phase_at_first(of, a, n, r, b, q, fading, again) =
        "Answers{of} were slower at first, under the same load: they took {a} on average in the first {n} s ({r}/s), and {b} from then on ({q}/s){fading}.{again} Figures of the whole run mix both.";
    slow_phase_at_first_advice =
        "Warm the target up before (caches, pools of connections, compiled code), or judge the run without these seconds.";
    slow_phase_found(of, n, at, a, b, r, q, fading, again) =
        "Answers{of} were slower for {n} s from about {at} on, under the same load: they took {a} on average instead of {b} ({r}/s instead of {q}/s){fading}. Then they were as fast as before.{again}";
    slow_phase_advice =
        "Look at the target at that time: an emptied cache, a job, a failover, a garbage collection, other programs on its machine; or at the data that the plan used at that time.";
    got_faster = ", and they got faster little by little";
    slow_phase_again(n, at, slow) =
        " They were slower again for {n} s from about {at} on ({slow} on average).";

    // Rules in `stalls.rs`.
    stalls_advice =
        "Look for a stop of the whole service at these times: garbage collection, a flush or checkpoint, a quota of processor time, a failover.";
    stalls_of_target(when) =
        "The target stood still{when}: nobody got an answer, then all at once.";
    stalls_of_target_or_generator(when) =
        "No answer came{when}, and then all at once: the target stood still, or the machine that sent the requests.";
    stall_at(first) = ", at {first}";
    first_stall_at(first) = ", first at {first}";
    stall_times(n) = " {n} times";
    stall_every(every) = ", every {every}";
    stall_when(times, length, rhythm) = "{times} for about {length}{rhythm}";
}
