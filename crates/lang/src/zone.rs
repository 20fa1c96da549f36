//! The time zone of this machine.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::{Offset, TimeZone};

/// Property by which a run passes the time zone of its Java options (`-Duser.timezone`) to its worker processes.
pub const PROPERTY: &str = "throng.java.zone";

static HERE: OnceLock<TimeZone> = OnceLock::new();

/// Sets the time zone of this process to the zone `name`, a value of Java's property `user.timezone`. Has no effect
/// after the first use of the zone.
pub fn set(name: &str) {
    let _ = HERE.set(named(name));
}

/// Returns the zone with that name in Java; UTC for an unknown name.
pub fn named(name: &str) -> TimeZone {
    let full = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| *full);
    let fixed = full.strip_prefix("GMT").filter(|rest| !rest.is_empty()).and_then(offset);
    fixed.or_else(|| TimeZone::get(full).ok()).unwrap_or(TimeZone::UTC)
}

/// Parses an offset of Java's custom zones: `+8`, `+08`, `+0800` or `+8:00`.
fn offset(text: &str) -> Option<TimeZone> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let number = |text: &str| text.parse::<i32>().ok().filter(|_| text.len() <= 2);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let seconds = (hours * 60 + minutes) * 60;
    let offset = Offset::from_seconds(if negative { -seconds } else { seconds }).ok()?;
    (hours < 24 && minutes < 60).then(|| TimeZone::fixed(offset))
}

/// Java's short zone names that other systems lack or use for other zones (`ZoneId.SHORT_IDS`).
#[rustfmt::skip]
const SHORT: &[(&str, &str)] = &[
    ("ACT", "Australia/Darwin"), ("AET", "Australia/Sydney"), ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"), ("AST", "America/Anchorage"), ("BET", "America/Sao_Paulo"), ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"), ("CNT", "America/St_Johns"), ("CST", "America/Chicago"), ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"), ("ECT", "Europe/Paris"), ("EST", "GMT-5"), ("HST", "GMT-10"),
    ("IET", "America/Indiana/Indianapolis"), ("IST", "Asia/Kolkata"), ("JST", "Asia/Tokyo"), ("MIT", "Pacific/Apia"),
    ("MST", "GMT-7"), ("NET", "Asia/Yerevan"), ("NST", "Pacific/Auckland"), ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"), ("PRT", "America/Puerto_Rico"), ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"), ("VST", "Asia/Ho_Chi_Minh"),
];

/// Returns the machine's time zone, with its name.
///
/// `TimeZone::system` scans the rules of all zones of the world to find the machine's zone. That takes 40 % of the
/// instructions of a short run. `/etc/localtime` contains the rules, and as a link its target contains the name.
pub fn here() -> TimeZone {
    HERE.get_or_init(|| {
        let told = std::env::var_os("TZ").is_some();
        let linked = if told { None } else { linked(Path::new("/etc/localtime")) };
        linked.unwrap_or_else(TimeZone::system)
    })
    .clone()
}

/// Returns the time zone to whose rules a symbolic link leads.
fn linked(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        let seconds = |name| named(name).to_offset(jiff::Timestamp::UNIX_EPOCH).seconds();
        assert_eq!(seconds("Asia/Shanghai"), 8 * 3600);
        assert_eq!(seconds("PRC"), 8 * 3600);
        assert_eq!(seconds("CTT"), 8 * 3600);
        assert_eq!(seconds("EST"), -5 * 3600);
        for name in ["GMT+8", "GMT+08", "GMT+0800", "GMT+8:00"] {
            assert_eq!(seconds(name), 8 * 3600, "{name}");
        }
        assert_eq!(seconds("GMT-0930"), -(9 * 3600 + 30 * 60));
        for name in ["GMT", "UTC", "GMT+24", "GMT+8:0", "UTC+8", "Nowhere", ""] {
            assert_eq!(seconds(name), 0, "{name}");
        }
    }

    #[test]
    fn a_link_to_the_rules_of_a_zone_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let rules = folder.path().join("zoneinfo/Africa");
        std::fs::create_dir_all(&rules).unwrap();
        // Version 1 with one local time type: one hour ahead of UTC, with the abbreviation `CAT`.
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
