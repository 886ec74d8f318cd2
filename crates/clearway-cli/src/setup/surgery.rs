//! JSON with comments, edited as text: what is added or taken away is named, and every other byte stays where it is.
//!
//! The text is parsed for its ranges alone. An editor that keeps a tree was rejected: it trims blank lines next to what
//! it adds and drops comments next to what it removes. Nothing here knows what a hook is.

use super::text::{Edit, Unfit, applied, newline_of};
use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};
use std::ops::Range;

/// A text that holds one object, or nothing.
pub(super) struct Document<'t> {
    text: &'t str,
    root: Option<Ast<'t>>,
    /// Where the tokens are, and which of them are commas.
    tokens: Vec<(Range<usize>, bool)>,
    pub(super) has_comments: bool,
}

/// Why a text is no JSON with comments, and without commas before an end.
pub(crate) fn no_json_with_comments(text: &str) -> Result<(), String> {
    let options = ParseOptions { allow_trailing_commas: false, ..OPTIONS };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    parsed.map(drop).map_err(|error| error.to_string())
}

impl<'t> Document<'t> {
    pub(super) fn read(text: &'t str) -> Result<Self, Unfit> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &OPTIONS).map_err(|error| Unfit(error.to_string()))?;
        let is_comment = |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let (mut tokens, mut has_comments) = (Vec::new(), false);
        for token in parsed.tokens.unwrap_or_default() {
            if is_comment(&token.token) {
                has_comments = true;
            } else {
                tokens.push((token.range.start..token.range.end, matches!(token.token, Token::Comma)));
            }
        }
        match parsed.value {
            None | Some(Ast::Object(_)) => Ok(Self { text, root: parsed.value, tokens, has_comments }),
            Some(_) => Err(Unfit("it holds something else than one object".to_owned())),
        }
    }

    /// What the text says; an empty one says `{}`.
    pub(super) fn value(&self) -> Value {
        self.root.as_ref().map_or_else(|| Value::Object(Map::new()), plain)
    }

    pub(super) fn root(&self) -> Option<&Object<'t>> {
        self.root.as_ref().and_then(Ast::as_object)
    }

    /// The text with one more item at the end of a list, or, with a name, of an object.
    pub(super) fn with_item(&self, inside: &Holder, name: Option<&str>, piece: &Piece) -> String {
        let style = self.style();
        let written = |text: String| match name {
            Some(name) => named(name, &text),
            None => text,
        };
        let mut edits = Vec::new();
        let (from, is_comma_style) = match inside.items.last() {
            None => (inside.whole.start + 1, false),
            Some(last) => match self.comma_after(last.end) {
                Some(comma) => (comma.end, true),
                None => {
                    edits.push((last.end..last.end, ",".to_owned()));
                    (last.end, false)
                }
            },
        };
        let close = inside.whole.end - 1;
        // Behind whatever is said about the item before.
        let at = from + self.text[from..close].trim_end().len();
        let comma = if is_comma_style { "," } else { "" };
        let is_one_line = !inside.items.is_empty() && !self.has_lines(inside);
        let new = if is_one_line {
            format!(" {}{comma}", written(piece.line()))
        } else {
            let base = self.line_indent(inside.whole.start);
            let indent = self.indent_in(inside, base, &style);
            let closes_alone = self.text[at..close].contains('\n');
            let end = if closes_alone { String::new() } else { format!("{}{base}", style.newline) };
            format!(
                "{}{indent}{}{comma}{end}",
                style.newline,
                written(if name.is_some() { piece.lines(&indent, &style) } else { piece.line() })
            )
        };
        edits.push((at..at, new));
        applied(self.text, edits)
    }

    /// The text without an item: without the comma that was for it, and without the blanks before it.
    pub(super) fn without(&self, item: &Range<usize>, inside: &Holder) -> String {
        let before = self.text[..item.start].trim_end_matches([' ', '\t', '\r', '\n']).len();
        let mut edits: Vec<Edit> = vec![(before..item.end, String::new())];
        match (self.comma_after(item.end), self.comma_before(item.start)) {
            (Some(comma), _) | (None, Some(comma)) => edits.push((comma, String::new())),
            (None, None) => {
                // It was the only one, and empty brackets take no lines.
                let close = inside.whole.end - 1;
                if before == inside.whole.start + 1 && self.text[item.end..close].trim().is_empty() {
                    edits = vec![(before..close, String::new())];
                }
            }
        }
        applied(self.text, edits)
    }

    /// Whether the items of something are on lines of their own.
    fn has_lines(&self, inside: &Holder) -> bool {
        let starts = std::iter::once(inside.whole.start).chain(inside.items.iter().map(|item| item.end));
        let ends = inside.items.iter().map(|item| item.start).chain([inside.whole.end]);
        starts.zip(ends).any(|(start, end)| self.text[start..end].contains('\n'))
    }

    fn comma_after(&self, at: usize) -> Option<Range<usize>> {
        let next = self.tokens.iter().find(|(range, _)| range.start >= at)?;
        next.1.then(|| next.0.clone())
    }

    fn comma_before(&self, at: usize) -> Option<Range<usize>> {
        let previous = self.tokens.iter().rev().find(|(range, _)| range.end <= at)?;
        previous.1.then(|| previous.0.clone())
    }

    fn style(&self) -> Style {
        let first = self.root().and_then(|root| root.properties.first());
        let unit = first.and_then(|first| self.own_indent(first.range.start)).filter(|unit| !unit.is_empty());
        Style { newline: newline_of(self.text), unit: unit.unwrap_or("  ").to_owned() }
    }

    fn indent_in(&self, inside: &Holder, base: &str, style: &Style) -> String {
        let like_last = inside.items.last().and_then(|last| self.own_indent(last.start));
        like_last.map_or_else(|| format!("{base}{}", style.unit), str::to_owned)
    }

    /// The blanks before something that begins its line.
    fn own_indent(&self, at: usize) -> Option<&'t str> {
        let indent = self.line_indent(at);
        let line = self.text[..at].rfind('\n')? + 1;
        (line + indent.len() == at).then_some(indent)
    }

    /// The blanks at the beginning of the line that something is on.
    fn line_indent(&self, at: usize) -> &'t str {
        let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = &self.text[line..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }
}

