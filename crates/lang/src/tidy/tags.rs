//! JTidy's table of elements: which are known, inline, preformatted, or may be empty.

/// Names of inline elements.
const INLINE: [&str; 55] = [
    "a", "abbr", "acronym", "applet", "b", "basefont", "bdo", "big", "blink", "br", "button",
    "cite", "code", "comment", "del", "dfn", "em", "embed", "font", "i", "iframe", "ilayer", "img",
    "input", "ins", "kbd", "keygen", "label", "legend", "map", "marquee", "nobr", "noembed",
    "object", "param", "q", "rb", "rbc", "rp", "rt", "rtc", "ruby", "s", "samp", "select",
    "servlet", "small", "span", "strike", "strong", "sub", "sup", "textarea", "tt", "u",
];

/// More names of inline elements, and of elements that can be both inline and block.
const INLINE_TOO: [&str; 7] = ["var", "wbr", "noscript", "nolayer", "script", "server", "spacer"];

/// Names of block elements.
const BLOCK: [&str; 55] = [
    "address",
    "align",
    "area",
    "base",
    "bgsound",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "html",
    "isindex",
    "layer",
    "li",
    "link",
    "listing",
    "menu",
    "meta",
    "multicol",
    "nextid",
    "noframes",
    "nosave",
    "ol",
    "optgroup",
    "option",
    "p",
    "plaintext",
    "pre",
    "style",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
];

/// More names of block elements.
const BLOCK_TOO: [&str; 2] = ["ul", "xmp"];

/// Returns true if JTidy knows the element.
pub(super) fn is_known(name: &str) -> bool {
    is_inline(name) || BLOCK.contains(&name) || BLOCK_TOO.contains(&name)
}

/// Returns true if blanks at the element's edges are moved to the surrounding text.
pub(super) fn is_inline(name: &str) -> bool {
    INLINE.contains(&name) || INLINE_TOO.contains(&name)
}

/// Returns true for elements of form fields that contain text: `select`, `textarea`, `option` and `optgroup`.
pub(super) fn is_field(name: &str) -> bool {
    matches!(name, "select" | "textarea" | "option" | "optgroup")
}

/// Returns true if whitespace in the element is preserved.
pub(super) fn is_preformatted(name: &str) -> bool {
    matches!(name, "pre" | "textarea" | "script" | "style" | "listing" | "xmp" | "plaintext")
}

/// Returns true if the element may contain only elements, no text.
pub(super) fn holds_no_text(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "head"
            | "table"
            | "thead"
            | "tbody"
            | "tfoot"
            | "tr"
            | "colgroup"
            | "ul"
            | "ol"
            | "dl"
            | "dir"
            | "menu"
            | "select"
            | "optgroup"
            | "frameset"
    )
}

/// Returns true if the element is kept even if it is empty.
pub(super) fn stays_empty(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "isindex"
            | "keygen"
            | "link"
            | "meta"
            | "nextid"
            | "param"
            | "spacer"
            | "wbr"
            | "td"
            | "th"
            | "tr"
            | "applet"
            | "object"
            | "title"
            | "iframe"
            | "textarea"
            | "body"
            | "colgroup"
            | "html"
            | "head"
            | "frameset"
    )
}

/// Returns true if an empty element of this name is kept if it has attributes.
pub(super) fn stays_with_attributes(name: &str) -> bool {
    name == "a"
        || !is_inline(name)
            && !matches!(
                name,
                "caption"
                    | "style"
                    | "tbody"
                    | "thead"
                    | "tfoot"
                    | "li"
                    | "dd"
                    | "dt"
                    | "option"
                    | "optgroup"
            )
}
