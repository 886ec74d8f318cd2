//! Hooks in a JSON file: which are there, and the text with ours or without them.

use super::entries::{Entry, Shape, handlers, is_ours};
use super::found::{is_rival, is_rival_name};
use super::surgery::{Document, Holder, Piece, plain, property, spot};
use super::text::{Removed, Unfit, newline_of, split_mark};
use jsonc_parser::ast::{Array, Object, Value as Ast};
use serde_json::Value;

const HOOKS: &str = "hooks";
const VERSION: &str = "version";

/// What the text says; an empty one says `{}`.
pub(super) fn value(text: &str) -> Result<Value, Unfit> {
    Ok(Document::read(split_mark(text).1)?.value())
}

/// The text with every entry in it, and with nothing of ours beside them. Unchanged where that is so already.
pub(super) fn install(text: &str, entries: &[Entry], shape: Shape) -> Result<String, Unfit> {
    let (mark, body) = split_mark(text);
    let mut body = with_root(body)?;
    while let Some((_, less)) = without_next(&body, entries, shape, is_ours)? {
        body = less;
    }
    if shape == Shape::Flat
        && Document::read(&body)?.root().is_some_and(|root| property(root, VERSION).is_none())
    {
        body = with_property(&body, VERSION, &Piece::Leaf(Value::from(1)))?;
    }
    for (position, entry) in entries.iter().enumerate() {
        // A file without any hooks gets all of them at once.
        if hooks(&Document::read(&body)?)?.is_none() {
            let events =
                entries[position..].iter().map(|entry| (entry.event, Piece::List(vec![piece(entry, shape)])));
            body = with_property(&body, HOOKS, &Piece::Object(events.collect()))?;
        }
        if !is_there(&body, entry, shape)? {
            body = with_entry(&body, entry, shape)?;
        }
    }
    Ok(format!("{mark}{body}"))
}

/// The text without anything of ours. What was there before we came stays, even if it holds nothing.
pub(super) fn remove(text: &str, original: Option<&str>, shape: Shape) -> Result<Removed, Unfit> {
    let (mark, body) = split_mark(text);
    let before = original.map_or(Ok(Value::Null), value)?;
    let mut body = body.to_owned();
    while let Some((event, less)) = without_next(&body, &[], shape, is_ours)? {
        body = without_hollow(&less, &event, &before)?;
    }
    if shape == Shape::Flat && before.is_object() && before.get(VERSION).is_none() {
        body = without_property(&body, VERSION)?;
    }
    let document = Document::read(&body)?;
    let says_nothing = document
        .root()
        .is_none_or(|root| root.properties.iter().all(|property| property.name.as_str() == VERSION));
    let is_hollow = says_nothing && !document.has_comments;
    Ok(Removed { text: format!("{mark}{body}"), is_hollow })
}

/// The text without the handlers and plugins of tools that did this job before.
pub(super) fn without_rivals(text: &str, shape: Shape, plugins: Option<&str>) -> Result<String, Unfit> {
    let (mark, body) = split_mark(text);
    let mut body = body.to_owned();
    while let Some((event, less)) = without_next(&body, &[], shape, is_rival)? {
        body = without_hollow(&less, &event, &Value::Null)?;
    }
    while let Some(less) = without_rival_plugin(&body, plugins)? {
        body = less;
    }
    Ok(format!("{mark}{body}"))
}

fn without_rival_plugin(body: &str, plugins: Option<&str>) -> Result<Option<String>, Unfit> {
    let document = Document::read(body)?;
    let plugins = document.root().and_then(|root| property(root, plugins?)?.value.as_object());
    let Some(plugins) = plugins else { return Ok(None) };
    let is_on = |plugin: &&jsonc_parser::ast::ObjectProp<'_>| {
        is_rival_name(plugin.name.as_str()) && plain(&plugin.value) == Value::Bool(true)
    };
    let rival = plugins.properties.iter().find(is_on);
    Ok(rival.map(|rival| document.without(&spot(rival), &Holder::object(plugins))))
}

