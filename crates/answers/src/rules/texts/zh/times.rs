//! Chinese texts about response times that change during a run.

texts! {
    // Rules in `bimodal.rs`.
    bimodal_found(name, fast, slow, share, by) =
        "“{name}”有两类响应：约 {fast} 和约 {slow}（占 {share}）{by}。介于两者之间的均值和百分位数不代表任何一类。";
    bimodal_advice = "找出慢响应的共同点：缓存未命中、不同数据、额外查询、新连接、另一个后端。如果计划能区分，请给两类不同的名称。";
    slow_open_connection = "：慢的需要新建连接";
    slow_have_code(code) = "：慢的响应码为 {code}";
    slow_come_from(address) = "：慢的来自 {address}";
    slow_have_size(size) = "：慢的大小为 {size}";

    // Rules in `course.rs`.
    warmup_found(before, after) = "运行在被测系统预热完成前就结束了：中位数仍在下降，从前三分之一的 {before} 到最后三分之一的 {after}。";
    warmup_advice = "延长运行时间，并只评价稳定的部分；或事先预热被测系统。";
    drift_found(of, from, to, pace) = "在相同负载下响应越来越慢：{of}中位数从 {from} 增长到 {to}，每分钟增长 {pace}。";
    drift_advice = "查找被测系统中不断增长的东西：内存与垃圾回收时间、缺少索引的表、日志、打开的连接；测试自身产生的数据，或随其数据推进而变大的页面也算。";
    rate_stayed(b) = "速率保持 {b}/s";
    rate_changed(a, b) = "速率从 {a}/s 变为 {b}/s";
    step_change_found(when, of, before, after, rates, failures) =
        "在相同负载下，响应时间在约 {when} 发生了变化：{of}中位数从 {before} 变为 {after}，{rates}{failures}。";
    step_change_advice = "查看被测系统在该时刻的情况：部署、故障切换、扩缩容、开始的任务、加入或退出的实例。也可能是计划的数据当时发生了变化：文件的其他行、更大的页面。";
    failures_changed(before, after) = "，失败率从 {before} 变为 {after}";

    // Rules in `rhythm.rs`.
    rhythm_found(of, n, every, slow, usual, first) =
        "在相同负载下，{of}响应有 {n} 次较慢，约每 {every} 秒一次：这些秒内平均 {slow}，其余为 {usual}（首次在约 {first}）。";
    rhythm_advice(every) = "查找被测系统中每 {every} 秒发生一次的事情：某个任务、刷盘、缓存过期、垃圾回收。";

    // Rules in `same_work.rs`.
    other_answers_found(of, when, b, a, fast, slow) =
        "从约 {when} 起{of}响应变成了另一种：平均 {b}，而非 {a}；耗时 {fast}，而非 {slow}。整个运行的数据混合了两者。";
    other_answers_advice =
        "在报告中比较两段时间保存的响应。要么被测系统的响应变了（会话丢失后的登录页、状态为 200 的错误页、空列表），要么计划请求的内容变了（文件的其他行、来自自身缓存的页面）。为必须出现的内容添加响应断言。";

    // Rules in `slow_phase.rs`.
    slow_phase_at_first(of, a, n, r, b, q, fading, again) =
        "在相同负载下，开始时{of}响应较慢：前 {n} 秒平均 {a}（{r}/s），之后为 {b}（{q}/s）{fading}。{again}整个运行的数据混合了两者。";
    slow_phase_at_first_advice = "事先预热被测系统（缓存、连接池、编译后的代码），或在评价时去掉这些秒。";
    slow_phase_found(of, n, at, a, b, r, q, fading, again) =
        "在相同负载下，从约 {at} 起有 {n} 秒{of}响应较慢：平均 {a}，而非 {b}（{r}/s 而非 {q}/s）{fading}。之后与之前一样快。{again}";
    slow_phase_advice = "查看被测系统在该时刻的情况：缓存被清空、某个任务、故障切换、垃圾回收、其机器上的其他程序；或查看计划当时的数据。";
    got_faster = "，并逐渐变快";
    slow_phase_again(n, at, slow) = "从约 {at} 起又有 {n} 秒较慢（平均 {slow}）。";

    // Rules in `stalls.rs`.
    stalls_advice = "查找这些时刻整个服务的停顿：垃圾回收、刷盘或检查点、处理器配额、故障切换。";
    stalls_of_target(when) = "被测系统停顿{when}：期间没有任何响应，随后一起返回。";
    stalls_of_target_or_generator(when) = "响应中断{when}，随后一起返回：被测系统停顿，或发出请求的机器停顿。";
    stall_at(first) = "，在 {first}";
    first_stall_at(first) = "，首次在 {first}";
    stall_times(n) = "了 {n} 次，每次";
    stall_every(every) = "，每隔 {every}";
    stall_when(times, length, rhythm) = "{times}约 {length}{rhythm}";
}
