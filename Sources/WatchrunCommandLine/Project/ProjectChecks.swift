import SystemCalls

/// A task or page as far as it could be read, and where its parts stand.
struct ProjectDraft {
  /// The name of a task that it stands after.
  struct Reference: Hashable {
    var name: String
    var offset: Int
  }

  var name: String
  var nameOffset: Int
  var isPage = false
  var after: [Reference] = []
  var isService = false
  var hasReadiness = false
  var port: UInt16?
  var portOffset = 0
  /// What it is, if it could be read.
  var task: Project.Task?
  var page: Project.Page?

  init(name: String, nameOffset: Int) {
    self.name = name
    self.nameOffset = nameOffset
  }
}

/// What is not right with tasks and pages that are right one by one.
struct ProjectChecks {
  private(set) var findings: [ProjectReader.Finding] = []
  private let drafts: [ProjectDraft]
  private let byName: [String: ProjectDraft]

  init(_ drafts: [ProjectDraft]) {
    self.drafts = drafts
    byName = Dictionary(drafts.map { ($0.name, $0) }) { first, _ in first }
    for draft in drafts { checkReferences(of: draft) }
    checkCycles()
    checkServices()
    checkPorts()
  }

  private mutating func note(_ message: String, at offset: Int) {
    findings.append(.init(offset: offset, message: message))
  }

  private mutating func checkReferences(of draft: ProjectDraft) {
    var known: Set<String> = []
    for reference in draft.after {
      let written = "'\(Path(reference.name))'"
      if !known.insert(reference.name).inserted {
        note("\(written) occurs twice; remove one", at: reference.offset)
      } else if let found = byName[reference.name] {
        guard found.isPage else { continue }
        note(
          "\(written) is a page, which nothing can stand after; name a task", at: reference.offset)
      } else {
        let names = drafts.filter { !$0.isPage && $0.name != draft.name }.map(\.name)
        let hint = nearest(to: reference.name, among: names).map { "did you mean '\($0)'?" }
        let verb = names.count == 1 ? "there is only" : "there are"
        let all =
          names.isEmpty ? "there is no other" : "\(verb) \(names.joined(separator: ", "))"
        note("there is no task \(written); \(hint ?? all)", at: reference.offset)
      }
    }
  }

  /// Each cycle is told of once, with its members in order.
  private mutating func checkCycles() {
    let suspects = suspects()
    var told: Set<String> = []
    for draft in drafts where suspects.contains(draft.name) && !told.contains(draft.name) {
      guard let cycle = cycle(through: draft.name, within: suspects) else { continue }
      told.formUnion(cycle)
      let next = cycle.dropFirst().first
      let offset = draft.after.first { $0.name == next }?.offset ?? draft.nameOffset
      let members = cycle.map { "\(Path($0))" }.joined(separator: " → ")
      let what = cycle.count == 2 ? "a task waits for itself" : "these wait for one another"
      note("\(what): \(members); take one of them out of 'after'", at: offset)
    }
  }

  /// The names of those whose turn never comes: they stand in a cycle, or after one.
  private func suspects() -> Set<String> {
    var followers: [String: [String]] = [:]
    var awaited: [String: Int] = [:]
    for (name, draft) in byName {
      let names = Set(draft.after.map(\.name)).filter { byName[$0] != nil }
      awaited[name] = names.count
      for other in names { followers[other, default: []].append(name) }
    }
    var free = awaited.filter { $0.value == 0 }.map(\.key)
    while let name = free.popLast() {
      awaited[name] = nil
      for follower in followers[name] ?? [] {
        awaited[follower, default: 0] -= 1
        if awaited[follower] == 0 { free.append(follower) }
      }
    }
    return Set(awaited.keys)
  }

  /// The shortest way along 'after' from a task back to it, with both ends; nil if there is none.
  private func cycle(through start: String, within names: Set<String>) -> [String]? {
    var cameFrom: [String: String] = [:]
    var reached = [start]
    var next = 0
    while next < reached.count {
      let name = reached[next]
      next += 1
      for reference in byName[name]?.after ?? [] {
        if reference.name == start {
          var way = [name]
          while let step = cameFrom[way[0]] { way.insert(step, at: 0) }
          return way + [start]
        }
        if names.contains(reference.name), cameFrom[reference.name] == nil {
          cameFrom[reference.name] = name
          reached.append(reference.name)
        }
      }
    }
    return nil
  }

  private mutating func checkServices() {
    for draft in drafts where draft.isService && !draft.hasReadiness {
      let waiting = drafts.filter { other in other.after.contains { $0.name == draft.name } }
      guard let first = waiting.first else { continue }
      note(
        "'\(draft.name)' is a service, which does not end, and '\(first.name)' waits for it; "
          + "say when it can be used, as in ready: { port: 8080 }", at: draft.nameOffset)
    }
  }

  private mutating func checkPorts() {
    var owners: [UInt16: String] = [:]
    for draft in drafts {
      guard let port = draft.port else { continue }
      if let owner = owners[port] {
        note("port \(port) is already that of '\(owner)'; take another", at: draft.portOffset)
      } else {
        owners[port] = draft.name
      }
    }
  }
}
