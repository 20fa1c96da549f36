//! Reads the directives of an nginx.conf that determine a proxy's memory and descriptors.
//!
//! Parses directives and blocks as nginx does: words, quotes, comments, and `include` with patterns in the last
//! part of a path. All other directives are ignored. Of several proxied locations, the one with the largest buffers
//! is used. Of several `stream` servers that proxy TCP, the one with the largest `proxy_buffer_size` is used.

use std::path::{Path, PathBuf};

use crate::inputs::size;

/// Size of a page in bytes, on which nginx's defaults are based.
pub(super) const PAGE: u64 = 4096;
/// nginx's default of `worker_connections` (`DEFAULT_CONNECTIONS`).
const CONNECTIONS: u64 = 512;
/// nginx's default of `proxy_buffer_size` in `stream`, in bytes (`ngx_stream_proxy_merge_srv_conf`).
const STREAM_BUFFER: u64 = 16 << 10;
/// Largest number of files of a configuration. A configuration with more files is refused.
const MOST_FILES: usize = 1000;
/// Largest number of nested `include` levels of a configuration.
const MOST_LEVELS: usize = 20;
/// Largest size in bytes of all files of a configuration together.
const MOST_BYTES: u64 = 16 << 20;

/// The settings of an nginx configuration that matter for memory and connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nginx {
    /// `worker_processes`; `None` for `auto`.
    pub(super) workers: Option<u64>,
    /// `worker_connections`: connections of one worker process.
    pub(super) connections: u64,
    /// Descriptors of a worker process, if the configuration sets them.
    pub(super) descriptors: Option<u64>,
    /// Buffers of `http`. `None` if a `stream` server proxies connections and no `http` location does.
    pub(super) buffers: Option<Buffers>,
    /// Size in bytes of each of the two buffers of a `stream` session. `None` if no `stream` server proxies TCP.
    pub(super) stream: Option<u64>,
    /// Names and patterns of `include` that match no file on this machine.
    pub(super) absent: Vec<String>,
}

/// Buffers of one proxied connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buffers {
    /// `proxy_buffering`: true if responses are buffered.
    pub(super) on: bool,
    /// `proxy_buffer_size` in bytes.
    pub(super) first: u64,
    /// `proxy_buffers`: number of buffers.
    pub(super) number: u64,
    /// `proxy_buffers`: size of each buffer in bytes.
    pub(super) size: u64,
}

impl Default for Buffers {
    fn default() -> Self {
        Self { on: true, first: PAGE, number: 8, size: PAGE }
    }
}

impl Buffers {
    /// Returns the size in bytes of the buffers of a response that the client does not read.
    pub(super) fn bytes(self) -> u64 {
        let more = if self.on { self.number.saturating_mul(self.size) } else { 0 };
        self.first.saturating_add(more)
    }

    /// Returns the buffers with the changes that the directives of a block make.
    fn with(mut self, block: &[Directive]) -> Result<Self, String> {
        for directive in block {
            match directive.name() {
                "proxy_buffering" => self.on = directive.word(1)? != "off",
                "proxy_buffer_size" => self.first = directive.size(1)?,
                "proxy_buffers" => {
                    (self.number, self.size) = (directive.number(1)?, directive.size(2)?);
                }
                _ => {}
            }
        }
        Ok(self)
    }
}

/// A directive of an nginx configuration, with its words and its block.
#[derive(Debug)]
struct Directive {
    words: Vec<String>,
    /// File and line of the directive for error messages.
    place: String,
    /// Directives in the block that follows the words. Empty without a block.
    block: Vec<Directive>,
}

impl Nginx {
    /// Reads an nginx configuration with all included files.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut files = Files { folder, read: 0, bytes: 0, absent: Vec::new() };
        let all = files.read(file, 0)?;
        let mut nginx = Self {
            workers: Some(1),
            connections: CONNECTIONS,
            descriptors: None,
            buffers: None,
            stream: None,
            absent: files.absent,
        };
        let mut of_all = Buffers::default();
        for directive in &all {
            match directive.name() {
                "worker_processes" if directive.word(1)? == "auto" => nginx.workers = None,
                "worker_processes" => nginx.workers = Some(directive.number(1)?),
                "worker_rlimit_nofile" => nginx.descriptors = Some(directive.number(1)?),
                "events" => {
                    let of_events = directive.block.iter();
                    for one in of_events.filter(|one| one.name() == "worker_connections") {
                        nginx.connections = one.number(1)?;
                    }
                }
                "http" => {
                    let own = Buffers::default();
                    proxied(&directive.block, own, &mut nginx.buffers)?;
                    of_all = own.with(&directive.block)?;
                }
                "stream" => nginx.stream = session_buffer(&directive.block)?,
                _ => {}
            }
        }
        // If no proxy is found at all, the proxied locations are assumed to be in other files.
        if nginx.stream.is_none() {
            nginx.buffers = nginx.buffers.or(Some(of_all));
        }
        Ok(nginx)
    }
}

