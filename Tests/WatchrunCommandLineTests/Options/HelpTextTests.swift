import Testing

@testable import WatchrunCommandLine

struct HelpTextTests {
  private let lines = HelpText.full.split(separator: "\n", omittingEmptySubsequences: false)

  @Test func `fits a screen of 100 columns`() {
    #expect(lines.filter { $0.count > 100 }.isEmpty)
    #expect(HelpText.full.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
    #expect(lines.filter { $0.hasSuffix(" ") }.isEmpty)
    #expect(HelpText.full.hasSuffix("\n"))
  }

  @Test(arguments: OptionTable.options.map(\.long))
  func `lists every option once, with its value and what it is for`(long: String) throws {
    let option = try #require(OptionTable.options.first { $0.long == long })
    let short = option.short.map { "-\($0), " } ?? "    "
    let value = option.placeholder.map { option.isValueOptional ? $0 : " " + $0 } ?? ""
    let names = "  \(short)--\(long)\(value) "
    let found = lines.indices.filter { lines[$0].hasPrefix(names) }
    #expect(found.count == 1)
    let help = option.help.split(separator: "\n")
    let place = try #require(found.first)
    for (line, text) in zip(lines[place...], help) { #expect(line.hasSuffix("  " + text)) }
  }

  @Test(arguments: ["events", "skip-unchanged", "null"])
  func `explains an option in lines of at most 60 columns`(long: String) throws {
    let option = try #require(OptionTable.options.first { $0.long == long })
    #expect(option.help.split(separator: "\n").allSatisfy { $0.count <= 60 })
  }

  @Test func `says which events count by default in each mode`() throws {
    let option = try #require(OptionTable.options.first { $0.long == "events" })
    for word in ["default: all but metadata", "with --print all", "--skip-unchanged"] {
      #expect(option.help.replacing("\n", with: " ").contains(word))
    }
  }

  @Test(arguments: Option.Group.allCases)
  func `has a heading for each group`(group: Option.Group) {
    #expect(lines.contains { $0 == "\(group.rawValue):" })
  }

  @Test func `no two options have a name in common`() {
    #expect(Set(OptionTable.options.map(\.long)).count == OptionTable.options.count)
    let shorts = OptionTable.options.compactMap(\.short)
    #expect(Set(shorts).count == shorts.count)
  }
}
