//! Limits of this process's control groups: CPU quota, memory, number of processes.
//!
//! Limits of ancestor groups apply as well, so the smallest limit counts. Supported are versions 1 and 2, and
//! containers whose group name does not exist below their own mount. The folders are searched once; a reading costs
//! some tens of µs.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The mount point of control groups.
pub const MOUNT: &str = "/sys/fs/cgroup";

/// A CPU quota, and how often it has throttled the processes of its group so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throttling {
    /// Number of processors that the quota allows; 0 means no quota.
    pub processors: f64,
    /// Number of scheduler periods in which the group ran.
    pub periods: u64,
    /// Number of scheduler periods in which the quota throttled the group.
    pub stopped: u64,
    /// Throttled time in seconds, summed over processors.
    pub stopped_s: f64,
}

impl Throttling {
    /// Returns the throttling by this process's most restrictive quota; all 0 without a quota.
    pub fn now() -> Self {
        Groups::known().throttling()
    }

    /// Combines two quotas that apply to the same processes: the smaller quota, with the counts of the group that was
    /// throttled more often.
    fn tighter(self, other: Self) -> Self {
        let is_less = other.processors < self.processors || self.processors == 0.0;
        let processors = if is_less { other.processors } else { self.processors };
        let worse = if other.stopped > self.stopped || self.periods == 0 { other } else { self };
        Self { processors, ..worse }
    }

    /// Adds the throttling of another process of the run.
    pub fn add(&mut self, other: &Self) {
        if other.processors > 0.0 && (self.processors == 0.0 || other.processors < self.processors)
        {
            self.processors = other.processors;
        }
        self.periods += other.periods;
        self.stopped += other.stopped;
        self.stopped_s += other.stopped_s;
    }

    /// Returns the counts between two readings, with this reading's quota.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            processors: self.processors,
            periods: self.periods.saturating_sub(before.periods),
            stopped: self.stopped.saturating_sub(before.stopped),
            stopped_s: (self.stopped_s - before.stopped_s).max(0.0),
        }
    }

    /// Returns the share of periods in which the group was throttled, 0 to 1.
    pub fn share(&self) -> f64 {
        self.stopped.min(self.periods) as f64 / self.periods.max(1) as f64
    }
}

/// A control group with a CPU quota.
#[derive(Debug)]
struct Quota {
    folder: PathBuf,
    processors: f64,
}

impl Quota {
    fn of(folder: &Path) -> Option<Self> {
        let number = |file: &str| -> Option<f64> {
            read_to_string(folder.join(file)).ok()?.trim().parse().ok()
        };
        let (quota, period) = match read_to_string(folder.join("cpu.max")) {
            Ok(text) => {
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.parse().ok()?, period.parse().ok()?)
            }
            // Version 1 writes -1 for no quota.
            Err(_) => (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?),
        };
        let folder = folder.to_owned();
        (quota > 0.0 && period > 0.0).then(|| Self { folder, processors: quota / period })
    }

    fn read(&self) -> Option<Throttling> {
        let text = read_to_string(self.folder.join("cpu.stat")).ok()?;
        let number = |name: &str| -> Option<u64> {
            let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
            text.lines().find_map(value)
        };
        let stopped_s = match (number("throttled_usec "), number("throttled_time ")) {
            (Some(us), _) => us as f64 / 1e6,
            (None, ns) => ns.unwrap_or(0) as f64 / 1e9,
        };
        Some(Throttling {
            processors: self.processors,
            periods: number("nr_periods ")?,
            stopped: number("nr_throttled ")?,
            stopped_s,
        })
    }
}

/// A limit of a control group, and its current use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub most: u64,
    pub used: u64,
}

/// The folders of a process's control groups: the process's own groups first, then their ancestors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    cpu: Vec<PathBuf>,
    memory: Vec<PathBuf>,
    pids: Vec<PathBuf>,
}

