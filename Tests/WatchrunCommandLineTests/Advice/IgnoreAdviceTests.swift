import PathFiltering
import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning
@testable import WatchrunCommandLine

@Suite struct IgnoreAdviceTests {
  private let directory = Path("/p")

  @Test(
    arguments: [
      ("/p/out", "-i /out", #"["/out"]"#),
      ("/p/app/[id]/page.tsx", #"-i '/app/\[id]/page.tsx'"#, #"["/app/\\[id]/page.tsx"]"#),
      ("/p/#a", "-i '/#a'", ##"["/#a"]"##), ("/p/it's", #"-i "/it's""#, #"["/it's"]"#),
      ("/p/{a,b}", #"-i '/\{a,b}'"#, #"["/\\{a,b}"]"#), ("/p/a ", #"-i '/a\ '"#, #"["/a\\ "]"#),
      ("/p/p/a", #"-i '/\p/a'"#, #"["/\\p/a"]"#), ("/q/!a", #"-i '\!a'"#, #"["\\!a"]"#),
    ])
  func `a path is ignored by the option and the key that are recommended`(
    path: String, option: String, key: String
  ) throws {
    let advice = try #require(IgnoreAdvice(Path(path), in: directory))
    #expect(advice.option == option)
    #expect(advice.key == "\"ignore\": \(key) in watchrun.json")
  }

  /// Names of bytes that are special in patterns, in shells or in JSON.
  private static let bytes = Array("ab*?[]!#\\{},-^ ~$'\"`.\t\n\u{E9}".utf8) + [0xFF]

  private func name(_ generator: inout SeededGenerator) -> [UInt8] {
    while true {
      let length = Int.random(in: 1...4, using: &generator)
      let name = (0..<length).map { _ in Self.bytes.randomElement(using: &generator) ?? 0x61 }
      if ![Array(".".utf8), Array("..".utf8)].contains(name) { return name }
    }
  }

  private func path(_ generator: inout SeededGenerator) -> Path {
    (0..<Int.random(in: 1...3, using: &generator)).reduce(into: directory) { path, _ in
      path = path.appending(name(&generator))
    }
  }

  private func ignores(_ text: [UInt8], _ path: Path) throws -> Bool {
    let filter = PathFilter(
      base: directory, ignore: try GlobPattern.parse(text), filter: [], extensionBytes: [],
      sources: [])
    return !filter.passesPatterns(path, isDirectory: false, below: directory)
  }

  @Test func `the pattern of a random path ignores this path and no other`() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<Effort.count(3000, quick: 600) {
      let path = path(&generator)
      let advice = try #require(IgnoreAdvice(path, in: directory))
      #expect(try ignores(advice.pattern.text, path), "\(path): \(advice.pattern)")
      for _ in 0..<5 {
        let other = self.path(&generator)
        if other == path || other.isWithin(path) { continue }
        #expect(try !ignores(advice.pattern.text, other), "\(other): \(advice.pattern)")
      }
      let longer = Path(bytes: path.bytes + Array("a".utf8))
      #expect(try !ignores(advice.pattern.text, longer), "\(longer): \(advice.pattern)")
    }
  }

  @Test func `the shell makes the pattern of what is recommended`() throws {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<500 {
      let advice = try #require(IgnoreAdvice(path(&generator), in: directory))
      // Only bash and zsh understand $'…', which is for control characters and bytes that are not UTF-8.
      guard !advice.option.hasPrefix("-i $'") else { continue }
      #expect(
        ShellWords.split(advice.option) == [
          "-i", String(decoding: advice.pattern.text, as: UTF8.self),
        ])
    }
  }

  @Test(
    arguments: [
      (["a[1].log", "a[2].log"], "a[*].log", #"-i '/t/a\[*].log'"#),
      (["x*"], "x*", #"-i '/t/x\*'"#),
      (["tmp.1", "tmp.22"], "tmp.*", "-i '/t/tmp.*'"),
      (["run1795791345.json", "run1795791409.json"], "run*.json", "-i '/t/run*.json'"),
      (["s-1209.log", "s-1309.log"], "s-*.log", "-i '/t/s-*.log'"),
    ] as [([String], String, String)])
  func `the names of entries that each run makes are ignored`(
    names: [String], text: String, option: String
  ) throws {
    let loop = FeedbackLoop(
      path: "/p/t", entries: names.map { Path("/p/t/" + $0) }, delay: .seconds(1))
    let found = try #require(loop.names)
    #expect(found.text == text)
    let advice = try #require(IgnoreAdvice(loop.path, in: directory, entries: found.pattern))
    #expect(advice.option == option)
    for name in names {
      #expect(try ignores(advice.pattern.text, loop.path.appending(Array(name.utf8))))
    }
    let here = try #require(IgnoreAdvice(directory, in: directory, entries: found.pattern))
    for name in names {
      #expect(try ignores(here.pattern.text, directory.appending(Array(name.utf8))))
    }
  }

  @Test(arguments: [["server.log", "server.pid"], ["app", "server.pid"], ["1.c", "2.c"]])
  func `no pattern is recommended that matches what people edit`(names: [String]) throws {
    let loop = FeedbackLoop(
      path: "/p/t", entries: names.map { Path("/p/t/" + $0) }, delay: .seconds(1))
    let found = try #require(loop.names)
    #expect(found.pattern == nil && found.text == names.joined(separator: " and "))
  }

  @Test func `a path is declared by the option and the key that are recommended`() throws {
    let advice = try #require(IgnoreAdvice("/p/app/[id]", in: directory))
    #expect(advice.writesOption == #"--writes '/app/\[id]'"#)
    #expect(advice.writesKey(of: "gen") == #""writes": ["/app/\\[id]"] of gen in watchrun.json"#)
  }
}
