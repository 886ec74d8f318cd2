//! Whether every hook of a file is of a form that its client loads. A client drops a whole file over one entry of
//! somebody else, and ours with it. What a client's own settings may be is its own affair; of what is not known here
//! nothing is said to be active.

use super::entries::Shape;
use serde_json::Value;

/// What is wrong with the first entry that is no hook, or of a kind that is not known; the settings that the client
/// keeps beside its hooks are passed over.
pub(super) fn mistake(document: &Value, shape: Shape, kinds: &[&str], beside: &[&str]) -> Option<String> {
    let hooks = document.get("hooks")?;
    let Some(events) = hooks.as_object() else { return Some("`hooks` is no object".to_owned()) };
    let lists = events.iter().filter(|(event, _)| !beside.contains(&event.as_str()));
    lists.into_iter().find_map(|(event, list)| {
        let Some(elements) = list.as_array() else { return Some(format!("`hooks.{event}` is no list")) };
        let wrong = elements.iter().find_map(|element| match shape {
            Shape::Grouped => in_group(element, kinds),
            Shape::Flat => in_handler(element, kinds, false),
        });
        wrong.map(|wrong| format!("an entry of `hooks.{event}` {wrong}"))
    })
}

fn in_group(group: &Value, kinds: &[&str]) -> Option<String> {
    let Some(fields) = group.as_object() else { return Some("is no object".to_owned()) };
    if fields.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
        return Some("has a `matcher` that is no text".to_owned());
    }
    let Some(handlers) = fields.get("hooks").and_then(Value::as_array) else {
        return Some("has no list of `hooks`".to_owned());
    };
    handlers.iter().find_map(|handler| in_handler(handler, kinds, true))
}

/// What runs is a command unless it says otherwise; where groups are, it has to say so.
fn in_handler(handler: &Value, kinds: &[&str], says_kind: bool) -> Option<String> {
    let Some(fields) = handler.as_object() else { return Some("has a hook that is no object".to_owned()) };
    let kind = match fields.get("type") {
        None if says_kind => return Some("has a hook without a `type`".to_owned()),
        None => COMMAND,
        Some(kind) => kind.as_str().unwrap_or_default(),
    };
    if !kinds.contains(&kind) {
        return Some(format!("has a hook of a `type` that is not known to be one: {}", fields.get("type")?));
    }
    let is_said = COMMANDS.iter().any(|field| fields.get(*field).is_some_and(Value::is_string));
    if kind == COMMAND && !is_said {
        return Some("has a hook without a `command`".to_owned());
    }
    let is_span = |span: &Value| span.as_f64().is_some_and(|span| span > 0.0);
    let span = TIMEOUTS.iter().filter_map(|field| Some((field, fields.get(*field)?)));
    let wrong = span.into_iter().find(|(_, span)| !is_span(span));
    wrong.map(|(field, span)| format!("has a hook whose `{field}` is {span}"))
}

const COMMAND: &str = "command";
/// Where the line of a command stands.
const COMMANDS: [&str; 3] = ["command", "bash", "powershell"];
const TIMEOUTS: [&str; 2] = ["timeout", "timeoutSec"];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of_group(group: &Value) -> Option<String> {
        let document = json!({"hooks": {"PreToolUse": [{"hooks": []}, group]}});
        mistake(&document, Shape::Grouped, &["command", "http"], &[])
    }

    #[test]
    fn one_entry_of_anybody_that_is_no_hook_is_found() {
        let handler = |handler: Value| json!({"matcher": "*", "hooks": [handler]});
        for (group, why) in [
            (json!(5), "is no object"),
            (json!({"matcher": 5, "hooks": []}), "`matcher`"),
            (json!({"matcher": "*"}), "no list of `hooks`"),
            (handler(json!("x")), "no object"),
            (handler(json!({"command": "x"})), "without a `type`"),
            (handler(json!({"type": "command"})), "without a `command`"),
            (handler(json!({"type": "frob"})), "not known"),
            (handler(json!({"type": "command", "command": "x", "timeout": "5"})), "`timeout`"),
            (handler(json!({"type": "command", "command": "x", "timeout": 0})), "`timeout`"),
        ] {
            let found = of_group(&group).unwrap_or_default();
            assert!(found.contains(why) && found.contains("hooks.PreToolUse"), "{group}: {found}");
        }
        let whole = json!({"type": "command", "command": "x", "timeout": 1.5, "other": []});
        for group in [handler(whole), handler(json!({"type": "http", "url": "u"})), json!({"hooks": []})] {
            assert_eq!(of_group(&group), None, "{group}");
        }
    }

    #[test]
    fn single_handlers_are_commands_unless_they_say_otherwise() {
        let of = |element: Value| {
            let document = json!({"hooks": {"preToolUse": [element]}});
            mistake(&document, Shape::Flat, &["command", "prompt"], &[])
        };
        assert_eq!(of(json!({"command": "x", "matcher": "Write"})), None);
        assert_eq!(of(json!({"type": "command", "bash": "x", "timeoutSec": 5})), None);
        assert!(of(json!({"matcher": "Write"})).is_some());
        assert!(of(json!({"type": "frob", "command": "x"})).is_some());
    }

    #[test]
    fn a_file_without_hooks_and_settings_among_them_are_no_mistake() {
        let of = |document: &Value| mistake(document, Shape::Grouped, &[], &["enabled", "disabled"]);
        for document in [json!({}), json!({"hooks": {"enabled": true, "disabled": ["x"]}})] {
            assert_eq!(of(&document), None, "{document}");
        }
        assert!(of(&json!({"hooks": []})).is_some());
        assert!(of(&json!({"hooks": {"Stop": {}}})).is_some());
        assert!(of(&json!({"hooks": {"state": {}}})).is_some());
    }
}
