/// What there is to know about a setting: an option of the command line, a key of the project file, or
/// both.
///
/// Parser, reader, checks, help, manual, schema and completions are made from ``Setting/all``.
struct Setting: Sendable {
  /// `nil` for a setting of the project file only.
  let option: Option?
  /// `nil` for a setting of the command line only.
  let key: ProjectKey?
  /// Whether the option replaces the key of every task.
  let replacesKeys: Bool
  /// The names of options of other tools, separated by spaces, and what to write instead: in words, or an option
  /// with `%` for the value.
  let others: KeyValuePairs<String, String>
  /// Reads the value; `nil` for an invalid one, which is noted.
  let read: @Sendable (inout ValueReader) -> Assignment?
  /// The effect of an option whose value is omitted; `nil` if a value must be given.
  let omitted: Assignment?

  /// - Parameters:
  ///   - names: The names of the option, as in `-w --watch`; none for a setting of the project file only.
  ///   - value: The placeholder of its value, if not that of the kind.
  ///   - omitted: The value of an option that is given without one.
  ///   - task: The effect on the command of the command line, or on the task that has the key.
  ///   - option: The effect on the command line, if it is not that on its command.
  ///   - page: The effect on the page of the command line, or on the one that has the key.
  ///   - project: The effect on a project that has the key. Without one, the key sets what the option
  ///     sets.
  init<Value>(
    _ names: String = "", _ group: Option.Group = .project, _ help: String = "",
    value: String? = nil, default defaultValue: String? = nil, isRepeatable: Bool = false,
    scope: Option.Scope = [], taskKey: String? = nil, conflicts: [Option.Conflict] = [],
    key: ProjectKey? = nil, _ type: ValueType<Value>, omitted: Value? = nil,
    replacesKeys: Bool = false, others: KeyValuePairs<String, String> = [:],
    option: (@Sendable (inout Settings, Value) -> Void)? = nil,
    task: (@Sendable (inout Project.Task, Value) -> Void)? = nil,
    page: (@Sendable (inout Project.Page, Value) -> Void)? = nil,
    project: (@Sendable (inout Project, Value) -> Void)? = nil
  ) {
    // Of what only a command or a task can have.
    let sameKey = key?.scopes.contains(.task) == true && scope.contains(.command) ? key?.name : nil
    let words = names.split(separator: Character(" ")).map { $0.drop { $0 == "-" } }
    self.option =
      words.last.map { long in
        Option(
          short: words.count > 1 ? words[0].first : nil, long: String(long), kind: type.kind,
          value: type.kind == .boolean ? nil : value ?? type.kind.placeholder,
          isValueOptional: omitted != nil, group: group, scope: scope.union(group.scope),
          help: help, defaultValue: defaultValue, isRepeatable: isRepeatable,
          taskKey: taskKey ?? sameKey,
          conflicts: conflicts)
      }
    self.key = key?.completed(type.kind, by: self.option)
    self.replacesKeys = replacesKeys
    self.others = others
    let assign: @Sendable (Value) -> Assignment = { value in
      var assignment = Assignment(value: value)
      if let task {
        assignment.task = { task(&$0, value) }
        assignment.settings = { task(&$0.own, value) }
      }
      if let option { assignment.settings = { option(&$0, value) } }
      if let page {
        assignment.page = { page(&$0, value) }
        assignment.settings = { page(&$0.page, value) }
      }
      if let project { assignment.project = { project(&$0, value) } }
      return assignment
    }
    read = { type.read(&$0).map(assign) }
    self.omitted = omitted.map(assign)
  }

  /// An option without a value.
  static func flag(
    _ names: String, _ group: Option.Group, _ help: String, scope: Option.Scope = [],
    others: KeyValuePairs<String, String> = [:], set: @escaping @Sendable (inout Settings) -> Void
  ) -> Setting {
    Setting(
      names, group, help, scope: scope, .boolean, others: others,
      option: { settings, _ in set(&settings) })
  }

  /// An option that prints an answer about a directory or a project, and runs nothing.
  static func answer(
    _ name: String, _ group: Option.Group, _ help: String, _ task: Settings.Task
  ) -> Setting {
    flag(name, group, help, scope: .answer) { $0.task = task }
  }
}

/// A value and what it sets.
package struct Assignment: Hashable, Sendable {
  let value: any Hashable & Sendable
  var settings: (@Sendable (inout Settings) -> Void)?
  var task: (@Sendable (inout Project.Task) -> Void)?
  var page: (@Sendable (inout Project.Page) -> Void)?
  var project: (@Sendable (inout Project) -> Void)?

  package static func == (left: Assignment, right: Assignment) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  package func hash(into hasher: inout Hasher) {
    value.hash(into: &hasher)
  }
}

extension Setting {
  /// All settings. Options are in the order of the help, keys in that of their manual.
  static let all: [Setting] =
    projectFile + watching + filtering + dependencies + timing + running + page + project + session
    + output + readiness

  static let options = all.compactMap(\.option)

  static func option(_ name: String) -> Setting? { all.first { $0.option?.long == name } }

  static func key(_ name: String, in scope: ProjectKey.Scope) -> Setting? {
    all.first { $0.key?.name == name && $0.key?.scopes.contains(scope) == true }
  }
}
