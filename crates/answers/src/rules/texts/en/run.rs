//! English texts about the run and its plan.

texts! {
    // Rules in `outlasts.rs`.
    outlasts_found(for_s, at, late, what, were, most) =
        "The run went on for {for_s} after its planned end at {at}: {late} {what} {were} in flight then, and could finish; the longest took {most}.";
    outlasts_advice(at) =
        "Rates of the whole run count that time, with hardly any load in it: look at those until {at}. A response timeout of the samplers ends such requests earlier, as errors.";

    // Rules in `realism.rs`.
    realism_cache_found(about, hits, falls) =
        "{about}{hits} of the answers came from a cache{falls}: real users may ask for more different things than this plan.";
    realism_cache_advice =
        "Let the plan ask for as many different things as real users do, or say that a full cache is what you mean to test.";
    realism_labels_found(n, also) =
        "The run has {n} labels{also}: names contain data, and figures of single labels say little.";
    realism_labels_advice =
        "Give samplers names without ids; the address of each request is in its row.";
    realism_one_address_found(addresses, used) =
        "The plan uses one address of each name: of {addresses} addresses {used} got all requests.";
    realism_one_address_advice =
        "Use a DNS Cache Manager that is cleared each iteration, so that the load is spread over all addresses.";
    realism_two_sizes_found =
        "Answers with code 200 have two sizes, and the plan asserts nothing: one of them may be a page of errors.";
    realism_two_sizes_advice =
        "Look at a kept sample of each size, and assert what makes an answer right.";
    about_share = "About ";
    median_fell(from, to) = "; the median fell from {from} to {to}";
    labels_under_common_names(n, name) =
        " ({n} of them are counted under common names, for example {name})";

    // Rules in `run.rs`.
    no_samples_of_main_groups =
        "the main thread groups have no samples, only setUp and tearDown thread groups have some";
    run_interrupted = "the run was interrupted before its end";
    run_ended_early(reason) = "the run ended early: {reason}";
    run_without_samples = "the run has no samples: nothing can be said of the target";
    file_without_success =
        "the file has no column success, or nothing in it, and does not say which requests failed: whether there were errors is unknown";

    // Rules in `samples.rs`.
    no_request_for_missing_file(first, more) =
        "No request was sent: {first}{more}. Users who need a file that cannot be read stop at once.";
    missing_file_advice =
        "Put the file in the folder of the plan, or correct its path in the element; throng check names all such files.";
    no_sample_found = "The run has no sample at all: it says nothing about the target.";
    no_sample_advice =
        "Check whether the plan's thread groups and samplers are enabled, and whether a controller or an error before them ends each iteration (throng check, and the run's log).";
    few_samples_found(all, noun, need) = "p99 is unreliable: {all} {noun}, at least {need} needed.";
    few_samples_advice = "Run longer, or judge by the median and the mean.";
    other_files_missing(files, n) = ", and {files} missing";

    // Rules in `say.rs`.
    not_more_load = "more load: the same number of users asked for the same labels";
    list_separator = ", ";

    // Rules in `waiting_labels.rs`.
    of_label(name) = " of \"{name}\"";
    of_label_and_another(name) = " of \"{name}\" and 1 more label";
    of_labels(name, more, n) = " of \"{name}\" and {more} more labels";
}
