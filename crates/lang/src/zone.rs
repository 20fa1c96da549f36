//! The time zone of this machine.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

/// The machine's time zone, by the name under which its rules are installed.
///
/// `TimeZone::system` walks through the rules of all zones of the world to find those of one, which is 40 % of the instructions that a short run takes.
/// `/etc/localtime` is those rules, and as a link it says their name.
pub fn here() -> TimeZone {
    static HERE: OnceLock<TimeZone> = OnceLock::new();
    HERE.get_or_init(|| {
        let told = std::env::var_os("TZ").is_some();
        let linked = if told { None } else { linked(Path::new("/etc/localtime")) };
        linked.unwrap_or_else(TimeZone::system)
    })
    .clone()
}

/// The zone whose rules a link leads to.
fn linked(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_the_rules_of_a_zone_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let rules = folder.path().join("zoneinfo/Africa");
        std::fs::create_dir_all(&rules).unwrap();
        // Version 1, one kind of time: an hour ahead of Greenwich, with the abbreviation `CAT`.
        let mut tzif = b"TZif\0".to_vec();
        tzif.extend([0; 15]);
        for count in [0_u32, 0, 0, 0, 1, 4] {
            tzif.extend(count.to_be_bytes());
        }
        tzif.extend(3600_i32.to_be_bytes());
        tzif.extend([0, 0]);
        tzif.extend(b"CAT\0");
        std::fs::write(rules.join("Here"), tzif).unwrap();
        let link = folder.path().join("localtime");
        std::os::unix::fs::symlink(rules.join("Here"), &link).unwrap();
        let zone = linked(&link).unwrap();
        assert_eq!(zone.iana_name(), Some("Africa/Here"));
        assert_eq!(zone.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds(), 3600);
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "no rules").unwrap();
        assert!(linked(&link).is_none(), "a plain file has no name");
    }
}
