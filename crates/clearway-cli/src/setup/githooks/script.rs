//! What git runs: a script in its directory of hooks, or a command in its configuration.
//!
//! A program that is gone keeps nobody from git, unless it was installed for agents that nobody watches.

use super::{KEPT, MARK};
use clearway_core::shell;

/// What is installed, and for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'p> {
    pub(super) binary: &'p str,
    pub(super) unattended: bool,
}

impl Program<'_> {
    /// A hook as a script, which runs first what was there before. What git tells on standard input is told to both.
    pub(super) fn script(self, name: &str) -> String {
        let Self { binary, unattended } = self;
        let (binary, code) = (shell::as_it_is(binary), u8::from(unattended));
        let (feed, pipe, run) = match is_fed(name) {
            true => (FEED, "feed | ", "feed | "),
            false => ("", "", "exec "),
        };
        let only = if name == super::REFERENCES { PREPARED } else { "" };
        format!(
            "#!/bin/sh\n{MARK}\nbefore=\"${{0%/*}}/{name}{KEPT}\"\n{LEGACY}\n{BEFORE}{only}{feed}\
             if test -x \"$before\"; then {pipe}before_us \"$@\" || exit $?; fi\n\
             if test -x {binary}; then {run}{binary} git-hook {name} \"$@\"; exit $?; fi\n\
             echo \"clearway: {name} checked nothing, for the program is gone: install it again, or: rm $0\" >&2\n\
             exit {code}\n"
        )
    }

    /// The same as a command, to which git adds what it tells the hook.
    pub(super) fn command(self, name: &str) -> String {
        let Self { binary, unattended } = self;
        let (binary, code) = (shell::as_it_is(binary), u8::from(unattended));
        let only = if name == super::REFERENCES { "test \"$1\" = prepared || return 0; " } else { "" };
        format!(
            "clearway_hook() {{ {only}if test -x {binary}; then exec {binary} git-hook {name} \"$@\"; fi; \
             echo \"clearway: {name} checked nothing, for the program is gone: install it again, or: \
             git config --remove-section hook.{section}\" >&2; return {code}; }}; clearway_hook",
            section = super::config::section(name)
        )
    }
}

/// Whether git tells a hook something on its standard input.
fn is_fed(name: &str) -> bool {
    matches!(name, "pre-push" | super::REFERENCES)
}

const FEED: &str = "told=$(cat)\nfeed() { test -z \"$told\" || printf '%s\\n' \"$told\"; }\n";
/// The hook of the pre-commit framework runs ours under this name and is in charge then: it is not run again by ours.
const LEGACY: &str =
    "case $0 in *.legacy) if grep -q pre-commit \"$before\" 2>/dev/null; then before=; fi ;; esac";
/// Of a change of references only the moment counts at which it can be refused; what was there before sees all of them.
const PREPARED: &str = "if test \"$1\" != prepared; then if test -x \"$before\"; then before_us \"$@\"; exit $?; fi; exit 0; fi\n";
/// What was there before has another name now. A script of a shell that looks at its own name finds the one it had.
const BEFORE: &str = "before_us() {\nread -r first < \"$before\"\ncase $first in\n\
    '#!/bin/sh' | '#!/usr/bin/env sh') shell=sh ;;\n\
    '#!/bin/bash' | '#!/usr/bin/bash' | '#!/usr/bin/env bash') shell=bash ;;\n*) shell= ;;\nesac\n\
    if test \"$shell\" && grep -q '[$]{*0' \"$before\"; then\n\
    export before; $shell -c '. \"$before\"' \"$0\" \"$@\"\nelse \"$before\" \"$@\"; fi\n}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_quotes_the_program_and_says_what_becomes_of_git_without_it() {
        let attended = Program { binary: "/a b/clearway", unattended: false };
        let hook = attended.script("post-commit");
        assert!(super::super::is_ours(&hook));
        assert!(
            hook.contains("then exec '/a b/clearway' git-hook post-commit \"$@\"; exit $?; fi"),
            "{hook}"
        );
        assert!(hook.ends_with("exit 0\n"));
        let unattended = Program { binary: "/x", unattended: true };
        assert!(unattended.script("pre-push").ends_with("exit 1\n"));
        assert!(unattended.command("pre-push").contains("return 1; }; clearway_hook"));
        assert!(!super::super::is_ours("#!/bin/sh\nclearway git-hook post-commit\n"));
    }
}
