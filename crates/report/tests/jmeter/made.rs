//! Generated result files that are too long for the repository. The rows are the same each time.

use std::fmt::Write as _;

pub(crate) const HEADING: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";

/// Returns 30 000 requests in the order of their ends, most of them with one label. Transactions, sub-results and
/// failures are among them.
pub(crate) fn long() -> String {
    let mut out = String::from(HEADING);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let mut at = 1_700_000_000_000_u64;
    for n in 0..30_000u64 {
        at += random(40);
        // Samples become slower during the run, so that the last rows differ from all rows.
        let most = 1 + random(900);
        let elapsed = 20 + n / 100 + random(most);
        let label = if n % 10 == 0 { "rare, \"quoted\"" } else { "often" };
        let label = label.replace('"', "\"\"");
        let failed = random(37) == 0;
        let (code, message, success) = match (failed, random(3)) {
            (false, _) => ("200", "OK", "true"),
            (true, 0) => ("500", "Internal Server Error", "false"),
            (true, 1) => ("200", "OK", "false"),
            (true, _) => {
                ("Non HTTP response code: java.net.ConnectException", "refused <here>", "false")
            }
        };
        let failure =
            if failed && code == "200" { "Test failed: text expected to contain /x/" } else { "" };
        let (bytes, sent) = (300 + random(5_000), 100 + random(50));
        let start = at - elapsed;
        let _ = writeln!(
            out,
            "{start},{elapsed},\"{label}\",{code},{message},T 1-{},text,{success},{failure},{bytes},{sent},9,9,http://x/,{},0,{}",
            n % 9 + 1,
            elapsed / 2,
            random(3),
        );
        if n % 4 == 0 {
            let part = elapsed / 2;
            let _ = writeln!(
                out,
                "{start},{part},part-{},200,OK,T 1-1,text,true,,{sent},{sent},9,9,http://x/,{part},0,0",
                n % 3
            );
        }
        if n % 20 == 19 {
            let (of, failing) = (random(4), u64::from(failed));
            let _ = writeln!(
                out,
                "{start},{},T,,\"Number of samples in transaction : {of}, number of failing samples : {failing}\",T 1-1,,{},,{},\
                 {sent},9,9,null,0,3,0",
                elapsed * 3,
                !failed,
                bytes * 3,
            );
        }
    }
    out
}

/// Returns the rows with other time stamps: text with the end of each sample.
pub(crate) fn dated(rows: &str) -> String {
    let form = stats::jtl::Pattern::new("yyyy/MM/dd HH:mm:ss.SSS").expect("a pattern");
    let mut out = String::from(HEADING);
    for row in rows.lines().skip(1).filter(|row| row.starts_with("17000")) {
        let (at, rest) = row.split_once(',').expect("columns");
        let elapsed: i64 = rest.split(',').next().expect("columns").parse().expect("a number");
        let at: i64 = at.parse().expect("a number");
        let _ = writeln!(out, "{},{rest}", form.format(at + elapsed));
    }
    out
}

/// Returns the rows with fewer columns and another delimiter.
pub(crate) fn narrow(rows: &str) -> String {
    let keep = |row: &str| {
        let fields: Vec<_> = row.split(',').collect();
        let kept = fields.iter().enumerate().filter(|(at, _)| ![10, 13, 15, 16].contains(at));
        kept.map(|(_, field)| *field).collect::<Vec<_>>().join(";") + "\n"
    };
    rows.lines().filter(|row| !row.contains('"')).map(keep).collect()
}
