//! Detection of secret properties, which files of a run must not contain.
//!
//! A property is secret because of its own name, because a part of its value has a secret's name (`-Dname=value`
//! among options, `password=` in a JDBC URL), or because of a password in a URL (`http://user:password@host`).

/// True if the property's value is a secret.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let separator = |char: char| char.is_whitespace() || "&;?,\u{1f}".contains(char);
    is_name(name)
        || value.split(separator).any(|part| {
            let named = part
                .split_once('=')
                .is_some_and(|(name, value)| !value.is_empty() && is_name(name));
            named || has_user(part)
        })
}

fn is_name(name: &str) -> bool {
    record::mask::is_secret_parameter(name.trim())
}

/// Returns true if a URL contains a password before its host.
fn has_user(text: &str) -> bool {
    let authority = text.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let user = authority.and_then(|authority| authority.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_names_and_by_what_their_values_hold() {
        for (name, value) in [
            ("http.proxyPass", "x"),
            ("javax.net.ssl.keyStorePassword", "x"),
            ("db_pw", "x"),
            ("API_KEY", "x"),
            ("bearer.token", "x"),
            ("jvm_args", "-Xmx1g -Djavax.net.ssl.trustStorePassword=changeit"),
            ("url", "jdbc:mysql://h/d?user=a&password=b"),
            ("proxy", "http://me:secret@proxy:3128/"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in
            [("users", "5"), ("http.proxyUser", "me"), ("url", "http://h:80/a@b:c"), ("keys", "a")]
        {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }
}
