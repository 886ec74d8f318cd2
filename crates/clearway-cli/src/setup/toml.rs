//! Hooks in the tables of a TOML file, which is how Codex may have them.

use super::entries::{Entry, Shape, handlers, is_ours};
use super::text::{Removed, Unfit, newline_of, split_mark};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

const HOOKS: &str = "hooks";
/// Below the hooks, but none of them: what the client remembers of them.
const STATE: &str = "state";

/// What the text says.
pub(super) fn value(text: &str) -> Result<Value, Unfit> {
    Ok(plain_table(read(text)?.as_table()))
}

/// Whether the file has hooks of anybody, or a place for them.
pub(super) fn carries_hooks(text: &str) -> bool {
    let hooks = value(text).ok().and_then(|value| value.get(HOOKS)?.as_object().cloned());
    hooks.is_some_and(|hooks| hooks.keys().any(|key| key != STATE))
}

/// The text with every entry in it, and with nothing of ours beside them. Unchanged where that is so already.
pub(super) fn install(text: &str, entries: &[Entry]) -> Result<String, Unfit> {
    let mut document = editable(text)?;
    let hooks = document.entry(HOOKS).or_insert_with(|| {
        let mut hooks = Table::new();
        hooks.set_implicit(true);
        Item::Table(hooks)
    });
    let hooks = hooks.as_table_mut().ok_or_else(|| Unfit("`hooks` is no table of its own".to_owned()))?;
    take_away(hooks, entries);
    for entry in entries {
        add(hooks, entry)?;
    }
    let made = written(&document, text);
    // A last line without an end gets one only together with something else.
    let is_same = made.strip_prefix(text).is_some_and(|rest| rest.trim().is_empty());
    Ok(if is_same { text.to_owned() } else { made })
}

/// The text without anything of ours.
pub(super) fn remove(text: &str, original: Option<&str>) -> Result<Removed, Unfit> {
    let mut document = editable(text)?;
    let before = original.map_or(Ok(Value::Null), value)?;
    let before = before.get(HOOKS);
    let unchanged = || Removed { text: text.to_owned(), is_hollow: false };
    let Some(hooks) = document.get_mut(HOOKS).and_then(Item::as_table_mut) else { return Ok(unchanged()) };
    let touched = take_away(hooks, &[]);
    if touched.is_empty() {
        return Ok(unchanged());
    }
    for event in touched {
        let is_hollow = hooks.get(&event).is_some_and(is_hollow);
        if is_hollow && before.and_then(|before| before.get(&event)).is_none() {
            hooks.remove(&event);
        }
    }
    let text = written(&document, text);
    Ok(Removed { is_hollow: text.trim().is_empty(), text })
}

fn read(text: &str) -> Result<DocumentMut, Unfit> {
    split_mark(text).1.parse().map_err(|error: toml_edit::TomlError| Unfit(error.message().to_owned()))
}

/// The text as a document that is written as it was read.
fn editable(text: &str) -> Result<DocumentMut, Unfit> {
    let document = read(text)?;
    if written(&document, text).trim_end() != text.trim_end() {
        return Err(Unfit("its lines end in more than one way".to_owned()));
    }
    Ok(document)
}

fn written(document: &DocumentMut, like: &str) -> String {
    let (mark, body) = split_mark(like);
    let text = document.to_string();
    let text = if newline_of(body) == "\n" { text } else { text.replace("\r\n", "\n").replace('\n', "\r\n") };
    format!("{mark}{text}")
}

/// Takes our handlers away that are none of the entries; the events that had them.
fn take_away(hooks: &mut Table, entries: &[Entry]) -> Vec<String> {
    let mut touched = Vec::new();
    for (event, item) in hooks.iter_mut() {
        let wanted = entries.iter().find(|entry| entry.event == event.get());
        let mut is_kept = false;
        let mut stays = |group: &mut dyn TableLike| {
            let read = plain_table(group);
            let own = handlers(&read, Shape::Grouped).filter(|handler| is_ours(handler)).count();
            let keeps =
                !is_kept && own == 1 && wanted.is_some_and(|entry| entry.is_in(&read, Shape::Grouped));
            is_kept |= keeps;
            if own == 0 || keeps {
                return true;
            }
            touched.push(event.get().to_owned());
            let all = handlers(&read, Shape::Grouped).count();
            group.get_mut(HOOKS).into_iter().for_each(without_own);
            own < all
        };
        if let Some(groups) = item.as_array_of_tables_mut() {
            retain_tables(groups, &mut stays);
        } else if let Some(groups) = item.as_array_mut() {
            retain_inline(groups, &mut stays);
        }
    }
    touched
}

