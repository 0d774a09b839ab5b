import Support
import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

@Suite struct RuleLinesTests {
  private let text = Array(
    """
    {
      ignore: ["*.{md,txt}",
        "/prog"],
      exts: "c,h",
      filter:
        "src/**",
    }
    """.utf8)

  private var file: ProjectFileText { ProjectFileText(file: "f", text: text) }

  private func value(_ key: String) throws -> JSONValue? { try JSONValue(parsing: text)[key] }

  @Test func `each rule of a string has the line of the string`() throws {
    let ignores = RuleLines(ofPatterns: try value("ignore"), in: file)
    #expect((1...3).map { ignores[$0].line } == [2, 2, 3])
    let extensions = RuleLines(ofExtensions: try value("exts"), in: file)
    #expect((1...2).map { extensions[$0].line } == [4, 4])
    #expect(RuleLines(ofPatterns: try value("filter"), in: file)[1] == .init(file: "f", line: 6))
  }

  @Test func `the rule for all other paths has the line of the value`() throws {
    #expect(RuleLines(ofPatterns: try value("ignore"), in: file)[0].line == 2)
    #expect(RuleLines(ofExtensions: try value("exts"), in: file)[0].line == 4)
  }

  @Test func `without a file, a rule has its number`() {
    let lines = RuleLines(ofPatterns: nil, in: nil)
    #expect((0...2).map { lines[$0].line } == [0, 1, 2])
  }
}
