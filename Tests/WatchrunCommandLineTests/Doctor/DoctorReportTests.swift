import FileObservation
import PathFiltering
import TestSupport
import Testing

@testable import SystemCalls
@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct DoctorReportTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for name in ["src/a.c", "src/b.c", "docs/x.md"] {
      try directory.makeDirectories(String(name.prefix { $0 != "/" }))
      try directory.write("", to: name)
    }
  }

  private func report(_ words: String...) throws -> DoctorReport {
    let settings = try OptionParser.parse((["--doctor"] + words).map { Array($0.utf8) })
    var report = try Doctor(settings: settings, directory: directory.path).report()
    report.scanTime = .milliseconds(3)
    report.system = "Linux 1.2"
    report.fileSystems = report.fileSystems.map { _ in "ext4" }
    report.inotify = usage()
    return report
  }

  private func usage(watches: Int? = 8192, instances: Int? = 128) -> InotifyUsage {
    InotifyUsage(
      limits: .init(watches: watches, instances: instances, events: 16384),
      processes: [
        .init(pid: 7, name: "code", instances: 2, watches: 1500, isOwn: true),
        .init(pid: 8, name: "x\u{1B}", instances: 1, watches: 3, isOwn: false),
      ], unreadableCount: 12)
  }

  @Test func `the report is a page of sections`() throws {
    try directory.write("*.tmp\n!keep.tmp\n", to: ".gitignore")
    let text = try report("-w", directory.path.description, "-d", "50ms", "make").text
    #expect(
      text == """
        \(HelpText.version), Linux 1.2

        Project
          no watchrun.json, and no project detected

        Watched paths
          .: 3 directories, 4 files; on ext4, reports events
          scanned in 3 ms

        Largest subtrees, with the line of .watchrunignore (or value of -i) that ignores each
          1 directory  2 files  /src/
          1 directory   1 file  /docs/

        Ignore rules
          \(DefaultIgnores.patterns.count) built-in rules
          .gitignore: 2 rules

        inotify (limits for each user)
          watches: 3 needed, 1,500 in use, limit 8,192
          instances: 1 needed, 2 in use, limit 128
          event queue: limit 16,384
          most watches: code (7) 1,500, x\\u{1B} (8) 3, of another user
          12 processes of other users are not counted: only root may read what they watch

        Timing
          quiet period 50 ms, maximum wait 1.0 s

        Problems
          none found

        """)
  }

  @Test func `a project decides what is watched, unless a command is given`() throws {
    try directory.write(
      "{ tasks: { a: { run: 'x', watch: 'src' }, b: { run: 'y', after: 'a' } }, debounce: '1s' }",
      to: "watchrun.json")
    let report = try report()
    #expect(report.survey.roots.map(\.path) == [directory["src"]])
    #expect(report.project.tasks == ["a", "b"] && report.project.isUsed)
    #expect(report.text.includes("  watchrun.json: a, b\n"))
    #expect(report.text.includes("quiet period 1.0 s, maximum wait 1.0 s"))
    let other = try self.report("-w", directory.path.description, "make")
    #expect(other.survey.roots.map(\.path) == [directory.path])
    #expect(other.text.includes("  watchrun.json: a, b (not used, since a command is given)\n"))
  }

  @Test func `a detected project is named with the file that shows it`() throws {
    try directory.write("all:\n\tcc\n", to: "Makefile")
    let report = try report("-w", directory.path.description)
    #expect(report.text.includes("  no watchrun.json; this is a Makefile: build\n"))
  }

  @Test func `what cannot be watched is a problem, and the rest is reported`() throws {
    try directory.write("{ tasks: 1 }", to: "watchrun.json")
    let gone = directory["gone"].description
    let report = try report("-w", gone, "-w", directory["src"].description)
    #expect(report.survey.roots.map(\.path) == [directory["src"]])
    #expect(report.problems.count == 2)
    #expect(
      report.problems.first
        == "cannot watch \(gone): No such file or directory; check the path, or watch the "
        + "directory in which it will be created")
    #expect(report.problems.last?.hasPrefix("watchrun.json:1:10: ") == true)
    #expect(report.text.includes("  gone: cannot be watched\n"))
    #expect(report.text.includes("  watchrun.json has errors\n"))
  }

  @Test func `limits that are too low are problems with a remedy`() throws {
    var report = try report("-w", directory.path.description, "make")
    report.inotify = usage(watches: 1502, instances: 2)
    #expect(
      report.problems == [
        "not every directory can be watched: 3 watches are needed, and 1,500 of 1,502 are in use; "
          + "the others are polled; raise the limit: sudo sysctl "
          + "fs.inotify.max_user_watches=65536",
        "no inotify instance is free: 2 of 2 are in use; everything is polled; raise the limits: "
          + "sudo sysctl fs.inotify.max_user_instances=1024, ulimit -n 4096",
      ])
    report.inotify = usage(watches: 1503, instances: 3)
    #expect(report.problems.isEmpty)
    report.inotify = usage(watches: nil, instances: nil)
    #expect(report.problems.isEmpty)
  }

  @Test func `as JSON, the report is as its schema describes it`() throws {
    let schema = try SchemaEvaluator(documented: "doctor.schema.json")
    let reports = [
      try report("-w", directory.path.description, "-w", directory["gone"].description, "make"),
      try report("-w", directory["src"].description, "-d", "50ms", "--ignore-nothing"),
    ]
    for var report in reports {
      #expect(try schema.accepts(text: String(decoding: report.json, as: UTF8.self)))
      (report.inotify, report.system) = (nil, nil)
      #expect(try schema.accepts(text: String(decoding: report.json, as: UTF8.self)))
    }
  }

  @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")])
  func `numbers are grouped`(number: Int, text: String) throws {
    #expect(try report("-w", directory["src"].description).grouped(number) == text)
  }
}