/// Returns the largest `proxy_buffer_size` in bytes of the `stream` servers that proxy TCP.
fn session_buffer(stream: &[Directive]) -> Result<Option<u64>, String> {
    let size = |block: &[Directive], inherited| {
        let own = block.iter().rfind(|directive| directive.name() == "proxy_buffer_size");
        own.map_or(Ok(inherited), |directive| directive.size(1))
    };
    let of_all = size(stream, STREAM_BUFFER)?;
    let mut largest = None;
    for server in stream.iter().filter(|directive| directive.name() == "server") {
        let own = size(&server.block, of_all)?;
        if server.passes_tcp() {
            largest = largest.max(Some(own));
        }
    }
    Ok(largest)
}

/// Finds the largest buffers of a location with `proxy_pass`.
fn proxied(
    block: &[Directive],
    inherited: Buffers,
    found: &mut Option<Buffers>,
) -> Result<(), String> {
    let own = inherited.with(block)?;
    let leads = block.iter().any(|directive| directive.name() == "proxy_pass");
    if leads && found.is_none_or(|most| own.bytes() > most.bytes()) {
        *found = Some(own);
    }
    let inner = ["server", "location", "if", "limit_except"];
    for directive in block.iter().filter(|directive| inner.contains(&directive.name())) {
        proxied(&directive.block, own, found)?;
    }
    Ok(())
}

impl Directive {
    /// True if a `stream` server listens on TCP and proxies to another server.
    fn passes_tcp(&self) -> bool {
        let is = |name: &'static str| self.block.iter().filter(move |one| one.name() == name);
        let is_udp = |listen: &Self| listen.words.iter().any(|word| word == "udp");
        is("proxy_pass").next().is_some()
            && (is("listen").next().is_none() || !is("listen").all(is_udp))
    }

    fn name(&self) -> &str {
        &self.words[0]
    }

    fn word(&self, at: usize) -> Result<&str, String> {
        let word = self.words.get(at).map(String::as_str);
        word.ok_or_else(|| format!("{}: {} lacks a value", self.place, self.name()))
    }

    fn number(&self, at: usize) -> Result<u64, String> {
        let word = self.word(at)?;
        let number = word.parse().ok().filter(|n| (1..=u64::from(u32::MAX)).contains(n));
        number.ok_or_else(|| format!("{}: {word} is not a number for {}", self.place, self.name()))
    }

    /// Parses a size in bytes: a number, optionally with `k`, `m` or `g`.
    fn size(&self, at: usize) -> Result<u64, String> {
        let word = self.word(at)?;
        let size = size::bytes(word).filter(|bytes| (1..=1 << 40).contains(bytes));
        size.ok_or_else(|| format!("{}: {word} is not a size for {}", self.place, self.name()))
    }
}

/// State for reading the files of an nginx configuration.
struct Files {
    /// Folder of the main file, to which file names are relative.
    folder: PathBuf,
    /// Number of files read so far.
    read: usize,
    /// Total size in bytes of the files read so far.
    bytes: u64,
    /// Names and patterns of `include` that match no file on this machine.
    absent: Vec<String>,
}

impl Files {
    fn read(&mut self, file: &Path, level: usize) -> Result<Vec<Directive>, String> {
        let name = file.display();
        let failed = |error: std::io::Error| format!("cannot read {name}: {error}");
        let about = std::fs::metadata(file).map_err(failed)?;
        if !about.is_file() {
            return Err(format!("{name} is not a file"));
        }
        (self.read, self.bytes) = (self.read + 1, self.bytes.saturating_add(about.len()));
        if level > MOST_LEVELS || self.read > MOST_FILES || self.bytes > MOST_BYTES {
            return Err(format!("{name}: too many files are included, or one includes itself"));
        }
        let bytes = std::fs::read(file).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lexer = Lexer { text: &text, at: 0, line: 1, file: &name.to_string() };
        self.block(&mut lexer, level, 0)
    }

