//! jsoup's table of HTML's elements: those that begin a block, and those that are laid out as one.

const BLOCKS: &[&str] = &[
    "html",
    "head",
    "body",
    "frameset",
    "script",
    "noscript",
    "style",
    "meta",
    "link",
    "title",
    "frame",
    "noframes",
    "section",
    "nav",
    "aside",
    "hgroup",
    "header",
    "footer",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "pre",
    "div",
    "blockquote",
    "hr",
    "address",
    "figure",
    "figcaption",
    "form",
    "fieldset",
    "ins",
    "del",
    "dl",
    "dt",
    "dd",
    "li",
    "table",
    "caption",
    "thead",
    "tfoot",
    "tbody",
    "colgroup",
    "col",
    "tr",
    "th",
    "td",
    "video",
    "audio",
    "canvas",
    "details",
    "menu",
    "plaintext",
    "template",
    "article",
    "main",
    "svg",
    "math",
    "center",
    "dir",
    "applet",
    "marquee",
    "listing",
];

const INLINE: &[&str] = &[
    "object", "base", "font", "tt", "i", "b", "u", "big", "small", "em", "strong", "dfn", "code",
    "samp", "kbd", "var", "cite", "abbr", "time", "acronym", "mark", "ruby", "rt", "rp", "rtc",
    "a", "img", "br", "wbr", "map", "q", "sub", "sup", "bdo", "iframe", "embed", "span", "input",
    "select", "textarea", "label", "button", "optgroup", "option", "legend", "datalist", "keygen",
    "output", "progress", "meter", "area", "param", "source", "track", "summary", "command",
    "device", "basefont", "bgsound", "menuitem", "data", "bdi", "s", "strike", "nobr", "rb",
];

/// Blocks that are laid out within a line.
const FORMATTED_INLINE: &[&str] = &[
    "title", "a", "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "address", "li", "th", "td",
    "script", "style", "ins", "del", "s", "button",
];

/// Whether an element begins a block; unknown ones do not.
pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// Whether it is laid out as a block; unknown ones are.
pub(super) fn is_formatted_as_block(name: &str) -> bool {
    !INLINE.contains(&name) && !FORMATTED_INLINE.contains(&name)
}

/// Whether blanks in it stay as they are.
pub(super) fn keeps_blanks(name: &str) -> bool {
    matches!(name, "pre" | "plaintext" | "title" | "textarea")
}
