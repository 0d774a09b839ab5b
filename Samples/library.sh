# Shared by the samples that watchrun itself runs. Sourced by their run-sample, in bash, in the directory of the
# sample: works in a copy, and stops what it has started.

watchrun=${WATCHRUN:-$(cd ../.. && swift build --product watchrun >&2 && swift build --show-bin-path)/watchrun}
work=$(mktemp -d /var/tmp/watchrun-sample-XXXXXX)
pid=
listener=

finish() {
  status=$?
  if [ -n "$listener" ]; then kill "$listener" 2>/dev/null || true; fi
  if [ -n "$pid" ]; then
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  if [ $status -ne 0 ]; then cat "$work/output" >&2; fi
  rm -rf "$work"
}
trap finish EXIT

# Starts watchrun in a copy of the sample.
start() {
  mkdir "$work/sample"
  tar -c --exclude=.build --exclude=build . | tar -x -C "$work/sample"
  awaitTick
  cd "$work/sample"
  "$watchrun" "$@" >"$work/output" 2>&1 &
  pid=$!
}

# Waits for the next tick of the clock that stamps files. A file stamped with the tick in which watchrun starts
# may have changed after the start, and counts as changed.
awaitTick() {
  touch "$work/tick"
  until [ "$work/next-tick" -nt "$work/tick" ]; do touch "$work/next-tick"; done
}

# Waits until a command succeeds.
await() {
  local deadline=$((SECONDS + 300))
  until "$@"; do
    if [ $SECONDS -ge $deadline ] || ! kill -0 "$pid" 2>/dev/null; then
      echo "timed out: $*" >&2
      exit 1
    fi
    sleep 0.1
  done
}

# Succeeds if a pattern matches the output of watchrun or of a task, this often.
said() {
  [ "$(grep -c -e "$1" "$work/output")" -ge "${2:-1}" ]
}

# Stops watchrun with SIGTERM, and checks its exit status. Background processes of a script ignore SIGINT.
stop() {
  kill "$pid"
  local status=0
  wait "$pid" || status=$?
  pid=
  [ $status -eq 143 ]
}

# Prints the URL of the page, without its last slash; nothing before it is served.
page() {
  sed -n 's|.*serving .* at \(http://[^ ]*\)/$|\1|p' "$work/output" | tail -n 1
}

# Succeeds if the response to a path contains a text.
serves() {
  curl -sf --max-time 20 -H 'Accept: text/html, */*' "$(page)/$1" 2>/dev/null | grep -q -e "$2"
}

# Receives the events of the page, as a browser does.
listen() {
  : >"$work/events"
  curl -sN "$(page)/__watchrun/events" >>"$work/events" &
  listener=$!
  await received '"type":"hello"'
}

# Succeeds if a pattern matches the received events, this often.
received() {
  [ "$(grep -c -e "$1" "$work/events")" -ge "${2:-1}" ]
}
