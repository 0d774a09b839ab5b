import Foundation
import Testing

@testable import WatchrunSettings

/// The list of keys and everything that is based on it.
struct ProjectKeyTests {
  private static let places = ProjectKey.all.flatMap { key in key.scopes.map { (key, $0) } }

  /// A file with this member in an object of this scope.
  private func file(_ field: String, in scope: ProjectKey.Scope) -> String {
    switch scope {
    case .project: "{ tasks: { t: { run: 'x' } }, \(field) }"
    case .task: "{ tasks: { t: { run: 'x', service: true, \(field) } } }"
    case .page: "{ tasks: { t: { serve: 'x', \(field) } } }"
    case .readiness: "{ tasks: { t: { run: 'x', service: true, ready: { \(field) } } } }"
    }
  }

  @Test(arguments: places)
  func `the reader knows every key and checks its value`(
    key: ProjectKey, scope: ProjectKey.Scope
  ) {
    // A key that is already there is reported as repeated; null is valid for no key.
    let text = file("\"\(key.name)\": null", in: scope)
    let problems = ProjectProblems.of(Array(text.utf8), as: "f")
    let isSeen = problems.contains {
      $0.message.hasPrefix("'\(key.name)' must be ")
        || $0.message == "'\(key.name)' occurs twice; remove one"
    }
    #expect(isSeen, "\(problems)")
    #expect(!problems.contains { $0.message.contains("has no key") })
  }

  @Test func `the schema is JSON and describes every key`() throws {
    let object = try JSONSerialization.jsonObject(with: Data(ProjectSchema.text.utf8))
    let schema = try #require(object as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
    for scope in ProjectKey.Scope.allCases {
      let part = try #require(scope == .project ? schema : definitions[scope.rawValue])
      let properties = try #require(part["properties"] as? [String: [String: Any]])
      #expect(Set(properties.keys) == Set(ProjectKey.names(in: scope)))
      #expect(part["additionalProperties"] as? Bool == false)
      for (name, property) in properties {
        let help = Setting.key(name, in: scope)?.key?.help
        #expect(property["description"] as? String == help)
      }
    }
  }

  @Test func `no object has two keys of one name`() {
    for scope in ProjectKey.Scope.allCases {
      let names = ProjectKey.names(in: scope)
      #expect(Set(names).count == names.count)
    }
  }

  @Test func `the keys that options name exist`() {
    for name in Setting.options.compactMap(\.taskKey) {
      #expect(Setting.key(name, in: .task) != nil)
    }
  }

  @Test func `a key has the help of its option, its default and its scope`() {
    func help(_ name: String, _ scope: ProjectKey.Scope) -> String? {
      Setting.key(name, in: scope)?.key?.help
    }
    #expect(help("port", .page) == "port of the page (default: first free from 8080)")
    #expect(help("stopSignal", .task) == "signal that stops the command (default: TERM)")
    #expect(
      help("output", .task) == "print the output of all runs, or only of failed ones (default: all)"
        + "; at the top level, for all tasks")
    #expect(help("interactive", .task)?.hasSuffix("while it runs (default: false)") == true)
    #expect(help("notify", .project)?.hasSuffix("is notified (default: never)") == true)
  }

  @Test func `the help of a key speaks of no placeholder`() {
    for setting in Setting.all {
      // "URL" is a word as well.
      guard let key = setting.key, let value = setting.option?.value, value != "URL" else {
        continue
      }
      #expect(!key.help.split(separator: " ").contains(Substring(value)), "\(key.name)")
    }
  }

  @Test func `an option that replaces keys sets what tasks can have`() {
    for setting in Setting.all where setting.replacesKeys {
      #expect(setting.key?.scopes.contains(.task) != false, "\(setting.option?.long ?? "")")
    }
  }
}
