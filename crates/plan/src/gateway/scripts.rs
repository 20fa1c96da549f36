//! Finds scripts and jars that sign or encrypt for a mobile gateway, by the words in them, and reports the possible
//! saving of CPU time.
//!
//! The result is a guess and therefore a note, not a warning. A script that signs or encrypts with unknown classes
//! counts only if the plan has the header that names a gateway's operation.

use jmx::ElementId;

use crate::compile::{Context, scope};

/// Reports that a script does what RPC Gateway Security does natively.
pub(crate) fn review_script(ctx: &mut Context<'_>, id: ElementId) {
    let class = scope::class(ctx.doc, id);
    if !["JSR223", "BeanShell", "BSF"].iter().any(|kind| class.starts_with(kind)) {
        return;
    }
    let texts = || ctx.props(id).iter().filter_map(|prop| prop.text());
    let named = || {
        let signs = texts().any(signs_or_encrypts) && names_operation(ctx);
        signs.then_some("it signs or encrypts, and the plan has an Operation-Type header")
    };
    let Some(sign) = texts().find_map(sign_of_gateway).or_else(named) else { return };
    let message =
        format!("the script seems to sign or encrypt requests for a mobile gateway: {sign}");
    ctx.report(jmx::Diag::note("gateway-script", message).help(SAVES).on(ctx.doc, id));
}

/// Message with measured savings for bodies of 1 KiB; docs/mgs.md has the tables.
const SAVES: &str = "the RPC Gateway Security element does this without Java (`throng explain mgs`). CPU time per call: signing \
    4 µs instead of 140 µs, RSA encryption 34 µs instead of 320 µs, or 1 µs with a cached key";

/// True if a Header Manager of the plan has the header that names a gateway's operation.
fn names_operation(ctx: &Context<'_>) -> bool {
    let managers = ctx.doc.ids().filter(|id| scope::class(ctx.doc, *id) == "HeaderManager");
    managers.flat_map(|id| ctx.props(id).collection("HeaderManager.headers")).any(|header| {
        let name = header.object().and_then(|header| header.props.str("Header.name"));
        name.is_some_and(|name| name.trim().eq_ignore_ascii_case("Operation-Type"))
    })
}

/// True if the script has a word with *sign* or *encrypt* in it: a class, method or variable.
fn signs_or_encrypts(script: &str) -> bool {
    let lower = script.to_ascii_lowercase();
    if lower.contains("encrypt") {
        return true;
    }
    // Excludes words such as design, assign, signal, significant, sign-up and sign-in.
    const OTHER: [&str; 6] = ["al", "ific", "up", "in", "out", "off"];
    lower.match_indices("sign").any(|(at, word)| {
        let before = script[..at].chars().next_back();
        let begins = script[at..].starts_with('S') || !before.is_some_and(char::is_alphabetic);
        let rest = &lower[at + word.len()..];
        begins && !OTHER.iter().any(|other| rest.starts_with(other))
    })
}

/// Reports a jar on the class path of the plan or the run whose name suggests that it signs or encrypts for a
/// gateway.
pub(crate) fn review_class_path<'a>(
    ctx: &mut Context<'a>,
    id: ElementId,
    own: impl Iterator<Item = &'a str>,
) {
    let settings = ctx.settings;
    let more = ["user.classpath", "search_paths"].map(|name| settings.property(name, ""));
    let more = more.iter().flat_map(|path| path.split([':', ';']));
    let Some(jar) = own.chain(more).find_map(jar_of_gateway) else { return };
    let message =
        format!("{jar} on the class path seems to sign or encrypt requests for a mobile gateway");
    ctx.report(jmx::Diag::note("gateway-jar", message).help(SAVES).on(ctx.doc, id));
}

/// Returns the file name of a jar if it contains a word for signing or encrypting.
fn jar_of_gateway(path: &str) -> Option<&str> {
    let name = path.trim().rsplit(['/', '\\']).next()?;
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".jar")?;
    let mut words = stem.split(|letter: char| !letter.is_ascii_alphabetic());
    let is = |word: &str| {
        word.starts_with("mgs") || ["sign", "signer", "encrypt", "encryption"].contains(&word)
    };
    words.any(is).then_some(name)
}

/// Returns the reason why a script seems to sign for a gateway, if any.
fn sign_of_gateway(script: &str) -> Option<&'static str> {
    let script = script.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().all(|word| script.contains(word));
    let signs: [(&[&str], &str); 5] = [
        (&["x-mgs-encryption"], "it contains the header x-mgs-encryption"),
        (&["operation-type", "sign"], "it contains Operation-Type and a signature"),
        (&["mgs", "sign"], "it contains a class or header with mgs, and signs"),
        (&["mgs", "crypt"], "it contains a class or header with mgs, and encrypts"),
        (&["request-data=", "ts="], "it builds the gateway's string to sign"),
    ];
    signs.into_iter().find(|(words, _)| has(words)).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_sign_for_a_gateway_are_known() {
        for script in [
            "String s = com.acme.MgsJMeterExt.sign(body, ts);",
            "import com.acme.mgs.*; vars.put('b', Mgs.encrypt(body))",
            "def content = 'Operation-Type=' + op + '&Request-Data=' + b64 + '&Ts=' + ts; sign = md5(content)",
            "headers.add(new Header('x-mgs-encryption', '1'))",
        ] {
            assert!(sign_of_gateway(script).is_some(), "{script}");
        }
        for script in ["vars.put('a', '1')", "sign(body)", "log.info('mgs')", "design assignment"] {
            assert_eq!(sign_of_gateway(script), None, "{script}");
        }
    }

    #[test]
    fn words_that_sign_are_told_from_others() {
        for script in ["SignUtil.of(b)", "x = rsaSign(b)", "sign(b)", "AesEncryptor", "s.signature"]
        {
            assert!(signs_or_encrypts(script), "{script}");
        }
        for script in
            ["design", "assign(a)", "Signal", "signUp()", "é sIGNificant", "log.info('a')", ""]
        {
            assert!(!signs_or_encrypts(script), "{script}");
        }
    }

    #[test]
    fn jars_that_sign_for_a_gateway_are_known() {
        for path in ["lib/MGSJMeterExt-1.2.jar", "C:\\x\\acme-sign.jar", "rpc_encrypt.jar"] {
            assert!(jar_of_gateway(path).is_some(), "{path}");
        }
        for path in ["lib/mgs", "design.jar", "mgs/other.jar", "signal.jar", ""] {
            assert_eq!(jar_of_gateway(path), None, "{path}");
        }
    }
}
