//! Chinese texts about limits of the target.

texts! {
    // Rules in `concurrency.rs`.
    concurrency_by_spacing(k, noun, of, range, or_fail, flying, rate, workers, alone) =
        "被测系统同时只处理约 {k} 个{of}请求{range}。更多用户只会等待更久{or_fail}：在途 {flying} 个，而速率停在 {rate}/s；响应的间隔如同由 {k} 个工作者、每个耗时 {alone} 给出。";
    concurrency_by_product(k, noun, of, range, or_fail, rate, alone, product, flying) =
        "被测系统同时只处理约 {k} 个{of}请求{range}。更多用户只会等待更久{or_fail}：{rate} 请求/s × 单独 {alone} ≈ {product}，而在途 {flying} 个。";
    concurrency_advice(about, k) =
        "查找数值为 {k}、请求全程占用的限制，或数值更小、请求只在部分时间占用的限制（其余时间花在网络或其他服务上）：工作线程或 I/O 线程、后端连接池、处理器数、锁。";
    single_worker_advice(rate) = "查找锁、单个工作者、一直忙碌的单个线程（top -H）、后端的单个连接，或把请求延迟到 {rate}/s 的限流。";
    full_processors_advice(host, share) = "主机 {host} 的处理器已满（{share}）：增加处理器，或降低每个请求的开销。";
    opening_connections_share(share) = "建立连接（占响应时间 {share}）";
    plateau_with_full_processors(each, from, to, before, after, host, share) =
        "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）。主机 {host} 的处理器已满（{share}）。";
    plateau_with_other_limit(each, from, to, before, after, alone) =
        "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）；{alone}。";
    plateau_without_full_processors(each, from, to, before, after) =
        "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}），而被监视的主机处理器都未满：请检查网络、连接池和锁。";
    plateau_found(each, from, to, before, after) =
        "速率不再超过 {each}/s：从 {from} 到 {to} 个用户，只有响应时间在增长（{before} 到 {after}）。";
    plateau_advice = "监视被测主机（--watch NAME=URL）以查看谁的处理器已满；以一个用户开始运行，就能得出它同时处理的请求数。";
    range_of_workers(between) = "（{between}）";
    or_fail = "或失败";
    one_thread_sentence(clause) = "{clause}。";

    // Rules in `constant_load.rs`.
    rate_at_users(each, n, noun) = "{n} 个用户时 {each}/s";
    constant_load_advice_without_light_load =
        "从少量用户开始（--ramp 30s --hold 30s），或用 throng capacity 搜索：就能得出不再增长的速率和同时处理的请求数。";
    constant_load_advice = "让用户启动得更慢（--ramp 30s --hold 30s），或用 throng capacity 搜索极限。";
    constant_load_with_full_processors(load, host, share) =
        "{load}，主机 {host} 的处理器已满（{share}）：更多用户很可能只会等待。使用 --ramp 30s --hold 30s 或 throng capacity 查看极限。";
    most_of_median_of_label(share, name, usual) = "响应时间的 {share} 用于“{name}”。其 {usual} 中的大部分";
    most_of_median(usual) = "{usual} 中的大部分";
    constant_load_waits(load, of, first, cause, full) =
        "{load}。{of}很可能是等待：最初的响应只用了 {first}{cause}。{full}使用 --ramp 30s --hold 30s 或 throng capacity 查看极限。";
    constant_load_on_full_line(load, each, part, verb) =
        "{load}，每秒 {each} 且保持不变：响应时间的 {part} 用于{verb}。线路可能已满，或被测系统发送缓慢。使用 --ramp 30s --hold 30s 或 throng capacity，看更多用户是否能得到更多。";
    constant_load_cause(cause) = "；{cause}";
    shared_machine_may_be_limit(shared) = "{shared}：这可能就是极限。";

    // Rules in `defaults.rs`.
    advice_with_default(advice, default) = "{advice}{default}。";
    default_of_undertow =
        "2 是 Undertow 在双处理器上的 I/O 线程数、nginx（worker_processes auto）的工作进程数，或 Netty 在单处理器上的事件循环数";
    default_of_jedis = "8 是 Jedis 或 DBCP 连接池的默认值（maxTotal）";
    default_of_hikari =
        "10 是 HikariCP 连接池（maximumPoolSize）以及 Hystrix（coreSize、maxConcurrentRequests）的默认值";
    default_of_hystrix =
        "100 是 Zuul 中 Hystrix 信号量（zuul.semaphore.max-semaphores）以及 PostgreSQL max_connections 的默认值";
    default_of_mysql = "151 是 MySQL max_connections 的默认值";
    default_of_tomcat = "200 是 Tomcat 线程数的默认值（server.tomcat.threads.max）";
    default_of_nginx = "512 是 nginx worker_connections 的默认值，其中包括到上游的连接";
    default_of_linux_ports = "28 232 是 Linux 默认的本地端口数（net.ipv4.ip_local_port_range）";

    // Rules in `light.rs`.
    more_than_one_user = "多于一个用户";
    light_load_before_full_load(each, n) =
        "{n} 个用户、{each}/s 的满负载之前的轻负载：使用 --ramp 30s --hold 30s 运行，或使用 throng capacity";

    // Rules in `one_thread.rs`.
    one_thread_clause(who, used) = "{who}始终占用一个处理器（{used}），如同一个从不空闲的线程";
    one_thread_advice = "找出从不空闲的线程（在被测主机上用 top -H）：让多个线程工作、降低每个请求的开销，或运行更多实例。";
    process_on_host_uses(host) = "{host} 上的进程";
    programs_use = "负载机之外的程序";

    // Rules in `queue_grows.rs`.
    queue_grows_found(said, from, to, slow) =
        "被测系统跟不上：{said}，这就是它在此负载下的极限。其余都在等待：运行中的用户从 {from} 增长到 {to}，平均响应时间增长到 {slow}。";
    queue_grows_not_short_test = "测试过短：增长不会停止";
    queue_grows_advice(less, fast) =
        "要求{less}的速率，或用 throng capacity --rps 找出仍能按时响应的最高速率（此处最初为 {fast}）。";
    queue_finishes(asked, done) = "每秒 {asked} 次启动中约完成 {done} 次";
    queue_less_than(done) = "低于 {done}/s";
    queue_answers(asked, done) = "每秒启动 {asked} 个用户，它每秒约响应 {done} 个请求";
    queue_less = "更低";

    // Rules in `series_level.rs`.
    series_level_found(name, level, since, from, to, early_ms, late_ms) =
        "{name} 自 {since} 起停留在 {level}，而用户从 {from} 增至 {to}，平均响应时间从 {early_ms} 升至 {late_ms}。";
    series_level_advice(level) = "请检查 {level} 是否为服务的上限：线程数、连接数或队列。";

    // Rules in `storm.rs`.
    storm_found(name, alone_words, longest, n, k, were, rate_words) =
        "“{name}”最初的响应依次返回，耗时从 {alone_words} 到 {longest}：{n} 个请求同时到达，同一时间约处理 {k} 个（{rate_words}/s × {alone_words}）。";
    storm_advice(k, name) =
        "如果真实用户不会同时到来，让用户在更长时间内启动（--ramp）。否则，查找“{name}”同一时间只处理约 {k} 个的原因：连接池、锁、计算口令哈希的处理器。";
}