/// What an event is answered with.
fn piece(entry: &Entry, shape: Shape) -> Piece {
    let object = |fields: &[(&'static str, Value)]| {
        Piece::Object(fields.iter().map(|(name, value)| (*name, Piece::Leaf(value.clone()))).collect())
    };
    if shape == Shape::Flat {
        return object(&entry.fields(shape));
    }
    let matcher = entry.matcher.map(|matcher| ("matcher", Piece::Leaf(Value::from(matcher))));
    let hooks = (HOOKS, Piece::List(vec![object(&entry.handler)]));
    Piece::Object(matcher.into_iter().chain([hooks]).collect())
}

/// A text that holds an object.
fn with_root(body: &str) -> Result<String, Unfit> {
    if Document::read(body)?.root().is_some() {
        return Ok(body.to_owned());
    }
    let newline = newline_of(body);
    let gap = if body.is_empty() || body.ends_with('\n') { "" } else { newline };
    Ok(format!("{body}{gap}{{}}{newline}"))
}

fn with_property(body: &str, name: &str, piece: &Piece) -> Result<String, Unfit> {
    let document = Document::read(body)?;
    let root = document.root().map(Holder::object);
    Ok(root.map_or_else(|| body.to_owned(), |root| document.with_item(&root, Some(name), piece)))
}

fn without_property(body: &str, name: &str) -> Result<String, Unfit> {
    let document = Document::read(body)?;
    let found = document.root().and_then(|root| Some((spot(property(root, name)?), Holder::object(root))));
    Ok(found.map_or_else(|| body.to_owned(), |(property, root)| document.without(&property, &root)))
}

fn with_entry(body: &str, entry: &Entry, shape: Shape) -> Result<String, Unfit> {
    let document = Document::read(body)?;
    let Some(events) = hooks(&document)? else { return Ok(body.to_owned()) };
    let piece = piece(entry, shape);
    Ok(match list(events, entry.event)? {
        Some(list) => document.with_item(&Holder::list(list), None, &piece),
        None => document.with_item(&Holder::object(events), Some(entry.event), &Piece::List(vec![piece])),
    })
}

fn is_there(body: &str, entry: &Entry, shape: Shape) -> Result<bool, Unfit> {
    let document = Document::read(body)?;
    let list = hooks(&document)?.map(|events| list(events, entry.event)).transpose()?.flatten();
    Ok(list.is_some_and(|list| list.elements.iter().any(|element| entry.is_in(&plain(element), shape))))
}

/// What holds the events.
fn hooks<'d, 't>(document: &'d Document<'t>) -> Result<Option<&'d Object<'t>>, Unfit> {
    let Some(root) = document.root() else { return Ok(None) };
    if root.properties.iter().filter(|property| property.name.as_str() == HOOKS).count() > 1 {
        return Err(Unfit("`hooks` is there twice".to_owned()));
    }
    match property(root, HOOKS).map(|property| &property.value) {
        None => Ok(None),
        Some(Ast::Object(events)) => Ok(Some(events)),
        Some(_) => Err(Unfit("`hooks` is no object".to_owned())),
    }
}

fn list<'o, 't>(events: &'o Object<'t>, event: &str) -> Result<Option<&'o Array<'t>>, Unfit> {
    match property(events, event).map(|property| &property.value) {
        None => Ok(None),
        Some(Ast::Array(list)) => Ok(Some(list)),
        Some(_) => Err(Unfit(format!("`hooks.{event}` is no list"))),
    }
}

/// Tells which handlers are meant.
type Meant = fn(&Value) -> bool;

/// The text without the next of the handlers that are meant and not one of the entries, and the event it stood under.
fn without_next(
    body: &str,
    entries: &[Entry],
    shape: Shape,
    is_meant: Meant,
) -> Result<Option<(String, String)>, Unfit> {
    let document = Document::read(body)?;
    let Some(events) = hooks(&document)? else { return Ok(None) };
    for event in &events.properties {
        let Ast::Array(list) = &event.value else { continue };
        let name = event.name.as_str();
        let wanted = entries.iter().find(|entry| entry.event == name);
        let mut is_kept = false;
        for element in &list.elements {
            let read = plain(element);
            let own = handlers(&read, shape).filter(|handler| is_meant(handler)).count();
            let keeps = !is_kept && wanted.is_some_and(|entry| entry.is_in(&read, shape));
            is_kept |= keeps;
            if own <= usize::from(keeps) {
                continue;
            }
            let less = if own == handlers(&read, shape).count() && !keeps {
                document.without(&spot(element), &Holder::list(list))
            } else {
                without_handler(&document, element, wanted.filter(|_| keeps), is_meant)
                    .ok_or_else(|| Unfit(format!("`hooks.{name}` cannot be read")))?
            };
            return Ok(Some((name.to_owned(), less)));
        }
    }
    Ok(None)
}

/// The text without one of the handlers in a group that are meant; the first that is the entry stays.
fn without_handler(
    document: &Document<'_>,
    group: &Ast<'_>,
    kept: Option<&Entry>,
    is_meant: Meant,
) -> Option<String> {
    let list = property(group.as_object()?, HOOKS)?.value.as_array()?;
    let own: Vec<&Ast<'_>> = list.elements.iter().filter(|handler| is_meant(&plain(handler))).collect();
    let keeps = kept.and_then(|entry| own.iter().position(|handler| plain(handler) == entry.handler()));
    let mut others = own.iter().enumerate().filter(|(position, _)| Some(*position) != keeps);
    let (_, handler) = others.next()?;
    Some(document.without(&spot(*handler), &Holder::list(list)))
}

/// The text without the lists and objects that we emptied and did not find.
fn without_hollow(body: &str, event: &str, original: &Value) -> Result<String, Unfit> {
    let document = Document::read(body)?;
    let Some(events) = hooks(&document)? else { return Ok(body.to_owned()) };
    let was_there = |event: &str| original.get(HOOKS).and_then(|hooks| hooks.get(event)).is_some();
    if let Some(property) = property(events, event)
        && property.value.as_array().is_some_and(|list| list.elements.is_empty())
        && !was_there(event)
    {
        let less = document.without(&spot(property), &Holder::object(events));
        return without_hollow(&less, event, original);
    }
    let root = document.root().and_then(|root| Some((root, property(root, HOOKS)?)));
    match root.filter(|_| events.properties.is_empty() && original.get(HOOKS).is_none()) {
        Some((root, hooks)) => Ok(document.without(&spot(hooks), &Holder::object(root))),
        None => Ok(body.to_owned()),
    }
}
