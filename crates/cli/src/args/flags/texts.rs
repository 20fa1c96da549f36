//! Longer parts of the help: the description of the program, examples and exit codes.

pub(super) const ABOUT: &str = "\
Runs load tests from JMeter plans (.jmx) and says what limits the target.";

/// Message that `throng` prints without arguments.
pub(crate) const USAGE: &str = "\
throng runs load tests from JMeter plans (.jmx) and says what limits the target.

  throng demo                      run a bundled example, without a plan
  throng check PLAN.jmx            list the elements of a plan that cannot run
  throng run PLAN.jmx              run a plan
  throng https://HOST/             request an address; throng curl takes options of curl
  throng capacity PLAN.jmx --fail 'p95 < 500ms' --fail 'error% < 1'
                                   find the largest load at which criteria hold
  throng compare RUN RUN           compare two runs

throng --help lists all commands; throng explain start-here leads to a first test.
";

pub(super) const AFTER: &str = "\
Examples:
  throng demo                                  run a bundled plan against a bundled service
  throng check plan.jmx                        which elements run natively, and which do not
  throng check plans/ --junit tests.xml        the same for all plans of a folder, one line each
  throng plan.jmx -Jusers=50                   the same as throng run plan.jmx -Jusers=50
  throng run plan.jmx --json > summary.json    the summary as JSON, for programs

JMeter's command line works as well: throng -n -t plan.jmx -l out.jtl -Jusers=50. throng help run lists the
options that both command lines take; -g, -r, -R and -X work on JMeter's command line only.

Exit codes: 0 done, 1 bug, 2 usage, 3 plan cannot run, 4 criterion not met, 5 aborted, 6 undecided, 7 workers lost,
8 machine too small, 9 results lost, 130 interrupted. throng explain 6 describes code 6.";

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  throng run plan.jmx -Jusers=50 -l out.jtl
  throng run plan.jmx --users 200 --ramp 30s --hold 5m     200 users, whatever the plan says
  throng run plan.jmx --rps 500 --duration 5m              500 iterations started per second
  throng run plan.jmx --fail 'p99 < 500ms' --fail 'error% < 1' --junit tests.xml
  throng run plan.jmx --jtl --workers 4
  throng run https://shop.example/ --users 50 --duration 1m
  throng run requests.sh --rps 100                         curl commands, or a URL in each line
  throng run -n -t plan.jmx -l out.jtl -q my.properties    JMeter's options";

pub(super) const CURL_EXAMPLES: &str = "\
Without options about the load, 10 users send the request for 10 seconds. Options of curl about output have no effect;
an option that a plan cannot express is named, with its consequence.

Examples:
  throng curl https://shop.example/cart -H 'Accept: application/json' --users 50 --duration 1m
  throng curl -d '{\"id\": 1}' -H 'Content-Type: application/json' http://127.0.0.1:8080/orders --rps 200
  throng curl https://shop.example/ --users 50 -- --json --fail 'p95 < 300ms' --fail 'error% < 1'";

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  throng import requests.sh -o plan.jmx        curl commands, such as those of \"Copy as cURL\"
  throng import urls.txt -o plan.jmx           a URL in each line, with a method before it if it is not GET
  pbpaste | throng import - -o plan.jmx

throng run takes the same files without a plan.";

pub(super) const SWEEP_EXAMPLES: &str = "\
Examples:
  throng sweep plan.jmx --users 10,50,100,200,500,1000
  throng sweep plan.jmx --rps 100,200,400,800 --precision 1% --at-most 2m -Jhost=10.0.0.5
  throng sweep plan.jmx --users 1,10,100 -- --workers 2      options of throng run follow after --

Exit codes: throng explain exit-codes.";

pub(super) const CAPACITY_EXAMPLES: &str = "\
Examples:
  throng capacity plan.jmx --fail 'p99 < 2s' --fail 'error% = 0'
  throng capacity plan.jmx --rps --at-most 5000 --fail 'p95 < 300ms' --fail 'error% < 1'

Exit codes: 0 a result was found, 4 not even the lightest load meets the criteria; throng explain exit-codes.";

pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  throng compare runs/plan-1 runs/plan-2
  throng compare old.jtl new.jtl --fail-if 'p95 > +5%' --fail-if 'error% > +0.1%'
  throng compare --plan a.jmx --plan b.jmx --repeat 3 --users 50 --duration 2m

Exit codes: 0 compared, 3 not comparable, 4 a change of --fail-if was found, 6 undecided; throng explain exit-codes.";

pub(super) const CTL_EXAMPLES: &str = "\
Requests:
  users N, users +N, users -N   set the number of users; users that end finish their sample first
  rps R, rps +R, rps -R         set the starts per second of a test with --rps
  pause, resume                 start no more samples; continue
  stop, stop --now              end the test like one Ctrl-C, or two
  mark TEXT                     write a line into the test's record
  status                        print users and requests so far

Examples:
  throng ctl users +10
  throng ctl runs/20260101-120000-plan rps 500
  throng ctl mark 'cache cleared'";

pub(super) const AGENT_EXAMPLES: &str = "\
Credentials come from the environment: THRONG_NATS_CREDS, or THRONG_NATS_USER and THRONG_NATS_PASSWORD; THRONG_NATS_CA.

Examples:
  throng fleet up
  throng agent --nats nats://127.0.0.1:4222 --name a1
  throng run plan.jmx --fleet nats://127.0.0.1:4222 --agents 1";

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  throng completions bash > /etc/bash_completion.d/throng
  throng completions zsh > ~/.zfunc/_throng
  throng completions fish > ~/.config/fish/completions/throng.fish";

pub(super) const WEB_EXAMPLES: &str = "\
Examples:
  throng web                               the runs in the folder runs; prints a link for you, and a read-only one
  throng web /data/runs --listen 8080      at a port of your choice, on this machine only

Exit codes: 0 ended by you, 2 usage.";

pub(super) const LIST_EXAMPLES: &str = "\
Examples:
  throng list plan.jmx                   all elements with their paths
  throng list plan.jmx Users/Login       the properties of one element
  git config diff.jmx.textconv 'throng list --all'";

pub(super) const SET_EXAMPLES: &str = "\
Examples:
  throng set plan.jmx Users/Login HTTPSampler.path=/v2/login
  throng set plan.jmx Users/Headers HeaderManager.headers/Accept/Header.value=text/html
  throng set plan.jmx 'Users/Login[2]' --disable --dry-run";

pub(super) const REPLACE_EXAMPLES: &str = "\
Examples:
  throng replace old.example new.example plan.jmx            shows the changes
  throng replace --write old.example new.example plans/*.jmx
  throng replace --regex '^/v1/(.*)' '/v2/$1' plan.jmx --prop HTTPSampler.path";

pub(super) const DIFF_EXAMPLES: &str = "\
Examples:
  throng diff old.jmx new.jmx
  git config diff.jmx.command 'throng diff'";

pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  throng merge base.jmx ours.jmx theirs.jmx --output merged.jmx
  git config merge.jmx.driver 'throng merge %O %A %B'

Exit codes: 0 merged, 1 conflicts: the result has our values.";
