//! jsoup's table of HTML elements: which are blocks, and which are formatted as blocks.

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

/// Block elements that jsoup formats inline.
const FORMATTED_INLINE: &[&str] = &[
    "title", "a", "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "address", "li", "th", "td",
    "script", "style", "ins", "del", "s", "button",
];

/// Returns true if an element is a block; unknown elements are not.
pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// Returns true if jsoup formats an element as a block. Unknown elements are formatted as blocks.
pub(super) fn is_formatted_as_block(name: &str) -> bool {
    !INLINE.contains(&name) && !FORMATTED_INLINE.contains(&name)
}

/// Returns true if whitespace in an element is preserved.
pub(super) fn keeps_blanks(name: &str) -> bool {
    matches!(name, "pre" | "plaintext" | "title" | "textarea")
}
