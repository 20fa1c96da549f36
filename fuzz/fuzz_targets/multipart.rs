//! Fuzzes multipart forms: the body has a part for each field and the announced length, and no header line is broken.
//!
//! Input: a byte that selects mode and character set, then name, content type, value and file type, one per line.

#![no_main]

extern crate plan as subject;

#[path = "../../crates/plan/tests/world/mod.rs"]
mod world;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use plan::http::Request;
use world::{World, http_sampler, plan_of};

const CHARSETS: [&str; 4] = ["UTF-8", "ISO-8859-1", "UTF-16", ""];

/// Returns a sampler with a parameter and a file whose texts are all variables.
fn sampler(compatible: bool) -> String {
    let text =
        |name: &str, value: &str| format!(r#"<stringProp name="{name}">{value}</stringProp>"#);
    let parameter = [
        text("Argument.name", "${name}"),
        text("Argument.value", "${value}"),
        text("HTTPArgument.content_type", "${type}"),
    ];
    let file = [
        text("File.path", "/dev/null"),
        text("File.paramname", "${name}"),
        text("File.mimetype", "${filetype}"),
    ];
    let more = format!(
        r#"<boolProp name="HTTPSampler.DO_MULTIPART_POST">true</boolProp>
        <boolProp name="HTTPSampler.BROWSER_COMPATIBLE_MULTIPART">{compatible}</boolProp>
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="" elementType="HTTPArgument">{}</elementProp></collectionProp></elementProp>
        <elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
        <elementProp name="" elementType="HTTPFileArg">{}</elementProp></collectionProp></elementProp>"#,
        parameter.concat(),
        file.concat()
    );
    let props = [
        ("HTTPSampler.domain", "localhost"),
        ("HTTPSampler.method", "POST"),
        ("HTTPSampler.contentEncoding", "${charset}"),
    ];
    http_sampler(&props, &more, "")
}

thread_local! {
    static WORLD: RefCell<World> = RefCell::new(World::new(plan_of(&(sampler(false) + &sampler(true)), "")));
}

fuzz_target!(|data: &[u8]| {
    let [pick, texts @ ..] = data else { return };
    let texts = String::from_utf8_lossy(texts);
    let mut texts = texts.split('\n');
    WORLD.with_borrow_mut(|world| {
        world.vars.reset();
        let charset = CHARSETS[usize::from(pick >> 1) % CHARSETS.len()];
        world.vars.set_named(&world.plan.names, "charset", charset);
        for name in ["name", "type", "value", "filetype"] {
            world.vars.set_named(&world.plan.names, name, texts.next().unwrap_or(""));
        }
        let mut request = Request::default();
        if world.render(usize::from(pick & 1), &mut request).is_err() {
            return;
        }
        let head = String::from_utf8_lossy(&request.headers).into_owned();
        let line = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        assert_eq!(line("Content-Length: "), Some(&*request.body.len().to_string()));
        let (_, boundary) = line("Content-Type: ")
            .and_then(|kind| kind.split_once("boundary="))
            .expect("a boundary");
        let boundary = boundary.split(';').next().expect("its end");
        if charset != "UTF-16" {
            let body = String::from_utf8_lossy(&request.body);
            let parts = body.matches(&format!("--{boundary}\r\n")).count();
            assert!(
                (1..=2).contains(&parts) && body.ends_with(&format!("--{boundary}--\r\n")),
                "{body}"
            );
        }
    });
});
