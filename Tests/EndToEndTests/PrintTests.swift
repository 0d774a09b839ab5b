import Foundation
import SystemCalls
import TestSupport
import Testing

/// `--print`: batches for other programs.
@Suite struct PrintTests {
  @Test func `the first line is printed when everything is watched`() async throws {
    try await withProject { project in
      try project.makeDirectory("a/b")
      let watchrun = try await project.start("--print", "json")
      try await watchrun.ready()
      let line = #"{"ready":true,"watches":3,"backend":"inotify","version":1}"#
      #expect(watchrun.process.output.lines.first == line)
      #expect(ProcessTable.watchCount(of: watchrun.process.pid) == 3)
    }
  }

  @Test func `a batch is one line of JSON with a fixed order of keys`() async throws {
    try await withProject { project in
      try project.write("old")
      let watchrun = try await project.startPrinting()
      try project.place("a \"quoted\" \\ name")
      try await project.reported("a \"quoted\" \\ name", by: watchrun)
      try project.move("old", to: "new")
      try await project.reported("new", by: watchrun)
      let name = #"a \"quoted\" \\ name"#
      let root = project.root
      #expect(
        watchrun.process.output.lines.dropFirst() == [
          #"{"batch":1,"reason":"change","changes":[{"path":"\#(root)/\#(name)","#
            + #""kind":"created","type":"file"}],"overflow":false,"version":1}"#,
          #"{"batch":2,"reason":"change","changes":[{"path":"\#(root)/new","#
            + #""kind":"renamed","from":"\#(root)/old","type":"file"}],"overflow":false,"version":1}"#,
        ])
    }
  }

  /// Which changes lead to which is in the behaviour scripts of `FileObservationTests`.
  @Test func `each path has one net change, with its kind and type`() async throws {
    try await withProject { project in
      for name in ["e", "f", "g", "i"] { try project.write(name) }
      let watchrun = try await project.startPrinting("-d", "500ms", "--max-wait", "20s")
      try await project.shell(
        """
        touch a; echo x > a; mkdir b; ln -s e c; mkfifo d; rm e; echo more >> f; mv g h; chmod 600 i
        """)
      try await project.settle(watchrun)
      let changes = try project.changes(by: watchrun).map { "\($0.path) \($0.kind) \($0.type)" }
      let expected: Set = [
        "a created file", "b created directory", "c created symlink", "d created other",
        "e removed unknown", "f modified file", "h renamed file", "i metadata file",
      ]
      #expect(Set(changes) == expected)
      let paths = try watchrun.batches().map { $0.changes.map(\.path) }
      #expect(paths.allSatisfy { Set($0).count == $0.count })
    }
  }

  @Test func `a name that is not UTF-8 is also printed in Base64`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting()
      try await project.shell(#"echo x > $OUTSIDE/x; mv $OUTSIDE/x "$(printf 'bad\377.txt')""#)
      let change = try await value("it is reported") { try watchrun.changes().first }
      let bytes = try #require(change.pathBase64.flatMap { Data(base64Encoded: $0) })
      #expect(Array(bytes) == Array((project.root + "/bad").utf8) + [0xFF] + Array(".txt".utf8))
    }
  }

  @Test func `--print lines prints a path a line, and escapes newlines`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--print", "lines")
      try await eventually("it reports") {
        try project.place("first")
        return !watchrun.process.output.lines.isEmpty
      }
      try project.place("a b")
      try await eventually("it reports the path") {
        watchrun.process.output.lines.last == project.path("a b")
      }
      try project.place("a\nINJECTED")
      try await eventually("it reports the path") {
        watchrun.process.output.lines.last == #""\#(project.root)/a\nINJECTED""#
      }
    }
  }

  @Test func `--print lines -0 does not escape newlines`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--print", "lines", "-0")
      try await eventually("it reports the path") {
        try project.place("a\nINJECTED")
        let paths = watchrun.process.output.bytes.split(separator: 0)
        return paths.contains { $0.elementsEqual((project.root + "/a\nINJECTED").utf8) }
      }
      #expect(watchrun.process.output.bytes.last == 0)
    }
  }

  @Test func `--once exits after the first batch`() async throws {
    try await withProject { project in
      let watchrun = try await project.startPrinting("--once")
      try project.place("file")
      try await #expect(watchrun.ended() == .exited(0))
      try await eventually("it is printed") { try watchrun.batches().count == 1 }
    }
  }

  @Test func `the ready line is first, though files change while directories are armed`()
    async throws
  {
    try await withProject { project in
      for number in 0..<3000 { try project.makeDirectory("d\(number / 100)/e\(number)") }
      let watchrun = try await project.start(
        "--print", "json", "-d", "0", "--max-wait", "10ms")
      try await eventually("it arms directories") {
        ProcessTable.watchCount(of: watchrun.process.pid) > 0
      }
      var written = 0
      try await eventually("it prints") {
        try project.write("new-\(written)")
        written += 1
        return !watchrun.process.output.lines.isEmpty
      }
      try await eventually("every change is printed") {
        let reported = Set(try project.changes(by: watchrun).map(\.path))
        return reported.isSuperset(of: (0..<written).map { "new-\($0)" })
      }
      let lines = watchrun.process.output.lines
      #expect(lines.first?.hasPrefix(#"{"ready":true,"#) == true, "\(lines.first ?? "")")
      #expect(lines.count { $0.hasPrefix(#"{"ready":"#) } == 1)
      let numbers = try watchrun.batches().map(\.batch)
      #expect(numbers == Array(1...numbers.count))
    }
  }

  @Test func `with -0 a NUL ends each record of JSON, which may be the first`() async throws {
    try await withProject { project in
      let watchrun = try await project.start("--print", "json", "-0")
      try await eventually("it is ready") { !watchrun.process.output.bytes.isEmpty }
      try project.place("file")
      try await eventually("it reports the path") {
        watchrun.process.output.bytes.split(separator: 0).count == 2
      }
      let bytes = watchrun.process.output.bytes
      #expect(bytes.last == 0 && !bytes.contains(UInt8(ascii: "\n")))
      let records = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      #expect(records.first?.hasPrefix(#"{"ready":true,"#) == true)
      #expect(records.last?.hasPrefix(#"{"batch":1,"#) == true)
    }
  }

  @Test(arguments: Effort.rows(["json", "lines"], quick: 1))
  func `with --skip-unchanged a file with the same content is not printed`(
    mode: String
  ) async throws {
    try await withProject { project in
      let watchrun = try await project.start("--print", mode, "--skip-unchanged", "-d", "20ms")
      func count(_ name: String) -> Int {
        watchrun.process.output.lines.count { $0.contains(project.path(name)) }
      }
      try await eventually("it reports") {
        try project.place("mark")
        return count("mark") > 0
      }
      try project.place("file", "one\n")
      try await eventually("new content is printed") { count("file") == 1 }
      for round in 1...3 {
        // The file is not emptied first, which might be printed.
        try File.write(Array("one\n".utf8), to: Path(project.path("file")), 0)
        try await project.shell("cp file ../copy && mv ../copy file")
        try project.place("end-\(round)")
        try await eventually("the mark is printed") { count("end-\(round)") == 1 }
      }
      #expect(count("file") == 1)
      try project.place("file", "two\n")
      try await eventually("new content is printed") { count("file") == 2 }
    }
  }

  @Test func `with --skip-unchanged metadata is printed if it is asked for`() async throws {
    try await withProject { project in
      try project.write("old")
      let watchrun = try await project.startPrinting("--skip-unchanged", "--events", "metadata")
      try await project.shell("chmod 600 old")
      try await project.reported("old", "metadata", by: watchrun)
    }
  }
}
