//! Chinese texts about failed and unanswered requests, time limits and rate limits.

texts! {
    // Rules in `breaker.rs`.
    breaker_found(n, each, part, quick, usual, even, text) =
        "失败成段出现：{n} 段，每段约 {each}，占总时间 {part}；失败只需 {quick}，而正常响应需 {usual}：熔断器打开或在卸载负载。{even}{text}";
    breaker_advice = "查找网关或服务后端客户端中的熔断器或健康检查，以及触发它的原因。";
    breaker_at_intervals(every) = "每 {every} 开始一次，定时任务也会如此。";

    // Rules in `down.rs`.
    down_once_and_back(who, from, about, n, how, more) =
        "{who}在 {from} 停止接受连接，{about} 恢复：其间 {n} 次连接{how}{more}。";
    down_until_end(who, from, n, how, more) = "{who}在 {from} 停止接受连接，直到结束都没有恢复：{n} 次连接{how}{more}。";
    down_several_times(who, times, at, end, n, how, more) =
        "{who}先后 {times} 次停止接受连接（{at}），{end}：其间 {n} 次连接{how}{more}。";
    down_advice = "查看该时刻的服务及其日志：崩溃、重启、部署、内核 OOM。此前的数据反映的是正常工作的被测系统。";
    no_address_found(name, n) = "没有发出任何请求：主机名无法解析{name}。{n} 个请求全部失败。";
    host_name_advice = "请检查主机名和域名服务器。";
    no_connection_found(at, n, how) = "被测系统{at}没有接受任何连接：{n} 次连接全部{how}。";
    no_connection_advice = "请检查服务是否在运行、计划中的主机和端口，以及中间的防火墙。";
    down_last_time_until(end_clock) = "最后一次约 {end_clock} 恢复";
    down_last_time_until_end = "最后一次直到结束都没有恢复";
    down_by(end) = "最迟在 {end}";
    down_at_about(end) = "约 {end}";
    down_more_at_other_times(others) = "，其他时间还有 {others} 次";
    down_times_and_more(times, more) = "{times} 及另外 {more} 次";
    target_at_address(address) = "被测系统（{address}）";
    the_target = "被测系统";
    targets_at_addresses(several) = "多个被测系统（{several}）";
    one_of_the_targets = "其中一个被测系统";
    connects_refused = "被拒绝";
    connects_without_answer = "没有得到响应";
    down_times_and_last(times, last) = "{times}、{last}";

    // Rules in `errors.rs`.
    errors_within_event(length, share, n) = "，全部集中在 {n} 秒内，其间 {share} 的请求失败";
    share_of_errors(share) = "（{share}）";
    errors_of_only_label(label, own, share) = "，均为“{label}”（占其请求的 {own}，占全部的 {share}）";
    run_stopped_after_error(at, of) = "运行在 {at}{of} 结束：按设置在出错后停止。";
    users_stopped_after_error(n, of, noun, verb) = "{of} 个用户中有 {n} 个在出错后被停止：计划如此设置。";
    include_missing(first, more) = "计划运行时缺少 {first}{more}：Include Controller 无法包含该文件";
    most_frequent_cause = "最常见的原因";
    only_cause = "原因";
    one_other_cause = "；另有 1 种原因";
    other_causes(more) = "；另有 {more} 种原因";
    errors_found(total, of, within, each, the, times, text, when, load, more, ended, whose, those) =
        "{total} 个请求失败{of}{within}{each}。{the}，{those} 次：{text}（{when}{load}）{more}。{ended}{whose}";
    refused_at_start_advice = "运行开始时该地址没有监听：请在服务能够响应后再开始，并在不计最初几秒的情况下评价本次运行。";
    refused_for_a_time_advice = "没有监听时连接会被拒绝：请检查服务或其某个实例当时是否重启。";
    refused_advice = "该地址没有监听，或接受队列已满：请检查服务是否在运行。";
    tls_error_advice = "请检查该主机的证书（证书链、名称、有效期），以及双方允许的 TLS 版本。";
    route_advice = "请检查负载机与该地址之间的路由和防火墙。";
    unexpected_answer_advice(samples) = "收到了响应，但不是计划所期望的：请查看{samples}。";
    other_error_advice(samples) = "请查看该原因的{samples}，以及被测系统当时的日志。";
    kept_samples = "保留的样本";
    failed_rows = "失败的行";
    errors_by_end_found(late_words, all_errors, were, more) =
        "{all_errors} 个错误中有 {late_words} 个由停止运行引起，而不是被测系统引起。{more}";
    errors_by_end_not_load = "负载：停止之前几乎没有错误";
    errors_by_end_advice = "让在途样本完成（按一次 Ctrl-C，或按时长结束），并在不计它们的情况下评价本次运行。";
    cut_requests_found(requests, typical) =
        "运行结束时有 {requests}在途；单独计数，既不算响应也不算错误（请求时间中位数 {typical}）。";
    cut_requests_advice = "无需处理；如果数量很多，请让运行时长超过若干个响应时间。";
    never_answered_found(n, requests, for_ms, others, they) =
        "运行停止 {for_ms} 后仍有 {n} 个请求没有响应{others}；它们单独计数，既不算响应也不算错误。";
    never_answered_advice = "检查被测系统从不响应的请求，并为采样器设置响应超时：这样的请求就会算作错误。";
    without_code_or_message = "没有代码和消息";
    range_of_load(least, most) = "{least} 到 {most}";
    with_requests_in_flight(n) = "，当时有 {n} 个请求在途";
    with_one_user = "，当时有 1 个用户";
    with_users(n) = "，当时有 {n} 个用户";
    when_for_less_than_a_second(from) = "{from}，不到一秒";
    when_for_less_than_two_seconds(from) = "{from}，不到 2 秒";
    when_until_at_the_latest(from, to) = "{from} 起，最迟至 {to}";
    when_in_seconds_between(failing, all, from, to) = "{from} 至 {to} 的 {all} 秒中有 {failing} 秒";
    when_until(from, to) = "{from} 至 {to}";
    when_since(from) = "自 {from} 起";
    of_planned_time(of) = "（计划 {of}）";
    one_request_in_flight_at_end = "1 个请求";
    requests_in_flight_at_end(n) = "{n} 个请求";
    longest_other_request(most) = "，而其他请求最长只用了 {most}";
    and_other_files(files) = "及另外 {files} 个文件";
    next_sentence(sentence) = "{sentence}";
    one_more_sample_cut_off(n) = "另有 {n} 个样本被截断，不计入任何数据。";
    more_samples_cut_off(n) = "另有 {n} 个样本被截断，不计入任何数据。";

    // Rules in `failing_time.rs`.
    every_request_fails_from(every, from) = "：自 {from} 起每个请求都失败";
    every_request_fails_between(every, from, to) = "：{from} 至 {to} 的每个请求都失败";
    when_at_intervals(every, long, times, from) = "自 {from} 起每 {every} 一次，共 {times} 次，每次约 {long}";

    // Rules in `fails_above.rs`.
    or_limit_of_requests(requests, n) = "同时约 {n} 个请求的限制（信号量、连接池、队列）也会如此。";
    refused_beyond_number(k, of, range, users, failed, or) =
        "同时约有 {k} 个请求{of}{range}得到响应，超出的失败：存在数值为 {k} 的限制（信号量、连接池、队列）。{users} 个用户中任何时刻都约有 {k} 个正被响应，几乎不多不少，同时有 {failed} 个请求失败。之前没有更轻的负载。{or}";
    errors_above_number(k, of, range, failed, calm, or) =
        "在途请求{of}超过约 {k} 个{range}后开始出错：存在数值为 {k} 的限制（信号量、连接池、队列）。超过后有 {failed} 个请求失败，低于该值时 {calm} 个请求几乎没有失败。{or}";
    errors_above_not_slow_target = "被测系统变慢：被接受的请求响应与之前一样快";
    errors_above_advice(k) = "在被测系统或其调用的服务中查找数值为 {k}、会拒绝超出部分的限制（信号量、舱壁、无队列的连接池、有界队列）；提高它，或让请求等待。";
    range_of_limit(low, high) = "（{low}–{high}）";
    of_labels_together(n) = "（{n} 个标签合计）";
    or_limit_of_rate(rate) = "同样的数据也符合 {rate}/s 的限流。";

    // Rules in `gateway.rs`.
    mgs_key_advice = "网关使用的密钥或派生方式不同：`throng mgs verify` 可从抓取的请求中找出设置（`throng explain mgs`）。";
    mgs_signature_advice =
        "请与网关核对密钥、摘要、拼接方式和请求头：`throng mgs verify` 可从抓取的请求中找出它们（`throng explain mgs`）。";
    mgs_clock_advice =
        "请核对时钟（throng.mgs.clock.offset_ms），并将 throng.mgs.cache.window_s 与网关的时间戳有效期比较。";
    mgs_answer_advice =
        "网关以其他方式加密响应，或根本不加密：请核对 throng.mgs.decrypt、iv、gzip 和 derive（`throng explain mgs`）。";
    mgs_other_server_advice = "响应并非来自网关，或 throng.mgs.header.result 指定了其他响应头（`throng explain mgs`）。";
    mgs_settings_advice =
        "这些请求没有发出：请更正 RPC Gateway Security 的设置；`throng check` 会指出问题（`throng explain mgs`）。";

    // Rules in `hang.rs`.
    no_answer_found(length, waited) = "被测系统在 {length} 内没有响应任何请求：{waited}。";
    no_answer_advice = "请检查服务是否能正常工作，以及计划中的主机、端口和协议是否正确：被暂停的进程、锁，或由其他程序监听的端口，会接受请求而不响应。";
    slower_than_time_limit(first, most, at, limit, waited) =
        "响应越来越慢，从 {first} 增加到 {most}，从 {at} 起全部超过计划的超时 {limit}：{waited}。";
    slower_than_time_limit_advice =
        "被测系统很可能一直在工作，处理的却是已无人等待的请求。要么负载超过了它能承受的程度（用 throng capacity 查明），要么它在相同负载下变慢；去掉超时再运行可看到响应需要多久。";
    hang_until_end(at, waited) = "被测系统从 {at} 到结束没有任何响应：{waited}。";
    hang_of_some_until_end(who, at, waited) = "{who}从 {at} 到结束没有得到任何响应：{waited}。";
    hang_advice = "查看该时刻的服务及其日志：未释放的锁或连接池、无响应的磁盘或依赖、被停止的进程；线程转储可显示等待位置。此前的数据反映的是正常工作的被测系统。";
    waited_until_time_limit(gave_up, n_gave_up) = "{n_gave_up} 个请求一直等到计划的超时";
    waited_until_run_end(cut, n_cut) = "{n_cut} 个请求一直等到运行结束";
    waited_until_time_limit_or_run_end(gave_up, n_cut, n_gave_up) =
        "{n_gave_up} 个请求一直等到计划的超时，{n_cut} 个等到运行结束";
    label_and_more_labels(name, more, n) = "“{name}”等 {n} 个标签";
    one_label(name) = "“{name}”";

    // Rules in `plan_fault.rs`.
    plan_fault_not_load = "负载：从最初的请求就失败";
    plan_fault_refused(name, text) = "“{name}”的每个连接从最初的请求起都被拒绝：该地址没有接受连接的服务，原因不是负载。{text}";
    plan_fault_refused_advice(name) = "请检查计划中“{name}”的主机和端口，以及服务是否在该处监听。";
    plan_fault_or_load(name, at_first, early, over, text) =
        "“{name}”从最初的请求就失败（前 {early} 个中 {at_first}，总计 {over}），且之前没有更轻的负载：原因可能是计划、数据、地址，或被测系统本身不能工作，也可能是负载从一开始就过高。{text}";
    plan_fault_or_load_advice(samples) =
        "用一个用户运行计划并查看{samples}。如果仍然失败，请更正 URL、数据、登录或断言；否则原因是负载，可用 throng capacity 查找被测系统的承受能力。";
    plan_fault_found(name, at_first, early, over, text) =
        "“{name}”从最初的请求就失败（前 {early} 个中 {at_first}，总计 {over}）：原因不是负载，而是计划、数据、地址，或被测系统本身不能工作。{text}";
    plan_fault_advice(samples) = "用一个用户运行计划并查看{samples}；然后更正 URL、数据、登录或断言。";

    // Rules in `rate_limit.rs`.
    refused_of_label(name) = "“{name}”的请求";
    refused_of_labels = "有关标签的请求";
    rate_limit_advice = "查找网关或服务中的限流（nginx limit_req、API 配额）：测试期间提高限额，或将负载控制在其以下。";
    rate_limit_found(refused, share, text, passed) =
        "限流拒绝了请求：{refused} 个（{share}）得到 {text}{passed}。";
    rate_limit_not_capacity = "被测系统的容量：拒绝是其主动行为";
    retry_after_found(refused, share, text, meanwhile) =
        "服务器拒绝请求并给出等待时间（Retry-After）：{refused} 个（{share}）得到 {text}{meanwhile}。";
    retry_after_advice = "确认是哪一种：限流（测试期间提高限额）、过载保护（降低负载），或维护状态（结束维护）。";
    rate_limit_fixed_rate(through, most, or, else_of) =
        "无论请求多少（最高 {most}/s），成功响应固定在 {through}/s；其余立即失败：这是限流的特征。{or}{else_of}";
    rate_limit_delays(through, by_itself, one) =
        "请求被限制在 {through}/s：单独一个请求只需 {by_itself}，一个工作者即可达到 {one}/s。是限流在延迟请求。";
    rate_limit_not_workers = "工作者数量限制：那将少于一个";
    or_rate_limit_delays(rate) = "把请求延迟到 {rate}/s 的限流（带 burst 的 nginx limit_req）也会如此。";
    let_through_meanwhile(rate, of) = "；其间{of}放行约 {rate}/s";
    none_let_through_meanwhile(of) = "；其间{of}均未放行";
    answered_meanwhile(rate, of) = "；其间{of}约 {rate}/s 得到响应";
    none_answered_meanwhile(of) = "；其间{of}均未得到响应";

    // Rules in `resets.rs`.
    never_with_fewer_users(calm) = "{calm} 个请求中一次也没有";
    seldom_with_fewer_users(times, calm) = "{calm} 个请求中 {times} 次";
    resets_found(threshold, most_quiet, flying, n, never, or) =
        "从约 {threshold} 个用户（{most_quiet}–{threshold}；{flying} 个请求在途）起，被测系统重置或拒绝连接：{n} 次；用户更少时，{never}。{or}";
    resets_advice = "查找接近该数值的连接上限：服务、代理（worker_connections）、文件描述符（ulimit -n）、接受队列（somaxconn）。";

    // Rules in `short_wait.rs`.
    one_wait(wait_words) = "{wait_words}";
    range_of_waits(low, high) = "{low:.0}–{high:.0} ms";
    failures_name_a_pool = "失败信息指明了连接池";
    or_time_limit = "，或该时长的时间限制的特征";
    or_nothing_else = "的特征";
    short_wait_found(wait, n_words, takes, answer, more, or) =
        "失败之前有约 {wait} 的等待：{n_words} 个请求在 {takes} 后失败，时间几乎相同，而最快的响应为 {answer}。{more}：这是连接池或队列等待这么久后放弃{or}。";
    no_free_connection_found(n_words, takes, answer, wait) =
        "连接池没有空闲连接：{n_words} 个请求在 {takes} 后失败，时间几乎相同，而最快的响应为 {answer}。失败信息指明了连接池：{wait}。";
    pool_gave_up_after(stated) = "它在 {stated} ms 后放弃，如信息所述";
    pool_waits_or_refuses(takes) = "它最多等待 {takes}，或根本不等待";
    pool_waits(takes) = "它最多等待 {takes}";
    no_free_connection_advice =
        "让连接池等待连接（Jedis 或 DBCP 的 blockWhenExhausted 与 max-wait、connectionTimeout、pool_timeout）、增大连接池，或查找占用连接太久的原因。";
    short_wait_advice =
        "在被测系统或其调用的服务中查找该时长的连接等待（Jedis 或 DBCP 连接池的 max-wait、connectionTimeout、pool_timeout）：连接池对该负载太小，或连接被占用太久。";
    short_wait_advice_on_limit =
        "查找该时长的时间限制（服务后端的客户端、代理、查询）及耗时更长的步骤；或该时长的连接等待（Jedis 或 DBCP 连接池的 max-wait、connectionTimeout、pool_timeout）。";
    fail_more_with_requests_in_flight(many, few) = "在途最多时失败占 {many}，在途少时占 {few}";
    fail_more_when_slow = "响应较慢的那些秒内失败更多";

    // Rules in `silence.rs`.
    silence_found(times, from, to, for_s, waited, or) =
        "被测系统{times}从 {from} 到 {to}（约 {for_s}）没有任何响应：{waited}。{or}";
    silence_advice = "查看该时刻的服务及其日志：垃圾回收、锁、故障切换、无响应的磁盘或依赖、被暂停的进程或机器。";
    generator_did_not_stall = "负载机：它在这些秒内没有停顿";
    or_generator_stalled = "发出请求的机器停顿时也会如此。";
    waited_and_answered(all, were) = "{all} 个请求一直等待，随后得到响应";
    all_waited_until_time_limit(all) = "{all} 个请求一直等到计划的超时";
    some_waited_until_time_limit(all, gave_up_words) = "{all} 个请求一直等待，其中 {gave_up_words} 个等到计划的超时";
    times_the_longest(n) = "共 {n} 次，最长一次";

    // Rules in `timeouts.rs`.
    silent_connections_cut(silent, connections, of) =
        "{silent} 的时间限制切断了连接：被测系统关闭的 {of} 个连接中有 {connections} 个此前恰好这么久没有数据。";
    silent_connections_advice = "以更短的间隔发送心跳，或提高服务器或其前面代理的限制（proxy_read_timeout、idle timeout）。";
    plan_timeout_found(errors, of, limit) =
        "{of} 个失败请求中有 {errors} 个在 {limit} 后被放弃：这是计划自身的时间限制。被测系统本来需要多久并不清楚。";
    plan_timeout_advice = "查找这些请求变慢的原因；只有当用户愿意等那么久时才提高采样器中的限制。";
    target_timeout_found(errors, of, limit) =
        "{of} 个失败请求中有 {errors} 个在 {limit} 后失败：这是被测系统或其前面代理的时间限制。";
    target_timeout_advice = "查找该时长的限制（proxy_read_timeout、服务后端的客户端、连接池等待），再查找是什么在等待那么久。";
    accept_queue_found(full, late, of, part, sent, more) =
        "被测系统的接受队列{full}：{of} 次连接中有 {late} 次（{part}）耗时 1、3 或 7 s，正是丢失的 SYN 被重发的时间（重发 {sent} 次）{more}。";
    accept_queue_advice =
        "提高服务的 listen backlog 和 net.core.somaxconn，更快地接受连接，或保持连接；在被测主机上用 nstat 查看 ListenOverflows 可确认。";
    accept_queue_not_loss = "丢包：数据几乎没有重传";
    queue_full = "已满";
    queue_probably_full = "可能已满";
    connections_rejected(n) = "；内核统计有 {n} 次没有空位";

    // Rule in `transactions.rs`.
    transactions_failed_found(own, all, worst) =
        "{all} 个事务中有 {own} 个因其自身的断言而失败：其中没有失败的请求，因此请求的数据不反映这些失败。{worst}";
    transactions_failed_worst(name, own, all) = "最多的标签为“{name}”：{all} 个中 {own} 个。";
    transactions_failed_advice =
        "请查看事务控制器的断言：若整个事务耗时过长，断言持续时间会使其失败。";

    // Rules in `whose.rs`.
    threads_of_group(group) = "即线程组“{group}”的全部线程";
    threads_and_more(names, more) = "{names}{more}";
    threads_that_fail(n, all, who, have, share, of) =
        "{all} 个线程中的 {n} 个（{who}）产生了{share}：它们{of}每个请求都失败，而其他线程几乎没有失败。";
    threads_that_fail_advice = "查看这些线程独有的东西：账号、权限、数据行、地址；或被其他线程占用的会话数或连接数上限。";
    or_failing_users = "如果后来的用户总是失败（账号、数据、地址），数据也会如此：没有记录是哪些用户的请求失败。";
    range_of_threads(first, last) = "{first} 至 {last}";
    share_of_these_failures(share) = "这些失败中的 {share}";
    all_of_these_failures = "全部这些失败";
    under_labels_concerned = "有关标签的";
}
