#!/bin/sh
# Builds and runs one fuzz target on the stable compiler: fuzz/run.sh TARGET SECONDS
set -eu
target=$1
seconds=$2
cd "$(dirname "$0")"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares" \
CARGO_TARGET_DIR=target cargo build --release --target "$host" --bin "$target"
mkdir -p "artifacts/$target" "target/corpus/$target"
"target/$host/release/$target" -max_total_time="$seconds" -max_len=512 -timeout=10 \
    -artifact_prefix="artifacts/$target/" "target/corpus/$target" "seeds/$target"
