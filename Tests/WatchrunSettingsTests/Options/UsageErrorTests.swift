import Support
import Testing

@testable import WatchrunSettings

struct UsageErrorTests {
  private static let unknown: [([String], String)] = [
    (["--restrat", "x"], "unknown option '--restrat'; did you mean '--restart'?"),
    (["--wach=src", "x"], "unknown option '--wach'; did you mean '--watch'?"),
    (["--post", "x"], "unknown option '--post'; did you mean '--postpone'?"),
    (
      ["--delay", "1", "x"],
      "unknown option '--delay'; write: -d 1s"
    ),
    (
      ["--regex", #"\.c$"#, "x"],
      "unknown option '--regex'; patterns are globs, not regular expressions: -e c"
    ),
    (["--manual"], "unknown option '--manual'; use --man"),
    (["-x", "ls"], "unknown option '-x'; write: watchrun ls"),
    (["-watch", "a", "x"], "unknown option '-watch'; did you mean '--watch'?"),
    (["--socket", "80", "x"], "unknown option '--socket'; use --listen [HOST:]PORT"),
    (["--frobnicate", "x"], "unknown option '--frobnicate'; see watchrun --help"),
    (["--\u{1B}[2J", "x"], "unknown option '--\\u{1B}[2J'; see watchrun --help"),
  ]

  private static let missing: [([String], String)] = [
    (["--watch"], "--watch needs a value: --watch PATH"),
    (["-w"], "-w needs a value: -w PATH"),
    (["-vw"], "-w needs a value: -w PATH"),
    (["--stop-timeout", "--", "x"], "--stop-timeout needs a value: --stop-timeout TIME"),
    (
      ["--listen", "web:80", "x"],
      "--listen: 'web:80' is not an address to listen on; write 8080, or 0.0.0.0:8080"
    ),
    (["--clear=yes", "x"], "--clear takes no value"),
    (["--restart=yes", "x"], "--restart takes no value"),
    (["--watch=", "x"], "--watch: the path is empty"),
    (["-w=", "x"], "-w: the path is empty"),
    (["--exts=,", "x"], "--exts: the list is empty; write extensions, such as c,h"),
    (["--events", "", "x"], "--events: the list is empty; write events, such as create,modify"),
    (["--poll=", "x"], "--poll: the value after '=' is missing"),
    (["-i", "", "x"], "-i: the pattern is empty"),
    (["-f", "a[", "x"], "-f: the pattern 'a[' has a [ without ]; write it as in .gitignore"),
    (["-f", "a.{c,h", "x"], "-f: the pattern 'a.{c,h' has a { without its }; add the missing }"),
    (
      ["-i", "#a", "x"],
      "-i: the pattern '#a' is a comment in gitignore syntax; to match a '#', write '\\#'"
    ),
    (["--writes", "", "x"], "--writes: the pattern is empty"),
    (
      ["--writes", "a[", "x"],
      "--writes: the pattern 'a[' has a [ without ]; write it as in .gitignore"
    ),
    (["--build=", "x"], "--build: the command is empty"),
    ([" \t"], "the command is empty"), (["-r", "--", ""], "the command is empty"),
    (["-t", "", "-q"], "-t: the name of the task is empty"),
    (["--serve="], "--serve: the path is empty"),
  ]

  private static let bad: [([String], String)] = [
    (["-d", "50", "x"], "-d: '50' has no unit; write 50ms or 50s"),
    (["--timeout=5", "x"], "--timeout: '5' has no unit; write 5ms or 5s"),
    (["--poll=0.5", "x"], "--poll: '0.5' has no unit; write 0.5ms or 0.5s"),
    (["--max-wait=soon", "x"], "--max-wait: 'soon' is not a duration; write 50ms, 1.5s, 2m or 0"),
    (["--max-wait=", "x"], "--max-wait: '' is not a duration; write 50ms, 1.5s, 2m or 0"),
    (
      ["--stop-timeout", "-1s", "x"],
      "--stop-timeout: '-1s' is not a duration; write 50ms, 1.5s, 2m or 0"
    ),
    (["--poll=often", "x"], "--poll: 'often' is not a duration; write 50ms, 1.5s, 2m or 0"),
    (["--poll=1ms", "x"], "--poll: the interval is too short; write 10ms or more"),
    (["-s", "TREM", "x"], "-s: unknown signal 'TREM'; did you mean 'TERM'?"),
    (["-s", "FOO", "x"], "-s: unknown signal 'FOO'; 'kill -l' lists the signals"),
    (
      ["--stop-signal", "nonsense", "x"],
      "--stop-signal: unknown signal 'nonsense'; 'kill -l' lists the signals"
    ),
    (
      ["-o", "restrat", "x"],
      "-o: 'restrat' is not one of: queue, ignore, restart, overlap, signal; did you mean 'restart'?"
    ),
    (["-o", "wait", "x"], "-o: 'wait' is not one of: queue, ignore, restart, overlap, signal"),
    (["--color=blue", "x"], "--color: 'blue' is not one of: auto, always, never"),
    (["--print=xml"], "--print: 'xml' is not one of: json, lines"),
    (
      ["--events=create,delete", "x"],
      "--events: 'delete' is not one of: create, modify, remove, rename, metadata"
    ),
    (["--emit=yaml", "x"], "--emit: 'yaml' is not one of: env, lines, json, none"),
    (
      ["--timeout=0", "x"],
      "--timeout: 0 is too short; write a longer time, such as 30s"
    ),
    (["-E", "NAME", "x"], "-E: 'NAME' is not of the form NAME=VALUE"),
    (
      ["-E", "PATH=bin:$PATH", "x"],
      "-E: '$PATH' is not expanded in the variable 'PATH'; in double quotes, your shell expands it: \"PATH=bin:$PATH\""
    ),
    (["--env==x", "x"], "--env: '=x' is not of the form NAME=VALUE"),
  ]

  private static let together: [([String], String)] = [
    (["--explain"], "--explain needs a path, as in: watchrun --explain build/main.o"),
    (
      ["--build", "make"],
      "--build needs a command to run after it, as in: watchrun --build make ./app"
    ),
    (
      ["--on-failure", "beep"],
      "--on-failure needs a command, as in: watchrun --on-failure COMMAND make test; in a project, set "
        + "\"onFailure\" for a task in watchrun.json (--init writes one)"
    ),
    (["--check", "--init"], "--init and --check exclude each other; remove one of them"),
    (
      ["--doctor", "--list-tasks"],
      "--doctor and --list-tasks exclude each other; remove one of them"
    ),
    (["--wait", "--check"], "--check and --wait exclude each other; remove one of them"),
    (
      ["-I", "--emit", "lines", "x"],
      "-I gives the terminal to the command, so --emit cannot write to its standard input; "
        + "remove one of them"
    ),
    (
      ["--print", "json", "-r"],
      "--print runs nothing, so -r has no effect; remove one of them"
    ),
    (
      ["--print", "json", "-E", "A=b"],
      "--print runs nothing, so -E has no effect; remove one of them"
    ),
    (
      ["--print", "lines", "--until-success"],
      "--print runs nothing, so --until-success has no effect; remove one of them"
    ),
    (
      ["--print", "json", "--build", "make"],
      "--print runs nothing, so --build has no effect; remove one of them"
    ),
    (["--print", "json", "make"], "--print runs no command; remove one of them"),
    (
      ["-W", "src"],
      "-W needs a command, as in: watchrun -W PATH make test; in a project, set \"watch\" for a task "
        + "in watchrun.json (--init writes one)"
    ),
    (
      ["--writes", "log/**"],
      "--writes needs a command, as in: watchrun --writes GLOB make test; in a project, set \"writes\" for a "
        + "task in watchrun.json (--init writes one)"
    ),
    (
      ["--print", "json", "--writes", "log/**"],
      "--print runs nothing, so --writes has no effect; remove one of them"
    ),
    (
      ["--serve", ".", "--writes", "log/**"],
      "--writes needs a command, as in: watchrun --proxy :3000 -r -- ./server"
    ),
    (
      ["-s", "USR1"],
      "-s needs a command, as in: watchrun -s SIGNAL make test; in a project, set \"onBusy\" for a "
        + "task in watchrun.json (--init writes one)"
    ),
    (
      ["-I", "-q"],
      "-I needs a command, as in: watchrun -I make test; in a project, set \"interactive\" for a task "
        + "in watchrun.json (--init writes one)"
    ),
    (["--check", "make"], "--check runs no command; remove one of them"),
    (
      ["-t", "a", "make"],
      "-t runs a task, not a command; for several tasks: -t NAME -t NAME"
    ),
    (["--config", "a", "make"], "--config is for a project; remove it, or the command"),
    (
      ["-0", "make"],
      "-0 has no effect here; it needs --files-from, --print, --emit lines or --explain"
    ),
  ]

  private static let contradictions: [([String], String)] = [
    (
      ["-r", "-s", "HUP", "x"],
      "-r and -s exclude each other; to stop with another signal: -r --stop-signal SIGNAL"
    ),
    (
      ["-r", "-o", "queue", "x"],
      "-r and -o queue exclude each other: a change during a run does one thing; remove one of them"
    ),
    (
      ["-o", "overlap", "-I", "x"],
      "-o overlap runs two processes for a while, and -I gives the terminal to one; remove one of them"
    ),
    (
      ["-o", "overlap", "--proxy", ":3000", "x"],
      "-o overlap runs two processes for a while, and one has the port of --proxy; add --listen PORT, "
        + "which both share"
    ),
    (
      ["--once", "--keep-alive", "x"],
      "--once ends after the first run, so --keep-alive has no effect; remove one of them"
    ),
    (
      ["--once", "--until-success"],
      "--once ends after the first run, whether or not it succeeds, so --until-success has no "
        + "effect; remove one of them"
    ),
    (
      ["-I", "--diagnostics", "e.txt", "x"],
      "-I gives the terminal to the command, so --diagnostics cannot read its output; "
        + "remove one of them"
    ),
    (
      ["-I", "--output", "failed", "x"],
      "-I gives the terminal to the command, so --output cannot read its output; "
        + "remove one of them"
    ),
    (
      ["-d", "50ms", "--max-wait", "10ms", "x"],
      "--max-wait must not be shorter than the quiet period of -d"
    ),
  ]

  @Test(arguments: [
    ["-r", "-o", "restart", "x"], ["-s", "HUP", "-o", "signal", "x"],
    ["--exit-on-error", "--until-success", "x"], ["-d", "5s", "x"], ["--max-wait", "10ms", "x"],
  ])
  func `options that mean the same do not contradict each other`(words: [String]) throws {
    _ = try OptionParser.parse(words.map { Array($0.utf8) })
  }

  @Test func `a burst is collected for at least the quiet period`() throws {
    #expect(try parse("-d", "5s", "x").maximumWait == .seconds(5))
    #expect(try parse("-d", "50ms", "x").maximumWait == .seconds(1))
  }

  private static let placeholders: [(String, String?)] = [
    ("ruff check {}", "ruff check {}"), ("ls {first} -l", "ls {first} -l"),
    ("ruff {} | sort", #"sh -c 'ruff "$@" | sort' sh {}"#), ("printf '{}'", nil),
    ("find . -exec ls {} ;", nil), ("ls | xargs -I{} cp {} x", nil), ("f(){ :; }; f", nil),
  ]

  @Test(arguments: placeholders)
  func `a placeholder in a shell line is refused with the right form`(
    line: String, written: String?
  ) {
    #expect(ShellLine(line: Array(line.utf8)).placeholder == nil || written != nil)
    guard let written else { return }
    #expect(ShellLine(line: Array(line.utf8)).replacement == written)
    #expect(throws: Failure.self) { try parse("-p", line) }
  }

  private static let pages: [([String], String)] = [
    (
      ["--serve", "a", "--proxy", "3000"],
      "--serve and --proxy exclude each other, unless it names a path, as in --proxy /api=3000"
    ),
    (
      ["--proxy", "/api=3000"],
      "--proxy /api=… leaves other paths unanswered; add --serve DIR or --proxy URL"
    ),
    (
      ["--serve", "a", "--proxy", "/api=127.0.0.1:80", "--port", "80"],
      "--port is that of the server behind the page; choose another"
    ),
    (
      ["--proxy", "http://0.0.0.0:80", "--port", "80"],
      "--port is that of the server behind the page; choose another"
    ),
    (["--serve", "a", "--proxy", "/api"], "--proxy: '/api' names no server; write /api=3000"),
    (
      ["--serve", "a", "--proxy", "/api/*=3000"],
      "--proxy: '/api/*' is not a path to proxy; write one such as /api, which includes all below it"
    ),
    (["--serve", "a", "--proxy", "/api=0"], "--proxy: '0' is not a port from 1 to 65535"),
    (["--port", "80", "make"], "--port needs a page; add --serve DIR or --proxy URL"),
    (["--host", "a", "make"], "--host needs a page; add --serve DIR or --proxy URL"),
    (["--listing", "make"], "--listing needs a page; add --serve DIR or --proxy URL"),
    (
      ["--proxy", "3000", "--fallback", "a"],
      "--fallback is for files; it needs --serve instead of --proxy"
    ),
    (
      ["--listing"],
      "--listing needs --serve or --proxy; "
        + "in a project, set \"listing\" for a page in watchrun.json"
    ),
    (["--header", "A: b", "make"], "--header needs a page; add --serve DIR or --proxy URL"),
    (
      ["--header", "A: b"],
      "--header needs --serve or --proxy; in a project, set \"headers\" for a page in watchrun.json"
    ),
    (["--serve", "a", "--header", "A"], "--header: 'A' is not of the form 'NAME: VALUE'"),
    (
      ["--serve", "a", "--header", "A : b"],
      "--header: 'A ' is not the name of a header; write one such as Cache-Control"
    ),
    (
      ["--serve", "a", "--header", "A: b\r\nC: d"],
      "--header: the value of 'A' has control characters; remove them"
    ),
    (
      ["--serve", "a", "--header", "content-length: 1"],
      "--header: 'content-length' is different for each answer, and cannot be set for all"
    ),
    (["--open", "make"], "--open needs a page; add --serve DIR or --proxy URL"),
    (["--editor", "vi", "make"], "--editor needs a page; add --serve DIR or --proxy URL"),
    (
      ["--port", "80"],
      "--port needs --serve or --proxy; in a project, set \"port\" for a page in watchrun.json"
    ),
    (["--serve", "a", "--port", "0"], "--port: '0' is not a port from 1 to 65535"),
    (["--serve", "a", "--port=65536"], "--port: '65536' is not a port from 1 to 65535"),
    (["--serve", "a", "--port=+80"], "--port: '+80' is not a port from 1 to 65535"),
    (
      ["--serve", "a", "--host", "a b"],
      "--host: 'a b' is not an address; write 0.0.0.0 or a host name"
    ),
    (
      ["--serve", "a", "--host", "999.1.1.1"],
      "--host: '999.1.1.1' is not an address; write 0.0.0.0 or a host name"
    ),
    // A short form of 127.0.0.1 for few programs, and a name at all addresses for others.
    (
      ["--serve", "a", "--host", "127.1"],
      "--host: '127.1' is not an address; write 0.0.0.0 or a host name"
    ),
    (
      ["--serve", "a", "--host", "no..name"],
      "--host: 'no..name' is not an address; write 0.0.0.0 or a host name"
    ),
    (
      ["--proxy", "https://a:1"],
      "--proxy: cannot proxy https://a:1: servers are reached by http only; "
        + "write http://localhost:3000"
    ),
    (
      ["--proxy", "make"],
      "--proxy: 'make' is not the address of a server; write 3000, localhost:3000 or "
        + "http://localhost:3000/base"
    ),
    (["--proxy", ":0"], "--proxy: '0' is not a port from 1 to 65535"),
    (
      ["--print", "json", "--serve", "a"], "--print serves no page; remove --print or --serve"
    ),
    (
      ["--explain", "--serve", "a", "b"], "--explain serves no page; remove --explain or --serve"
    ),
    (["--check", "--proxy", "80"], "--check serves no page; remove --check or --proxy"),
    (
      ["--serve", "a", "-r"],
      "-r needs a command, as in: watchrun --proxy :3000 -r -- ./server"
    ),
    (
      ["--serve", "a", "--build", "make"],
      "--build needs a command, as in: watchrun --proxy :3000 -r -- ./server"
    ),
    (["--serve", "a", "-t", "b"], "-t is for a project; remove -t or --serve"),
    (
      ["--serve", "a", "--once", "make"],
      "--once would end the page with a run; remove --once or --serve"
    ),
  ]

  private static let all: [([String], String)] =
    [unknown, missing, bad, together, contradictions, pages].flatMap { $0 }

  @Test(arguments: all)
  func `a usage error is one line`(words: [String], message: String) {
    #expect(throws: Failure.usage(message)) {
      try OptionParser.parse(words.map { Array($0.utf8) })
    }
  }

  @Test(arguments: [["-Z", "x"], ["-vZ", "x"], ["-\u{E9}", "x"], ["-0Z"]])
  func `an unknown letter is quoted with its argument`(words: [String]) throws {
    let error = try #require(throws: Failure.self) {
      try OptionParser.parse(words.map { Array($0.utf8) })
    }
    #expect(error.message.hasPrefix("unknown option '\(words[0])'; "))
    #expect(!error.message.contains("\n"))
  }

  @Test(arguments: [
    ["--help"], ["-V"], ["--print", "json", "--help", "make"], ["--serve", "a", "-h"],
  ])
  func `help and version ask for nothing else`(words: [String]) throws {
    #expect(try OptionParser.parse(words.map { Array($0.utf8) }).task != .run)
  }

  @Test(arguments: [
    ("watch", "watch"), ("wathc", "watch"), ("wtch", "watch"), ("watchs", "watch"),
    ("signal", "signal"), ("xyz", nil), ("", nil),
  ])
  func `the nearest name is offered if it is near`(written: String, nearest: String?) {
    let names = ["watch", "signal", "stop-signal"]
    #expect(nearestName(to: written, among: names) == nearest)
  }
}
