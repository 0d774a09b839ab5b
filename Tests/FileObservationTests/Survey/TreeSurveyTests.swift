import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct TreeSurveyTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func options(
    extensions: [String] = [], polling: Polling = Polling()
  ) -> ObserverOptions {
    ObserverOptions(
      filter: PathFilter(base: directory.path, extensions: extensions), polling: polling)
  }

  private func survey(_ names: String..., largest limit: Int = 10) -> TreeSurvey {
    TreeSurvey(
      of: names.map { WatchedPath(directory[$0]) }, options: options(), largest: limit)
  }

  /// Makes so many files in a directory.
  private func fill(_ name: String, _ count: Int) throws {
    try directory.makeDirectories(name)
    for number in 0..<count { try directory.write(to: "\(name)/\(number).c") }
  }

  @Test func `the watches are as many as an observer has`() async throws {
    try directory.makeDirectories(".git/info")
    try directory.write("out/\n", to: ".gitignore")
    try directory.makeDirectories("a/b/c")
    try directory.makeDirectories("out/d")
    try directory.write(to: "a/file")
    try directory.link("a/link", to: "b")
    var options = options()
    for followsLinks in [false, true] {
      options.followsLinks = followsLinks
      let paths = [WatchedPath(directory.path), WatchedPath(directory["a/file"])]
      let survey = TreeSurvey(of: paths, options: options)
      let observer = try FileObserver(watching: paths, options: options)
      let recorder = EventRecorder()
      try observer.start(recorder.handler, onFailure: recorder.failureHandler)
      #expect(await recorder.isReady())
      #expect(survey.watches == recorder.readiness?.watches)
      #expect(survey.pruned == recorder.readiness?.pruned)
      #expect(survey.ignoreFiles.map(\.path) == recorder.readiness?.ignoreFiles.map(\.path))
      await observer.stop()
    }
  }

  @Test func `a root has the size of all that is entered, and files that do not count`() throws {
    try fill("src", 3)
    try directory.write(to: "src/notes.txt")
    try fill("node_modules/x", 5)
    let survey = TreeSurvey(
      of: [WatchedPath(directory.path), WatchedPath(directory["src/0.c"])],
      options: options(extensions: ["c"]))
    #expect(survey.roots.map(\.path) == [directory.path, directory["src/0.c"]])
    #expect(survey.roots[0].size == .init(directories: 2, files: 4, ignoredFiles: 1))
    #expect(survey.roots[1].size == .init(directories: 0, files: 1, ignoredFiles: 0))
    #expect(survey.roots.allSatisfy { !$0.isPolled && !$0.isMissing })
    #expect(survey.pruned == 1)
  }

  @Test func `the largest subtrees do not contain each other`() throws {
    try fill("all/main/one", 30)
    try fill("all/main/two", 30)
    try fill("all/other", 10)
    try fill("small", 2)
    let survey = survey("", largest: 3)
    // More than half of all is in main, which has no such part.
    let largest = ["all/main", "all/other", "small"]
    #expect(survey.largest.map(\.path) == largest.map { directory[$0] })
    #expect(survey.largest.map(\.size.entries) == [63, 11, 3])
  }

  @Test(arguments: ["plain", "with space ", "a*b", "br[ack]et", "!not", "#no", "back\\slash", "é"])
  func `with the pattern of a subtree, the subtree is not entered`(name: String) throws {
    try fill("in/\(name)", 3)
    try fill("in/other", 1)
    let before = survey("")
    let subtree = try #require(before.largest.first { $0.path == directory["in/\(name)"] })
    let pattern = try #require(subtree.pattern)
    #expect(subtree.patternBase == directory.path)
    try directory.write(String(decoding: pattern, as: UTF8.self) + "\n", to: ".watchrunignore")
    let after = survey("")
    #expect(after.pruned == 1)
    #expect(after.roots[0].size.directories == before.roots[0].size.directories - 1)
  }

  @Test func `a pattern is for a place whose ignore files apply`() throws {
    try fill("repository/part", 2)
    try directory.makeDirectories("repository/.git")
    try fill("plain/part", 2)
    let survey = survey("repository", "plain")
    let patterns = survey.largest.map {
      ($0.patternBase, String(decoding: $0.pattern ?? [], as: UTF8.self))
    }
    #expect(patterns.contains { $0 == (directory["repository"], "/part/") })
    #expect(patterns.contains { $0 == (directory.path, "/plain/part/") })
  }

  @Test func `a name with a line break has no pattern`() throws {
    try fill("a\nb", 1)
    #expect(survey("").largest.map(\.pattern) == [nil])
  }

  @Test func `a path that cannot be watched is a failure, and the others are surveyed`() throws {
    try fill("src", 1)
    let survey = survey("nosuch", "src")
    #expect(survey.failures.map(\.code) == [.pathUnavailable])
    #expect(survey.failures.map(\.path) == [directory["nosuch"]])
    #expect(survey.roots.map(\.path) == [directory["src"]])
    let missing = TreeSurvey(
      of: [WatchedPath(directory["later"], mayBeMissing: true)], options: options())
    #expect(missing.failures.isEmpty && missing.roots.map(\.isMissing) == [true])
  }

  @Test func `a polled directory needs no watch`() throws {
    try fill("src", 1)
    let survey = TreeSurvey(
      of: [WatchedPath(directory.path)], options: options(polling: Polling(.always)))
    #expect(survey.watches == 0)
    #expect(survey.roots.map(\.isPolled) == [true])
    #expect(survey.roots[0].size == .init(directories: 2, files: 1, ignoredFiles: 0))
  }
}
