//! Chinese texts about the run and its plan.

texts! {
    // Rules in `outlasts.rs`.
    outlasts_found(for_s, at, late, what, were, most) =
        "运行在计划结束时间 {at} 之后又持续了 {for_s}：当时有 {late} 个请求在途并得以完成，最长的用了 {most}。";
    outlasts_advice(at) = "整个运行的速率计入了这段几乎没有负载的时间：请看 {at} 之前的速率。为采样器设置响应超时可更早地以错误结束这样的请求。";

    // Rules in `realism.rs`.
    realism_cache_found(about, hits, falls) = "{about}{hits} 的响应来自缓存{falls}：真实用户请求的内容可能比该计划更多样。";
    realism_cache_advice = "让计划请求与真实用户一样多样的内容，或明确表示要测试的就是缓存命中的情况。";
    realism_labels_found(n, also) = "本次运行有 {n} 个标签{also}：名称中包含数据，单个标签的数据意义不大。";
    realism_labels_advice = "给采样器起不含编号的名称；每个请求的地址在其结果行中。";
    realism_one_address_found(addresses, used) = "计划对每个名称只使用一个地址：{addresses} 个地址中只有 {used} 个收到请求。";
    realism_one_address_advice = "使用每次迭代清空的 DNS Cache Manager，使负载分散。";
    realism_two_sizes_found = "响应码 200 的响应有两种大小，而计划没有断言：其中一种可能是错误页面。";
    realism_two_sizes_advice = "查看每种大小的保留样本，并断言正确响应的特征。";
    about_share = "约 ";
    median_fell(from, to) = "；中位数从 {from} 降到 {to}";
    labels_under_common_names(n, name) = "（其中 {n} 个合并计数，如 {name}）";

    // Rules in `run.rs`.
    no_samples_of_main_groups = "主线程组没有样本，只有 setUp 和 tearDown 线程组有样本";
    run_interrupted = "运行在结束前被中断";
    run_ended_early(reason) = "运行提前结束：{reason}";
    run_without_samples = "本次运行没有样本：无法对被测系统作出判断";
    file_without_success = "文件没有 success 列或该列为空，不能说明哪些请求失败：是否有错误无从得知";

    // Rules in `samples.rs`.
    no_request_for_missing_file(first, more) = "没有发出任何请求：{first}{more}。文件无法读取时，需要它的用户立即停止。";
    missing_file_advice = "将文件放到计划所在的文件夹，或在元件中更正路径；throng check 会列出所有这样的文件。";
    no_sample_found = "本次运行没有任何样本：不能说明被测系统的任何情况。";
    no_sample_advice = "检查计划的线程组和采样器是否启用，以及是否有控制器或之前的错误结束了每次迭代（throng check 和运行日志）。";
    few_samples_found(all, noun, need) = "样本太少，不足以给出 p99：只有 {all} 个请求；有意义的 p99 至少需要 {need} 个。";
    few_samples_advice = "延长运行时间，或以中位数和均值评价。";
    other_files_missing(files, n) = "，另缺 {n} 个文件";

    // Rules in `say.rs`.
    not_more_load = "更大的负载：同样数量的用户请求同样的标签";
    list_separator = "、";

    // Rules in `waiting_labels.rs`.
    of_label(name) = "“{name}”的";
    of_label_and_another(name) = "“{name}”等 2 个标签的";
    of_labels(name, more, n) = "“{name}”等 {n} 个标签的";
}