impl Groups {
    /// Returns the groups of this process.
    pub fn own() -> Self {
        let list = read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::of(&list, Path::new(MOUNT))
    }

    /// Returns the groups of this process; they are searched only once.
    pub fn known() -> &'static Self {
        static GROUPS: OnceLock<Groups> = OnceLock::new();
        GROUPS.get_or_init(Self::own)
    }

    /// Returns the groups of a list in the format of `/proc/PID/cgroup`, below a mount point.
    pub fn of(list: &str, mount: &Path) -> Self {
        let folders = |controller: &str| {
            // If version 1 manages the controller, version 2 has no limits for it.
            let (at, path) = list.lines().filter_map(parts).find_map(|(controllers, path)| {
                let is_named = controllers.split(',').any(|name| name == controller);
                is_named.then(|| (first_folder(mount, &[controllers, controller]), path))
            })?;
            at.map(|at| ancestors(&at, path))
        };
        let unified = || {
            let path =
                list.lines().filter_map(parts).find(|(controllers, _)| controllers.is_empty());
            path.map_or_else(Vec::new, |(_, path)| ancestors(mount, path))
        };
        let all = |controller| folders(controller).unwrap_or_else(unified);
        Self { cpu: all("cpu"), memory: all("memory"), pids: all("pids") }
    }

    fn quotas(&self) -> Vec<Quota> {
        self.cpu.iter().filter_map(|folder| Quota::of(folder)).collect()
    }

    fn throttling(&self) -> Throttling {
        let read = self.quotas().into_iter().filter_map(|quota| quota.read());
        read.fold(Throttling::default(), Throttling::tighter)
    }

    /// Returns the number of processors that the smallest quota allows; `None` without a quota.
    pub fn processors(&self) -> Option<f64> {
        self.quotas().iter().map(|quota| quota.processors).min_by(f64::total_cmp)
    }

    /// Returns the memory limit that leaves the least memory free, in bytes. File cache that the kernel can reclaim
    /// counts as free.
    pub fn memory(&self) -> Option<Limit> {
        let files =
            [("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")];
        let cached = |folder: &Path| {
            let text = read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let value = |line: &str| {
                let (name, value) = line.split_once(' ')?;
                matches!(name, "total_inactive_file" | "inactive_file")
                    .then(|| value.trim().parse::<u64>().ok())?
            };
            // Version 1 has both values. `total_inactive_file` includes child groups and so is the larger.
            text.lines().filter_map(value).max().unwrap_or(0)
        };
        least(&self.memory, &files, cached)
    }

    /// Returns the limit on processes and threads that leaves the smallest number unused.
    pub fn pids(&self) -> Option<Limit> {
        least(&self.pids, &[("pids.max", "pids.current")], |_| 0)
    }
}

/// Returns controllers and path of a line of `/proc/PID/cgroup`.
fn parts(line: &str) -> Option<(&str, &str)> {
    line.split_once(':')?.1.split_once(':')
}

fn first_folder(mount: &Path, names: &[&str]) -> Option<PathBuf> {
    names.iter().map(|name| mount.join(name)).find(|folder| folder.is_dir())
}

/// Returns the folders from a group up to the mount point. Folders that this mount does not show are omitted.
fn ancestors(mount: &Path, path: &str) -> Vec<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    let is_plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let path = if is_plain { path } else { Path::new("") };
    path.ancestors().map(|part| mount.join(part)).filter(|folder| folder.is_dir()).collect()
}

