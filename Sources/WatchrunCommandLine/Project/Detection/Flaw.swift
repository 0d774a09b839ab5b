extension ProjectDetection {
  /// Why nothing was detected, and what to type instead.
  struct Flaw {
    let reason: String
    var remedy: String?

    init(reason: String) { self.reason = reason }

    /// A file has other entries than those that are looked for; the first is suggested.
    init(in file: String, lacking what: String, has others: [ProjectKind.Offer]) {
      guard let first = others.first else {
        reason = "\(file) has no \(what)"
        return
      }
      reason = "\(file) has no \(what), but \(some(of: others.map { "'\($0.name)'" }))"
      remedy = "watchrun \(first.command)"
    }
  }

  /// The flaw of the first file that is known and has no usual task, but others if possible.
  static func flaw(_ directory: ProjectDirectory) -> Flaw? {
    if let flaw = packageFlaw(directory) { return flaw }
    let flaws = kinds.compactMap { kind -> Flaw? in
      guard let wanted = kind.wanted, let file = directory.first(of: kind.files) else { return nil }
      return Flaw(in: file, lacking: wanted, has: kind.findOthers?(directory, file) ?? [])
    }
    return flaws.first { $0.remedy != nil } ?? flaws.first
  }

  private static let mostNames = 8

  /// As many names as fit into a line.
  static func some(of names: [String]) -> String {
    names.prefix(mostNames).joined(separator: ", ") + (names.count > mostNames ? ", …" : "")
  }
}
