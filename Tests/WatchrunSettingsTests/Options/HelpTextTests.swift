import Testing

@testable import WatchrunSettings

struct HelpTextTests {
  private let lines = HelpText.full.split(separator: "\n", omittingEmptySubsequences: false)

  @Test func `the help fits a terminal of 80 columns`() {
    #expect(lines.filter { $0.count > 80 }.isEmpty)
    #expect(HelpText.full.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
    #expect(lines.filter { $0.hasSuffix(" ") }.isEmpty)
    #expect(HelpText.full.hasSuffix("\n"))
  }

  @Test(arguments: Setting.options.map(\.long))
  func `the help lists each option once, with its value and description`(long: String) throws {
    let option = try #require(Setting.options.first { $0.long == long })
    let short = option.short.map { "-\($0), " } ?? "    "
    let names = "  \(short)--\(long)\(option.valueUsage)  "
    let found = lines.indices.filter { lines[$0].hasPrefix(names) }
    #expect(found.count == 1)
    let first = try #require(found.first)
    let following = lines[(first + 1)...].prefix { $0.hasPrefix(String(repeating: " ", count: 20)) }
    let text = ([lines[first].dropFirst(names.count)] + following).map { line in
      line.drop { $0 == " " }
    }
    #expect(text.joined(separator: " ") == HelpText.description(of: option))
  }

  @Test(arguments: Setting.options.map(\.long))
  func `a description is a phrase without a full stop`(long: String) throws {
    let option = try #require(Setting.options.first { $0.long == long })
    #expect(option.help.first?.isUppercase == true && !option.help.hasSuffix("."))
  }

  @Test(arguments: Option.Group.allCases)
  func `each group has a heading`(group: Option.Group) {
    #expect(lines.contains { $0 == "\(group.rawValue):" })
  }

  @Test func `no two options share a name`() {
    #expect(Set(Setting.options.map(\.long)).count == Setting.options.count)
    let shorts = Setting.options.compactMap(\.short)
    #expect(Set(shorts).count == shorts.count)
  }

  @Test func `an option lists the choices that it accepts`() {
    for setting in Setting.all {
      guard let option = setting.option, option.kind == .choice(option.kind.words) else { continue }
      for name in option.kind.words {
        var reader = ValueReader(Array(name.utf8))
        #expect(setting.read(&reader) != nil && reader.findings.isEmpty)
        #expect(option.help.contains(name), "--\(option.long)")
      }
    }
  }
}