/// Returns the limit that leaves the least unused. `free` returns the part of a group's use that does not count.
fn least(
    folders: &[PathBuf],
    files: &[(&str, &str)],
    free: impl Fn(&Path) -> u64,
) -> Option<Limit> {
    let number = |path: PathBuf| -> Option<u64> { read_to_string(path).ok()?.trim().parse().ok() };
    let limit = |folder: &PathBuf, (most, used): &(&str, &str)| {
        let most = number(folder.join(most))?;
        let used = number(folder.join(used)).unwrap_or(0).saturating_sub(free(folder));
        Some(Limit { most, used })
    };
    let all = folders.iter().flat_map(|folder| files.iter().map(move |names| (folder, names)));
    let limits = all.filter_map(|(folder, names)| limit(folder, names));
    limits.min_by_key(|limit| limit.most.saturating_sub(limit.used))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
    }

    #[test]
    fn limits_of_version_2_hold_for_the_groups_below() {
        let folder = tempfile::tempdir().expect("a folder");
        let stat = "usage_usec 5\nnr_periods 40\nnr_throttled 30\nthrottled_usec 2500000\n";
        write(
            folder.path(),
            &[
                ("a/cpu.max", "150000 100000\n"),
                ("a/cpu.stat", stat),
                ("a/memory.max", "1000\n"),
                ("a/memory.current", "950\n"),
                ("a/memory.stat", "anon 900\ninactive_file 50\n"),
                ("a/pids.max", "max\n"),
                ("a/b/cpu.max", "max 100000\n"),
                ("a/b/cpu.stat", "usage_usec 5\n"),
                ("a/b/memory.max", "800\n"),
                ("a/b/memory.current", "100\n"),
            ],
        );
        let groups = Groups::of("0::/a/b\n", folder.path());
        assert_eq!(groups.processors(), Some(1.5));
        let expected = Throttling { processors: 1.5, periods: 40, stopped: 30, stopped_s: 2.5 };
        assert_eq!(groups.throttling(), expected);
        assert_eq!(groups.memory(), Some(Limit { most: 1000, used: 900 }), "it leaves least");
        assert_eq!(groups.pids(), None);
    }

    #[test]
    fn version_1_has_a_folder_for_each_controller() {
        let folder = tempfile::tempdir().expect("a folder");
        write(
            folder.path(),
            &[
                ("cpu,cpuacct/x/cpu.cfs_quota_us", "20000\n"),
                ("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"),
                (
                    "cpu,cpuacct/x/cpu.stat",
                    "nr_periods 9\nnr_throttled 8\nthrottled_time 1500000000\n",
                ),
                ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
                ("memory/y/memory.limit_in_bytes", "5000\n"),
                ("memory/y/memory.usage_in_bytes", "10\n"),
                ("pids/pids.max", "70\n"),
                ("pids/pids.current", "7\n"),
            ],
        );
        let list = "3:pids:/\n2:memory:/y/gone\n1:cpu,cpuacct:/x\n0::/\n";
        let groups = Groups::of(list, folder.path());
        assert_eq!(groups.processors(), Some(0.2));
        assert_eq!(
            groups.throttling(),
            Throttling { processors: 0.2, periods: 9, stopped: 8, stopped_s: 1.5 }
        );
        assert_eq!(groups.memory(), Some(Limit { most: 5000, used: 10 }));
        assert_eq!(groups.pids(), Some(Limit { most: 70, used: 7 }));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_mount() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &[("cpu.max", "50000 100000\n"), ("memory.max", "64\n")]);
        for list in ["0::/docker/4711\n", "0::/../../other\n"] {
            let groups = Groups::of(list, folder.path());
            assert_eq!(groups.processors(), Some(0.5), "{list}");
            assert_eq!(groups.memory(), Some(Limit { most: 64, used: 0 }), "{list}");
        }
        assert_eq!(Groups::of("nonsense", folder.path()), Groups::default());
    }

    #[test]
    fn of_several_quotas_the_one_that_stops_most_is_read() {
        let one = Throttling { processors: 2.0, periods: 10, stopped: 1, stopped_s: 0.1 };
        let two = Throttling { processors: 0.5, periods: 10, stopped: 6, stopped_s: 0.3 };
        for sum in [one.tighter(two), two.tighter(one)] {
            assert_eq!(sum, two);
        }
        assert_eq!(two.since(&Throttling { periods: 5, stopped: 5, ..one }).share(), 0.2);
    }
}
