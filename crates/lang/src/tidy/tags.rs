//! JTidy's table of elements.

/// Elements that are parts of lines.
const INLINE: [&str; 55] = [
    "a", "abbr", "acronym", "applet", "b", "basefont", "bdo", "big", "blink", "br", "button",
    "cite", "code", "comment", "del", "dfn", "em", "embed", "font", "i", "iframe", "ilayer", "img",
    "input", "ins", "kbd", "keygen", "label", "legend", "map", "marquee", "nobr", "noembed",
    "object", "param", "q", "rb", "rbc", "rp", "rt", "rtc", "ruby", "s", "samp", "select",
    "servlet", "small", "span", "strike", "strong", "sub", "sup", "textarea", "tt", "u",
];

/// Others that are, and elements that are what they stand in.
const INLINE_TOO: [&str; 7] = ["var", "wbr", "noscript", "nolayer", "script", "server", "spacer"];

/// Elements that are parts of pages.
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

/// Others that are.
const BLOCK_TOO: [&str; 2] = ["ul", "xmp"];

/// Whether JTidy knows an element at all.
pub(super) fn is_known(name: &str) -> bool {
    is_inline(name) || BLOCK.contains(&name) || BLOCK_TOO.contains(&name)
}

/// Whether blanks go out of an element to the text around it.
pub(super) fn is_inline(name: &str) -> bool {
    INLINE.contains(&name) || INLINE_TOO.contains(&name)
}

/// Whether an element takes text as its value.
pub(super) fn is_field(name: &str) -> bool {
    matches!(name, "select" | "textarea" | "option" | "optgroup")
}

/// Whether blanks in an element are what they are.
pub(super) fn is_preformatted(name: &str) -> bool {
    matches!(name, "pre" | "textarea" | "script" | "style" | "listing" | "xmp" | "plaintext")
}

/// Whether an element holds other elements alone.
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

/// Whether an element stays though nothing is in it.
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

/// Whether attributes keep an element that nothing is in.
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