    /// Parses the directives up to the end of the block, or up to the end of the file at the outermost level.
    fn block(
        &mut self,
        lexer: &mut Lexer<'_>,
        level: usize,
        depth: usize,
    ) -> Result<Vec<Directive>, String> {
        let (mut all, mut words, mut place) = (Vec::new(), Vec::new(), lexer.place());
        if depth > 100 {
            return Err(format!("{place}: too many blocks within each other"));
        }
        loop {
            match lexer.next()? {
                Token::Word(word) => {
                    if words.is_empty() {
                        place = lexer.place();
                    }
                    words.push(word);
                }
                Token::Semicolon if words.len() > 1 && words[0] == "include" => {
                    let files = self.included(&words[1])?;
                    if files.is_empty() && !self.absent.contains(&words[1]) {
                        self.absent.push(words[1].clone());
                    }
                    for file in files {
                        all.extend(self.read(&file, level + 1)?);
                    }
                    words.clear();
                }
                Token::Semicolon if !words.is_empty() => {
                    let words = std::mem::take(&mut words);
                    all.push(Directive { words, place: place.clone(), block: Vec::new() });
                }
                Token::Open if !words.is_empty() => {
                    let block = if words[0].ends_with("_by_lua_block") {
                        lexer.skip_code()?;
                        Vec::new()
                    } else {
                        self.block(lexer, level, depth + 1)?
                    };
                    let words = std::mem::take(&mut words);
                    all.push(Directive { words, place: place.clone(), block });
                }
                Token::Close if words.is_empty() && depth > 0 => return Ok(all),
                Token::End if words.is_empty() && depth == 0 => return Ok(all),
                Token::End => {
                    return Err(format!("{}: the file ends within a block", lexer.place()));
                }
                _ => return Err(format!("{}: it is not an nginx configuration", lexer.place())),
            }
        }
    }