fn retain_tables(groups: &mut ArrayOfTables, stays: &mut dyn FnMut(&mut dyn TableLike) -> bool) {
    let kept: Vec<bool> = groups.iter_mut().map(|group| stays(group)).collect();
    let mut kept = kept.into_iter();
    groups.retain(|_| kept.next().unwrap_or(true));
}

fn retain_inline(groups: &mut Array, stays: &mut dyn FnMut(&mut dyn TableLike) -> bool) {
    let kept: Vec<bool> =
        groups.iter_mut().map(|group| group.as_inline_table_mut().is_none_or(|group| stays(group))).collect();
    let mut kept = kept.into_iter();
    groups.retain(|_| kept.next().unwrap_or(true));
}

fn without_own(handlers: &mut Item) {
    let is_other = |handler: &dyn TableLike| !is_ours(&plain_table(handler));
    if let Some(handlers) = handlers.as_array_of_tables_mut() {
        handlers.retain(|handler| is_other(handler));
    } else if let Some(handlers) = handlers.as_array_mut() {
        handlers.retain(|handler| handler.as_inline_table().is_none_or(|handler| is_other(handler)));
    }
}

fn is_hollow(item: &Item) -> bool {
    item.as_array_of_tables().is_some_and(ArrayOfTables::is_empty)
        || item.as_array().is_some_and(Array::is_empty)
}

fn add(hooks: &mut Table, entry: &Entry) -> Result<(), Unfit> {
    let groups = hooks.entry(entry.event).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let is_there = plain(groups)
        .as_array()
        .is_some_and(|groups| groups.iter().any(|group| entry.is_in(group, Shape::Grouped)));
    if is_there {
        return Ok(());
    }
    if let Some(groups) = groups.as_array_of_tables_mut() {
        let mut handler = Table::new();
        fill(&mut handler, &entry.handler);
        let mut handlers = ArrayOfTables::new();
        handlers.push(handler);
        let mut group = Table::new();
        fill(&mut group, &matcher(entry));
        group.insert(HOOKS, Item::ArrayOfTables(handlers));
        groups.push(group);
    } else if let Some(groups) = groups.as_array_mut() {
        let mut handler = InlineTable::new();
        fill(&mut handler, &entry.handler);
        let mut group = InlineTable::new();
        fill(&mut group, &matcher(entry));
        group.insert(HOOKS, Array::from_iter([handler]).into());
        groups.push(group);
    } else {
        return Err(Unfit(format!("`hooks.{}` is no list", entry.event)));
    }
    Ok(())
}

fn matcher(entry: &Entry) -> Vec<(&'static str, Value)> {
    entry.matcher.map(|matcher| ("matcher", Value::from(matcher))).into_iter().collect()
}

/// Only texts and whole numbers occur.
fn fill(table: &mut dyn TableLike, fields: &[(&'static str, Value)]) {
    for (name, value) in fields {
        let value: toml_edit::Value = match value {
            Value::Number(number) => number.as_i64().unwrap_or_default().into(),
            other => other.as_str().unwrap_or_default().into(),
        };
        table.insert(name, Item::Value(value));
    }
}

fn plain_table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), plain(item))).collect())
}

fn plain(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain_value(value),
        Item::Table(table) => plain_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| plain_table(table)).collect(),
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(boolean) => Value::from(*boolean.value()),
        toml_edit::Value::Datetime(time) => Value::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(plain_value).collect(),
        toml_edit::Value::InlineTable(table) => plain_table(table),
    }
}