/// Comments and commas at the end are what people write; everything else that is not JSON is a mistake of theirs.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A list or object and where its items are.
pub(super) struct Holder {
    whole: Range<usize>,
    pub(super) items: Vec<Range<usize>>,
}

impl Holder {
    pub(super) fn object(object: &Object<'_>) -> Self {
        Self { whole: spot(object), items: object.properties.iter().map(spot).collect() }
    }

    pub(super) fn list(list: &jsonc_parser::ast::Array<'_>) -> Self {
        Self { whole: spot(list), items: list.elements.iter().map(spot).collect() }
    }
}

/// Where something is.
pub(super) fn spot(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

/// A property of an object; of several with one name the last counts, as it does for those who read the file.
pub(super) fn property<'o, 't>(
    object: &'o Object<'t>,
    name: &str,
) -> Option<&'o jsonc_parser::ast::ObjectProp<'t>> {
    object.properties.iter().rev().find(|property| property.name.as_str() == name)
}

/// A parsed value without its places.
pub(super) fn plain(value: &Ast<'_>) -> Value {
    match value {
        Ast::StringLit(text) => Value::from(text.value.as_ref()),
        Ast::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Ast::BooleanLit(boolean) => Value::from(boolean.value),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(list) => list.elements.iter().map(plain).collect(),
        Ast::Object(object) => {
            let field = |field: &jsonc_parser::ast::ObjectProp<'_>| {
                (field.name.as_str().to_owned(), plain(&field.value))
            };
            Value::Object(object.properties.iter().map(field).collect())
        }
    }
}

/// Something to be written, its fields in order.
pub(super) enum Piece {
    Leaf(Value),
    List(Vec<Self>),
    Object(Vec<(&'static str, Self)>),
}

/// How the lines of a file are written.
struct Style {
    newline: &'static str,
    unit: String,
}

impl Piece {
    /// On lines of its own, the first of which begins where it is put. What a list holds takes one line each.
    fn lines(&self, indent: &str, style: &Style) -> String {
        let inner = format!("{indent}{}", style.unit);
        let (open, close, items): (char, char, Vec<String>) = match self {
            Self::Leaf(value) => return on_line(value),
            Self::List(items) => ('[', ']', items.iter().map(Self::line).collect()),
            Self::Object(fields) => {
                let field = |(name, piece): &(&'static str, Self)| named(name, &piece.lines(&inner, style));
                ('{', '}', fields.iter().map(field).collect())
            }
        };
        let newline = style.newline;
        let items = items.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{items}{newline}{indent}{close}")
    }

    /// On one line.
    fn line(&self) -> String {
        match self {
            Self::Leaf(value) => on_line(value),
            Self::List(items) => format!("[{}]", items.iter().map(Self::line).collect::<Vec<_>>().join(", ")),
            Self::Object(fields) => {
                let field = |(name, piece): &(&'static str, Self)| named(name, &piece.line());
                format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn named(name: &str, written: &str) -> String {
    format!("{}: {written}", Value::from(name))
}

fn on_line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(on_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