    /// Returns the files of an `include`: one file, or the files of a folder that match a pattern. Missing files are
    /// skipped and noted, because the configuration may come from another machine.
    fn included(&self, pattern: &str) -> Result<Vec<PathBuf>, String> {
        let path = self.folder.join(pattern);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if !name.contains('*') {
            return Ok(path.is_file().then_some(path).into_iter().collect());
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
        let mut files = Vec::new();
        for entry in entries.take(MOST_FILES) {
            let entry =
                entry.map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
            if fits(&name, &entry.file_name().to_string_lossy()) && entry.path().is_file() {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Returns true if a name matches a pattern in which `*` matches any string.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    if !after.contains('*') {
        return rest.ends_with(after);
    }
    (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(after, &rest[at..]))
}

/// A token of an nginx configuration.
enum Token {
    Word(String),
    Semicolon,
    Open,
    Close,
    End,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    file: &'t str,
}

impl Lexer<'_> {
    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn next(&mut self) -> Result<Token, String> {
        loop {
            match self.take() {
                None => return Ok(Token::End),
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.take();
                    }
                }
                Some(';') => return Ok(Token::Semicolon),
                Some('{') => return Ok(Token::Open),
                Some('}') => return Ok(Token::Close),
                Some(c) if c.is_whitespace() => {}
                Some(quote @ ('"' | '\'')) => return self.quoted(quote),
                Some(c) => return Ok(self.word(c)),
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Token, String> {
        let (begun, mut word) = (self.place(), String::new());
        loop {
            match self.take() {
                None => return Err(format!("{begun}: a quote has no end")),
                Some('\\') => word.extend(self.take()),
                Some(c) if c == quote => return Ok(Token::Word(word)),
                Some(c) => word.push(c),
            }
        }
    }

    fn word(&mut self, first: char) -> Token {
        let mut word = String::from(first);
        while let Some(c) = self.peek() {
            // The opening brace of a variable, `${name}`, is part of the word.
            let of_variable = c == '{' && word.ends_with('$');
            if c.is_whitespace() || c == ';' || (c == '{' && !of_variable) {
                break;
            }
            if c == '}' && word.rsplit_once("${").is_none_or(|(_, name)| name.contains('}')) {
                break;
            }
            self.take();
            word.push(c);
            if c == '\\' {
                word.extend(self.take());
            }
        }
        Token::Word(word)
    }

    /// Skips the code of a `…_by_lua_block` up to its closing brace.
    fn skip_code(&mut self) -> Result<(), String> {
        let mut open = 1;
        while open > 0 {
            match self.take() {
                Some('{') => open += 1,
                Some('}') => open -= 1,
                Some(_) => {}
                None => return Err(format!("{}: the file ends within a block", self.place())),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<Nginx, String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let read = Nginx::read(&folder.path().join(files[0].0));
        read.map_err(|words| words.replace(&format!("{}/", folder.path().display()), ""))
    }

    #[test]
    fn settings_are_read_with_what_they_inherit() {
        let main = "# workers\nworker_processes 32; worker_rlimit_nofile 1000000;\n\
            events { worker_connections 65536; use epoll; }\n\
            http { log_format a '{ \"x\": \"$uri;\" }'; proxy_buffers 4 8k; include conf.d/*.conf; include absent.conf;\n\
            map $http_upgrade $connection { default upgrade; '' close; } }";
        let site = "server { set $a \"b\\\"}\"; location ~ ^/a{2}$ { proxy_pass http://${up}x; proxy_buffering off; }\n\
            location / { content_by_lua_block { if a then b = { c } end } } \n\
            location /b { proxy_pass http://b; proxy_buffer_size 16k; } }";
        let read =
            |site| read(&[("nginx.conf", main), ("conf.d/site.conf", site), ("conf.d/x", "no")]);
        let quoted = site.replace("^/a{2}$", "\"^/a{2}$\"");
        let nginx = read(&quoted).expect("a configuration");
        assert_eq!((nginx.workers, nginx.connections), (Some(32), 65_536));
        assert_eq!(nginx.descriptors, Some(1_000_000));
        assert_eq!(nginx.absent, ["absent.conf"]);
        let most = Buffers { on: true, first: 16 << 10, number: 4, size: 8 << 10 };
        assert_eq!((nginx.buffers, most.bytes()), (Some(most), 48 << 10));
        // Without a proxied location, the outermost settings are used.
        let nginx = read("server { return 200; }").expect("a configuration");
        assert_eq!(nginx.buffers, Some(Buffers { first: PAGE, ..most }));
    }

    #[test]
    fn sessions_of_stream_have_a_buffer_of_their_own_size() {
        let text = |inner: &str| {
            format!(
                "events {{ worker_connections 9; }} stream {{ upstream u {{ server a:1; server b:2 weight=2; }} {inner} }}"
            )
        };
        let read = |text: String| read(&[("n", &text)]).expect("a configuration");
        let plain = read(text("server { listen 1; proxy_pass u; }"));
        assert_eq!((plain.connections, plain.stream, plain.buffers), (9, Some(16 << 10), None));
        let servers = "proxy_buffer_size 4k; server { listen 1; proxy_pass u; } \
            server { listen 2 ssl; proxy_buffer_size 8k; proxy_pass c:3; } \
            server { listen 3 udp; proxy_buffer_size 64k; proxy_pass u; } \
            server { listen 4; proxy_buffer_size 32k; return x; }";
        assert_eq!(read(text(servers)).stream, Some(8 << 10));
        // If no server proxies connections, a connection is assumed to be one of `http`.
        let none = read(text("server { listen 4; return x; }"));
        assert_eq!((none.stream, none.buffers), (None, Some(Buffers::default())));
        let both = "http { server { location / { proxy_pass http://u; proxy_buffering off; } } }";
        let both = read(text("server { listen 1; proxy_pass u; }") + both);
        let of_http = Buffers { on: false, ..Buffers::default() };
        assert_eq!((both.stream, both.buffers), (Some(16 << 10), Some(of_http)));
    }

    #[test]
    fn defaults_are_those_of_nginx() {
        let nginx = read(&[("n", "events {} http {}")]).expect("a configuration");
        assert_eq!((nginx.workers, nginx.connections, nginx.descriptors), (Some(1), 512, None));
        assert_eq!(nginx.buffers.map(Buffers::bytes), Some(36 << 10));
        let nginx = read(&[("n", "worker_processes auto; http { proxy_buffering off; }")]);
        let nginx = nginx.expect("a configuration");
        assert_eq!((nginx.workers, nginx.buffers.map(Buffers::bytes)), (None, Some(4 << 10)));
    }

    #[test]
    fn includes_that_no_file_fits_are_named_once() {
        let text = "include m/*.conf; http { include a.conf; include none/*; include a.conf; include b.conf; }";
        let nginx = read(&[("n", text), ("b.conf", ""), ("m/x", "")]).expect("a configuration");
        assert_eq!(nginx.absent, ["m/*.conf", "a.conf", "none/*"]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, words) in [
            (
                "events {\n worker_connections many; }",
                "n:2: many is not a number for worker_connections",
            ),
            ("http { proxy_buffers 4\n 8q; }", "n:1: 8q is not a size for proxy_buffers"),
            ("http { proxy_buffer_size; }", "n:1: proxy_buffer_size lacks a value"),
            (
                "stream { server {\n proxy_buffer_size 4x; } }",
                "n:2: 4x is not a size for proxy_buffer_size",
            ),
            ("http { ", "n:1: the file ends within a block"),
            ("}", "n:1: it is not an nginx configuration"),
            ("a 'b", "n:1: a quote has no end"),
            ("include n;", "n: too many files are included, or one includes itself"),
        ] {
            assert_eq!(read(&[("n", text)]).expect_err(text), words);
        }
        assert!(
            Nginx::read(Path::new("/nowhere/n")).is_err_and(|words| words.contains("cannot read"))
        );
    }
}
