//! The model: an HTTP server on loopback that plays a script and remembers what it was asked.
//!
//! Which call is next is read from the conversation that each request carries, so that a request made twice gets the
//! same answer twice.

use crate::http::{self, Request, Response};
use crate::{Call, Move, RealClient, Script};
use serde_json::Value;
use std::any::Any;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Scope;

/// Why a turn could not be played: what a test's own act panicked with.
pub(crate) type Broken = Box<dyn Any + Send>;

/// A model at work.
pub(crate) struct Endpoint<'t> {
    listener: TcpListener,
    address: SocketAddr,
    client: &'static RealClient,
    script: Script<'t>,
    root: PathBuf,
    turns: Mutex<Vec<Value>>,
    broken: Mutex<Option<Broken>>,
    is_closed: AtomicBool,
}

impl<'t> Endpoint<'t> {
    /// A model of this client that plays this script in a repository.
    pub(crate) fn open(client: &'static RealClient, script: Script<'t>, root: &Path) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (turns, broken, is_closed) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { listener, address, client, script, root: root.to_owned(), turns, broken, is_closed })
    }

    /// What clients are told to talk to.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers until it is closed.
    pub(crate) fn serve<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        for stream in self.listener.incoming() {
            if self.is_closed.load(Ordering::SeqCst) {
                break;
            }
            // A connection that broke before it was accepted is the client's to repeat.
            if let Ok(stream) = stream {
                scope.spawn(move || self.converse(&stream));
            }
        }
    }

    /// Answers nobody any more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        // The server waits for a connection; this is one.
        let _ = TcpStream::connect(self.address);
    }

    /// What a test's own act panicked with, if one did.
    pub(crate) fn broken(&self) -> Option<Broken> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Every request for a turn but those of subagents, in order.
    pub(crate) fn finish(self) -> Vec<Value> {
        self.turns.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, request: &Request, number: usize) -> Option<&Call> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).push(request.body.clone());
        self.script.turn(number)
    }

    fn converse(&self, stream: &TcpStream) {
        let played = catch_unwind(AssertUnwindSafe(|| {
            let Some(request) = http::read(stream).expect("a request") else { return };
            let response = self.answer(&request);
            // A client that no longer listens asks again or has ended.
            let _ = http::write(stream, &response);
        }));
        if let Err(why) = played {
            *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
    }

    fn answer(&self, request: &Request) -> Response {
        if !(self.client.is_turn)(request) {
            return (self.client.answer)(request, None);
        }
        let number = (self.client.results)(&request.body).len();
        let (id, next) = match self.script.subagent(&(self.client.told)(&request.body)) {
            Some((by, calls)) => (format!("call_{by}_{number}"), calls.get(number)),
            None => (format!("call_{number}"), self.turn(request, number)),
        };
        (self.client.answer)(request, next.map(|call| Move { id: &id, call, root: &self.root }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CLAUDE;
    use serde_json::json;
    use std::io::{Read, Write};
    use std::sync::atomic::AtomicUsize;

    fn ask(endpoint: &Endpoint<'_>, body: &Value) -> String {
        let (mut stream, body) = (TcpStream::connect(endpoint.address).unwrap(), body.to_string());
        write!(stream, "POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn the_conversation_says_which_call_is_next_and_what_happens_in_between_happens_once() {
        let acts = AtomicUsize::new(0);
        let script = Script::default()
            .shell("one")
            .meanwhile(|| acts.store(acts.load(Ordering::SeqCst) + 1, Ordering::SeqCst))
            .shell("two");
        let endpoint = Endpoint::open(&CLAUDE, script, Path::new("/app")).unwrap();
        let result = json!({"role": "user", "content": [{"type": "tool_result", "content": "a result"}]});
        let request =
            |results: usize| json!({"tools": [{"name": "Bash"}], "messages": vec![&result; results]});
        std::thread::scope(|scope| {
            scope.spawn(|| endpoint.serve(scope));
            for (results, expect) in [(0, "one"), (1, "two"), (1, "two"), (2, "done"), (0, "one")] {
                let answer = ask(&endpoint, &request(results));
                assert!(answer.contains(&format!("\"{expect}\"")), "{results}: {answer}");
            }
            assert!(ask(&endpoint, &json!({"messages": []})).contains("\"done\""), "no tools, no turn");
            endpoint.close();
        });
        assert_eq!(acts.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn what_panics_in_between_is_kept_for_the_test() {
        let endpoint =
            Endpoint::open(&CLAUDE, Script::default().meanwhile(|| panic!("no")), Path::new("/app")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| endpoint.serve(scope));
            assert_eq!(ask(&endpoint, &json!({"tools": [{}], "messages": []})), "");
            endpoint.close();
        });
        assert!(endpoint.broken().is_some_and(|why| why.downcast_ref() == Some(&"no")));
        assert!(endpoint.broken().is_none(), "it is told once");
    }
}
