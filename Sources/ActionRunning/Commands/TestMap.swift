import FileObservation
import SystemCalls

/// Which tests belong to which files: patterns of paths, each with the files that they map to.
package struct TestMap: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// Matches whole paths, relative to the directory of the command.
    package let pattern: RegularExpression
    /// Paths in which `$0` is the path that matches, and `$1` to `$9` are its groups.
    package let targets: [[UInt8]]

    package init(_ pattern: RegularExpression, targets: [[UInt8]]) {
      (self.pattern, self.targets) = (pattern, targets)
    }
  }

  package var entries: [Entry]

  package init(_ entries: [Entry]) { self.entries = entries }

  /// The tests of a run, relative to the directory of the command, each once and in the order of the changes; `nil`
  /// for all tests: at the start, on request, and where a change has no test.
  func tests(for trigger: RunTrigger, in directory: Path) -> [Path]? {
    guard trigger.reason == .change, !trigger.batch.overflow else { return nil }
    var tests: [Path] = []
    for change in trigger.changes {
      // What is in it is reported as well.
      if change.type == .directory && change.kind != .renamed { continue }
      let found = [change.path, change.from ?? change.path].flatMap {
        files(for: $0, in: directory)
      }
      if found.isEmpty { return nil }
      tests = Self.union(tests, found)
    }
    return tests.isEmpty ? nil : tests
  }

  /// The existing files of all entries that match.
  private func files(for path: Path, in directory: Path) -> [Path] {
    guard let path = path.relative(to: directory) else { return [] }
    return entries.flatMap { entry in
      guard let groups = entry.pattern.groups(in: path.bytes) else { return [Path]() }
      return entry.targets.map { Path(bytes: Self.filled($0, with: groups)) }
    }.filter { Self.exists($0, in: directory) }
  }

  static func exists(_ test: Path, in directory: Path) -> Bool {
    (try? FileStatus(of: test.absolute(from: directory), followsLinks: true)) != nil
  }

  static func union(_ first: [Path], _ second: [Path]) -> [Path] {
    var known = Set(first)
    return first + second.filter { known.insert($0).inserted }
  }

  private static func filled(_ target: [UInt8], with groups: [ArraySlice<UInt8>]) -> [UInt8] {
    var (text, rest) = ([UInt8](), target[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "$"), let group = group(rest.first) {
        rest.removeFirst()
        if groups.indices.contains(group) { text += groups[group] }
      } else {
        text.append(byte)
      }
    }
    return text
  }

  package static func groups(in target: [UInt8]) -> [Int] {
    target.indices.compactMap { index in
      target[index] == UInt8(ascii: "$") ? group(target[(index + 1)...].first) : nil
    }
  }

  private static func group(_ digit: UInt8?) -> Int? {
    digit.flatMap { (0x30...0x39).contains($0) ? Int($0 - 0x30) : nil }
  }
}

// MARK: - The word {tests}

extension TestMap {
  /// The word of a command that the tests replace.
  package static let word = Array("{tests}".utf8)

  /// A shell line with a text in place of the word; `nil` if the word is not in it.
  package static func filling(_ line: [UInt8], with text: [UInt8]) -> [UInt8]? {
    let ends = Array(" \t\n;&|()".utf8)
    var (filled, rest, isBegin, found) = ([UInt8](), line[...], true, false)
    while let byte = rest.first {
      let after = rest.dropFirst(word.count).first
      if isBegin, rest.starts(with: word), after.map(ends.contains) ?? true {
        (found, rest) = (true, rest.dropFirst(word.count))
        filled += text
        continue
      }
      isBegin = ends.contains(byte)
      filled.append(rest.removeFirst())
    }
    return found ? filled : nil
  }
}
