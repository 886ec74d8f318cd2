//! As much of JSON Schema as ours use, to hold every answer against its published schema.

use serde_json::Value;

/// The first thing in `value` that `schema` does not allow.
pub(super) fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    Check { root: schema }.first(schema, value, "$")
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn first(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference.trim_start_matches('#');
            let target = self.root.pointer(pointer).unwrap_or_else(|| panic!("{reference}"));
            return self.first(target, value, at);
        }
        if let Some(choices) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array) {
            let fits = choices.iter().any(|choice| self.first(choice, value, at).is_none());
            return (!fits).then(|| format!("{at}: no alternative fits {value}"));
        }
        self.kind(schema, value, at).or_else(|| self.members(schema, value, at))
    }

    fn kind(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        if let Some(constant) = schema.get("const") {
            return (constant != value).then(|| format!("{at}: {value} is not {constant}"));
        }
        let allowed: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let is = |kind: &&str| match *kind {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.as_u64().is_some_and(|number| number < 1 << 53),
            "null" => value.is_null(),
            other => panic!("{at}: unknown type {other}"),
        };
        (!allowed.iter().any(is)).then(|| format!("{at}: {value} is none of {allowed:?}"))
    }

    fn members(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
            return list
                .iter()
                .enumerate()
                .find_map(|(i, item)| self.first(items, item, &format!("{at}[{i}]")));
        }
        let object = value.as_object()?;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let missing = required.filter_map(Value::as_str).find(|name| !object.contains_key(*name));
        if let Some(name) = missing {
            return Some(format!("{at}: {name} is missing"));
        }
        let properties = schema.get("properties").and_then(Value::as_object)?;
        let unknown = object.keys().find(|name| !properties.contains_key(*name));
        if let Some(name) = unknown {
            return Some(format!("{at}: the schema does not know {name}"));
        }
        object.iter().find_map(|(name, value)| self.first(&properties[name], value, &format!("{at}.{name}")))
    }
}
