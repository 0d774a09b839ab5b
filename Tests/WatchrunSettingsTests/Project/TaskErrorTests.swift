import Testing

@testable import WatchrunSettings

/// Mistakes in a task or a page of a project file.
struct TaskErrorTests {
  private static let tasks: [(String, String)] = [
    ("{ run: 'x', wach: [] }", "2:13: the task 't' has no key 'wach'; did you mean 'watch'?"),
    ("{ rnu: 'x' }", "2:3: the task 't' has no key 'rnu'; did you mean 'run'?"),
    (
      "{ run: 'x', depends_on: [] }",
      "2:13: the task 't' has no key 'depends_on'; did you mean 'after'?"
    ),
    ("{ run: 'x', comand: '' }", "2:13: the task 't' has no key 'comand'; did you mean 'run'?"),
    ("{ run: 'x', CWD: '.' }", "2:13: the task 't' has no key 'CWD'; did you mean 'directory'?"),
    (
      "{ run: 'x', on_busy: '' }", "2:13: the task 't' has no key 'on_busy'; did you mean 'onBusy'?"
    ),
    (
      "{ run: 'x', colour: 'red' }",
      "2:13: the task 't' has no key 'colour'; those are run, directory, map, watch, exts, filter, ignore, writes, events, each, after, service, ready, port, manual, stop, postpone, fresh, onBusy, stopSignal, stopTimeout, timeout, keepAlive, restartLimit, backOff, listen, onSuccess, onFailure, shell, env, envFile, interactive, output, log, pty"
    ),
    (
      "{ run: 'x', jobs: 2 }",
      "2:13: 'jobs' is a key of the whole file, not of the task 't'; those are run, directory, map, watch, exts, filter, ignore, writes, events, each, after, service, ready, port, manual, stop, postpone, fresh, onBusy, stopSignal, stopTimeout, timeout, keepAlive, restartLimit, backOff, listen, onSuccess, onFailure, shell, env, envFile, interactive, output, log, pty"
    ),
    (
      "{ run: 'x', port: 80 }",
      "2:13: 'port' is for services; add service: true"
    ),
    ("{ run: 'x', run: 'y' }", "2:13: 'run' occurs twice; remove one"),
    (
      "{ watch: ['.'] }",
      "1:12: the task 't' has nothing to run; add 'run' (or 'serve' or 'proxy' for a page)"
    ),
    (
      "{ run: 7 }",
      #"2:8: 'run' must be a shell line or an array of words, as in "make test" or ["make", "test"], not 7"#
    ),
    (
      "{ run: [] }",
      #"2:8: 'run' must be a shell line or an array of words, as in "make test" or ["make", "test"], not an array"#
    ),
    (
      "{ run: ['x', 1] }",
      #"2:8: 'run' must be a shell line or an array of words, as in "make test" or ["make", "test"], not an array"#
    ),
    (
      "{ run: '' }",
      #"2:8: 'run' must be a shell line or an array of words, as in "make test" or ["make", "test"], not """#
    ),
    (
      "{ run: 'x', directory: 1.5 }",
      "2:24: 'directory' must be a string that is not empty, not 1.5"
    ),
    (
      "{ run: 'x {tests}', map: { 'src/(.*': 'a' } }",
      #"2:28: the pattern 'src/(.*' is not a POSIX extended regular expression: Unmatched ( or \("#
    ),
    (
      "{ run: 'x {tests}', map: { a: ['b', 'c$1'] } }",
      "2:37: '$1' stands for group 1, and the pattern 'a' has none; put a part of it in parentheses"
    ),
    (
      "{ run: 'x {tests}', map: { '(a)(b)': '$1$3' } }",
      "2:38: '$3' stands for group 3, and the pattern '(a)(b)' has 2"
    ),
    (
      #"{ run: 'x {tests}', map: { 'a\\\\\\d+': 'b' } }"#,
      #"2:28: the pattern 'a\\\d+' has '\d', which POSIX does not define; write a class, as in [0-9]"#
    ),
    ("{ run: 'x {tests}', map: { '': 'b' } }", "2:28: a pattern is empty; write that of a path"),
    (
      "{ run: 'x {tests}', map: { a: 1 } }",
      #"2:31: 'map' must be an object of patterns with paths, as in { "src/(.*)[.]py": "tests/test_$1.py" }, not 1"#
    ),
    ("{ run: 'x {tests}', map: { a: 'b', a: 'c' } }", "2:36: 'a' occurs twice; remove one"),
    (
      "{ run: 'x', map: { a: 'b' } }",
      #"2:13: 'map' replaces {tests} in 'run', which has no such word; add it, as in run: "pytest {tests}""#
    ),
    (
      "{ run: ['x', '{tests}'] }",
      #"2:8: {tests} is replaced by what 'map' says; add it, as in map: { "src/(.*)[.]py": "tests/test_$1.py" }"#
    ),
    (
      "{ run: '{tests}', map: { a: 'b' }, keepAlive: true }",
      "2:19: a service runs no tests that end; remove 'map'"
    ),
    (
      "{ run: '{tests}', map: { a: 'b' }, manual: true }",
      "2:19: 'map' is about changed files, but the task watches nothing; remove it"
    ),
    (
      "{ run: 'x', each: 'a/[' }",
      "2:19: the pattern 'a/[' has a [ without ]; write it as in .gitignore"
    ),
    (
      "{ run: 'x', each: '*/go.mod', directory: 'a' }",
      "2:31: 'each' runs a task that ends in several directories, so 'directory' has no meaning; remove it"
    ),
    (
      "{ run: 'x', each: '*/go.mod', service: true }",
      "2:31: 'each' runs a task that ends in several directories, so 'service' has no meaning; remove it"
    ),
    (
      "{ run: 'x', envFile: 1 }",
      #"2:22: 'envFile' must be a file or an array of files, as in ".env", not 1"#
    ),
    (
      "{ run: 'x', envFile: ['.env', ''] }",
      #"2:31: 'envFile' must be a file or an array of files, as in ".env", not """#
    ),
    (
      "{ run: 'x', env: ['A=1'] }",
      #"2:18: 'env' must be an object of strings, as in { PORT: "8080" }, not an array"#
    ),
    (
      "{ run: 'x', env: { A: 1 } }",
      "2:23: the variable 'A' must be a string, as in \"8080\", not a number"
    ),
    (
      "{ run: 'x', env: { PATH: '$PATH:bin' } }",
      "2:26: '$PATH' is not expanded in the variable 'PATH'; set it in a shell line: run: \"PATH=$PATH:bin …\""
    ),
    (
      "{ run: ['x'], env: { A: 'a', B: 'b:${B}' } }",
      "2:33: '$B' is not expanded in the variable 'B'; set it in a shell line: run: \"B=b:${B} …\""
    ),
    (
      "{ run: 'x', env: { PATH: 'node_modules/.bin' } }",
      "2:13: no directory of 'PATH' has 'sh', which runs the shell line; add one: PATH: \"node_modules/.bin:/usr/bin:/bin\""
    ),
    ("{ run: 'x', env: { 'A=B': '' } }", "2:20: 'A=B' is not a valid name of a variable"),
    (
      "{ run: 'x', watch: 7 }",
      #"2:20: 'watch' must be a path or an array of paths, as in ["Sources"], not 7"#
    ),
    (
      "{ run: 'x', watch: ['src', 1] }",
      #"2:28: 'watch' must be a path or an array of paths, as in ["Sources"], not 1"#
    ),
    (
      "{ run: 'x', exts: { swift: true } }",
      #"2:19: 'exts' must be an extension or an array of extensions, as in ["swift", "md"], not an object"#
    ),
    (
      "{ run: 'x', filter: ['a['] }",
      "2:22: the pattern 'a[' has a [ without ]; write it as in .gitignore"
    ),
    (
      "{ run: 'x', writes: ['a['] }",
      "2:22: the pattern 'a[' has a [ without ]; write it as in .gitignore"
    ),
    (
      "{ run: 'x', writes: 1 }",
      #"2:21: 'writes' must be a pattern or an array of patterns, as in ["docs/**"], not 1"#
    ),
    (
      "{ run: 'x', ignore: ['# x'] }",
      "2:22: the pattern '# x' is a comment in gitignore syntax; to match a '#', write '\\#'"
    ),
    (
      "{ run: 'x', events: ['delete'] }",
      "2:22: 'delete' is not one of: create, modify, remove, rename, metadata"
    ),
    ("{ run: 'x', events: [] }", "2:21: 'events' is empty; remove it for the default"),
    (
      "{ run: 'x', after: 'build' }",
      "2:20: there is no task 'build'; 't' is the only task, and a task cannot depend on itself"
    ),
    (
      "{ run: 'x', after: true }",
      #"2:20: 'after' must be a task name or an array of task names, as in ["build"], not true"#
    ),
    (
      "{ run: 'x', after: ['t'] }",
      "2:21: a task depends on itself: t → t; remove one of them from its 'after'"
    ),
    (
      "{ run: 'x', after: ['y'] }",
      "2:21: there is no task 'y'; 't' is the only task, and a task cannot depend on itself"
    ),
    ("{ run: 'x', service: 'yes' }", "2:22: 'service' must be true or false, not \"yes\""),
    ("{ run: 'x', ready: { port: 80 } }", "2:13: 'ready' is for services; add service: true"),
    (
      "{ run: 'x', service: true, ready: 8080 }",
      #"2:35: 'ready' must be an object, as in { port: 8080, timeout: "10s" }, not 8080"#
    ),
    (
      "{ run: 'x', service: true, ready: {} }",
      "2:28: 'ready' is empty; give it one of port, url, line and run"
    ),
    (
      "{ run: 'x', service: true, ready: { port: 80, line: 'x' } }",
      "2:28: 'ready' has more than one condition; give it one of port, url, line and run"
    ),
    (
      "{ run: 'x', service: true, ready: { port: 70000 } }",
      "2:43: 'port' must be a port from 1 to 65535, as in 8080, not 70000"
    ),
    (
      "{ run: 'x', service: true, ready: { url: 'ftp://a' } }",
      #"2:42: 'url' must be a URL, as in "http://localhost:8080/health", not "ftp://a""#
    ),
    (
      "{ run: 'x', service: true, ready: { url: 'https://a', status: [200, 99] } }",
      "2:69: 'status' must be a status of HTTP or an array of them, as in [200, 204], not 99"
    ),
    (
      "{ run: 'x', service: true, ready: { port: 80, status: 200 } }",
      "2:47: 'status' is about answers of a 'url'; add one, or remove it"
    ),
    (
      "{ run: 'x', service: true, ready: { run: [] } }",
      #"2:42: 'run' must be a shell line or an array of words, as in "make test" or ["make", "test"], not an array"#
    ),
    (
      "{ run: 'x', service: true, ready: { port: 80, interval: 0 } }",
      #"2:57: 'interval' must be a duration, as in "50ms", "1.5s" or "2m", not 0"#
    ),
    ("{ run: 'x', backOff: '1s' }", "2:13: 'backOff' is for services; add service: true"),
    (
      "{ run: 'x', keepAlive: true, restartLimit: 1 }",
      "2:30: with 'keepAlive', a service is restarted however often it ends; remove 'restartLimit', or write service: true instead"
    ),
    (
      "{ run: 'x', service: true, port: 'free' }",
      "2:34: 'port' must be a port or \"auto\", as in 8080, not \"free\""
    ),
    (
      "{ run: 'x', service: true, port: 80, env: { PORT: '81' } }",
      "2:28: 'port' and 'env' both set PORT; remove one of them"
    ),
    ("{ run: 'x', listen: 80 }", "2:13: 'listen' is for services; add service: true"),
    (
      "{ run: 'x', service: true, listen: 80, port: 80 }",
      "2:40: 'listen' says the port; remove 'port'"
    ),
    (
      "{ run: 'x', service: true, listen: 'web:80' }",
      "2:36: 'listen' must be a port, an address with a port or \"auto\", as in 8080 or \"0.0.0.0:8080\", not \"web:80\""
    ),
    (
      "{ run: 'x', service: true, listen: 0 }",
      "2:36: 'listen' must be a port, an address with a port or \"auto\", as in 8080 or \"0.0.0.0:8080\", not 0"
    ),
    (
      "{ run: 'x', service: true, listen: 80, env: { PORT: '81' } }",
      "2:28: 'listen' and 'env' both set PORT; remove one of them"
    ),
    (
      "{ run: 'x', service: true, restartLimit: -1 }",
      "2:42: 'restartLimit' must be an integer from 0 to 10000, not -1"
    ),
    (
      "{ run: 'x', service: true, backOff: '0' }",
      "2:37: 0 is too short; write a longer time, such as 30s"
    ),
    ("{ run: 'x', stop: 'y' }", "2:13: 'stop' is for services; add service: true"),
    (
      "{ run: 'x', service: true, stop: 1 }",
      #"2:34: 'stop' must be a shell line or an array of words, as in "make test" or ["make", "test"], not 1"#
    ),
    (
      "{ run: 'x', manual: true, watch: ['src'] }",
      "2:27: 'watch' starts a task on changes, and a manual task is started on request; remove one of them"
    ),
    (
      "{ run: 'x', manual: 1 }", "2:21: 'manual' must be true or false, not 1"
    ),
    (
      "{ run: 'x', service: true, ready: { prot: 80 } }",
      "2:37: 'ready' has no key 'prot'; did you mean 'port'?"
    ),
    (
      "{ run: 'x', service: true, timeout: '1s' }",
      "2:28: a service does not end, so it has no 'timeout'; limit its start with ready: { timeout: … }"
    ),
    (
      "{ run: 'x', service: true, onBusy: 'queue' }",
      "2:36: a service does not end, so 'queue' would wait forever; remove 'onBusy' to restart the service"
    ),
    ("{ run: 'x', onBusy: 'overlap' }", "2:21: 'overlap' is for services; add service: true"),
    (
      "{ run: 'x', service: true, onBusy: 'overlap', port: 80 }",
      "2:47: with 'overlap', two processes run for a while, and one has the 'port'; write 'listen' instead, which both share"
    ),
    (
      "{ run: 'x', service: true, onBusy: 'overlap', ready: { url: 'http://localhost/' } }",
      "2:47: with 'overlap', the former process answers while the new one starts; write ready: { line: … } or { run: … }, or add 'listen'"
    ),
    (
      "{ run: 'x', service: true, onBusy: 'overlap', stop: 'y' }",
      "2:47: with 'overlap', two processes run for a while, which the command of 'stop' cannot tell apart; remove 'stop'"
    ),
    (
      "{ run: 'x', interactive: true, log: 'l' }",
      "2:32: an interactive task writes to the terminal itself, so 'log' has no effect; remove one of them"
    ),
    (
      "{ run: 'x', service: true, onBusy: 'overlap', interactive: true }",
      "2:47: with 'overlap', two processes run for a while, and one has the terminal; remove 'interactive'"
    ),
    (
      "{ run: 'x', service: true, restart: 'overlap' }",
      "2:28: the task 't' has no key 'restart'; did you mean 'onBusy'?"
    ),
    (
      "{ run: 'x', onBusy: 'wait' }",
      #"2:21: 'onBusy' must be one of "queue", "ignore", "restart", "overlap", "signal", not "wait""#
    ),
    ("{ run: 'x', stopSignal: 'TREM' }", "2:25: 'TREM' is not a signal; did you mean 'TERM'?"),
    (
      "{ run: 'x', stopSignal: 'FOO' }",
      "2:25: 'FOO' is not a signal; 'kill -l' lists the signals"
    ),
    (
      "{ run: 'x', stopTimeout: 5 }",
      #"2:26: 'stopTimeout' must be a duration, as in "50ms", "1.5s" or "2m", not 5"#
    ),
    (
      "{ run: 'x', timeout: 'soon' }",
      #"2:22: 'timeout' must be a duration, as in "50ms", "1.5s" or "2m", not "soon""#
    ),
    ("{ run: 'x', timeout: '0' }", "2:22: 0 is too short; write a longer time, such as 30s"),
    (
      "{ run: 'x', onSuccess: ['x'] }",
      "2:24: 'onSuccess' must be a string that is not empty, not an array"
    ),
    ("'make'", #"2:1: the task 't' must be an object, as in { run: "make" }, not a string"#),
    (
      "{ serve: 'a', proxy: 8080 }",
      "2:15: this server would answer everything, and nothing would be served; remove 'serve', or name the paths to proxy, as in { \"/api\": 8080 }"
    ),
    (
      "{ proxy: { '/api': 80 } }",
      #"2:3: nothing answers the other paths; add 'serve', or a server for "/""#
    ),
    ("{ serve: 'a', proxy: {} }", "2:22: 'proxy' is empty; remove it"),
    (
      "{ serve: 'a', proxy: { 'api': 80 } }",
      #"2:24: 'api' is not a path to proxy; write one such as "/api", which includes all below it"#
    ),
    ("{ serve: 'a', proxy: { '/a': 80, '/a/': 81 } }", "2:34: '/a/' occurs twice; remove one"),
    (
      "{ serve: 'a', proxy: { '/a': 'http://a/?b' } }",
      "2:30: the address of the server must not have a query; remove it"
    ),
    (
      "{ serve: 'a', proxy: { '/a': 80 }, port: 80 }",
      "2:42: the page must have another port than the server that it is a proxy for"
    ),
    (
      "{ serve: 'a', proxy: { '/a': 'http://127.0.0.1/b' }, port: 80 }",
      "2:60: the page must have another port than the server that it is a proxy for"
    ),
    (
      "{ proxy: 'x' }",
      #"2:10: 'proxy' must be a port, a URL, a task with a port or an object of them, as in 8080, "http://localhost:8080" or { "/api": 8080 }, not "x""#
    ),
    (
      "{ proxy: 'https://a' }",
      "2:10: 'proxy': HTTPS is not supported; give the server's port or http:// address"
    ),
    (
      "{ proxy: 'http://a/?b' }",
      "2:10: the address of the server must not have a query; remove it"
    ),
    (
      "{ serve: 'a', host: 1 }",
      #"2:21: 'host' must be an address or an array of addresses, as in ["0.0.0.0"], not 1"#
    ),
    (
      "{ serve: 'a', host: ['b/c'] }",
      #"2:22: 'b/c' is not an address; write 0.0.0.0 or a host name"#
    ),
    (
      "{ proxy: 80, fallback: 'index.html' }",
      "2:14: 'fallback' is for a served directory; a proxy leaves that to its server"
    ),
    (
      "{ proxy: 80, listing: true }",
      "2:14: 'listing' is for a served directory; a proxy leaves that to its server"
    ),
    (
      "{ serve: 'a', headers: ['A'] }",
      #"2:24: 'headers' must be an object of strings, as in { "Cache-Control": "no-store" }, not an array"#
    ),
    ("{ serve: 'a', headers: { A: 1 } }", "2:29: the header 'A' must be a string, not a number"),
    ("{ serve: 'a', headers: { A: '', a: '' } }", "2:33: 'a' occurs twice; remove one"),
    (
      "{ serve: 'a', headers: { 'A B': '' } }",
      "2:26: 'A B' is not the name of a header; write one such as Cache-Control"
    ),
    (
      "{ serve: 'a', headers: { A: 'b\\r\\nC: d' } }",
      "2:26: the value of 'A' has control characters; remove them"
    ),
    (
      "{ serve: 'a', headers: { Connection: 'close' } }",
      "2:26: 'Connection' is different for each answer, and cannot be set for all"
    ),
    ("{ serve: 'a', overlay: 'no' }", #"2:24: 'overlay' must be true or false, not "no""#),
    ("{ serve: 'a', console: 1 }", "2:24: 'console' must be true or false, not 1"),
    (
      "{ proxy: 80, port: 80 }",
      "2:20: the page must have another port than the server that it is a proxy for"
    ),
    (
      "{ serve: 'a', watch: [] }",
      "2:15: 'watch' is a key of tasks, not of the page 't'; those are after, serve, proxy, port, host, reload, fallback, headers, overlay, console, listing, dotfiles"
    ),
    (
      "{ run: 'x', serve: 'a' }",
      "2:13: 'serve' is a key of pages, not of the task 't'; those are run, directory, map, watch, exts, filter, ignore, writes, events, each, after, service, ready, port, manual, stop, postpone, fresh, onBusy, stopSignal, stopTimeout, timeout, keepAlive, restartLimit, backOff, listen, onSuccess, onFailure, shell, env, envFile, interactive, output, log, pty"
    ),
  ]

  @Test(arguments: tasks)
  func `an invalid task is reported in one line`(task: String, problem: String) {
    #expect(ProjectProblems.ofTask(task) == ["watchrun.json:" + problem])
  }

  @Test func `everything that a service cannot have is reported at once`() {
    let task = "{ run: 'x', service: true, timeout: '1s', onBusy: 'queue' }"
    #expect(
      ProjectProblems.ofTask(task).map { $0.split(separator: " ")[0] } == [
        "watchrun.json:2:28:", "watchrun.json:2:51:",
      ])
  }

  @Test(arguments: ["exts: ['c']", "filter: ['*.c']", "ignore: ['*.o']", "events: ['create']"])
  func `changes are not filtered in a task that watches nothing`(field: String) {
    let name = field.prefix { $0 != ":" }
    #expect(
      ProjectProblems.of("{ tasks: { a: { run: 'x' }, b: { run: 'y', after: ['a'],\n\(field) } } }")
        == [
          "watchrun.json:2:1: '\(name)' filters changes, but the task watches nothing; "
            + "add watch: [\".\"]"
        ])
  }

  @Test func `a task that watches nothing declares nothing that it writes`() {
    #expect(
      ProjectProblems.of(
        "{ tasks: { a: { run: 'x' }, b: { run: 'y', after: ['a'],\nwrites: 'log' } } }")
        == [
          "watchrun.json:2:1: 'writes' keeps changes from starting the task, but it watches nothing; "
            + "add it to the task that watches them"
        ])
  }
}
