//! As much of HTTP/1.1 as the clients speak to a model: one request, one answer, and the connection closes.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// What a client asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Null unless it is JSON.
    pub(crate) body: Value,
}

/// What it is answered.
#[derive(Clone, Debug)]
pub(crate) enum Response {
    /// One document.
    Document(Value),
    /// Server-sent events; an empty name is none.
    Events(Vec<(&'static str, Value)>),
    /// There is no such thing.
    NotFound,
}

/// Reads a request; `None` if the client closed without asking.
pub(crate) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split_ascii_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        let is_plain =
            !name.eq_ignore_ascii_case("transfer-encoding") && !name.eq_ignore_ascii_case("content-encoding");
        if !is_plain {
            return Err(io::Error::other(format!("a body in a form that is not read here: {line}")));
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, body }))
}

/// Answers it.
pub(crate) fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    let (status, kind, body) = match response {
        Response::Document(value) => ("200 OK", "application/json", value.to_string()),
        Response::Events(events) => ("200 OK", "text/event-stream", events.iter().map(event).collect()),
        Response::NotFound => ("404 Not Found", "application/json", "{}".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}

fn event((name, data): &(&'static str, Value)) -> String {
    if name.is_empty() { format!("data: {data}\n\n") } else { format!("event: {name}\ndata: {data}\n\n") }
}
