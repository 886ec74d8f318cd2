//! What a model was shown: the texts of a request.

use serde_json::Value;

/// Every text in a value, in its order.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Every text in a value as one.
pub(crate) fn text(value: &Value) -> String {
    texts(value).join("\n")
}

/// The items of a list; none if it is none.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// What comes before the first message of this role.
pub(crate) fn told(messages: &Value, role: &str) -> String {
    let before: Vec<String> =
        items(messages).take_while(|message| message["role"] != role).map(text).collect();
    before.join("\n")
}
