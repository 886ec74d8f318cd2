#!/bin/sh
# A first look: two agents and one file, in a throw-away repository. Everything it prints is real.
set -eu

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export XDG_STATE_HOME="$place/state" XDG_CONFIG_HOME="$place/config" XDG_RUNTIME_DIR="$place/run"
unset CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID CODEX_SESSION_ID GEMINI_SESSION_ID CLEARWAY_AGENT CLEARWAY_STORE

git init -q "$place/app"
cd "$place/app"
mkdir src
echo 'fn main() {}' > src/main.rs

# Shows a command as it would be typed, then what it answers. A refusal is part of the show.
show() {
    printf '$ %s\n' "$1"
    sh -c "$1" 2>&1 || true
    printf '\n'
}

show 'clearway reserve src/main.rs --agent alice --reason "split the parser"'
show "clearway reserve 'src/**' --agent bob"
show 'clearway release --all --agent alice'
show "clearway reserve 'src/**' --agent bob"
show 'clearway status'
show 'clearway audit verify'
