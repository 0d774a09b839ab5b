import ActionRunning
import LiveReload
import PathFiltering
import Support
import SystemCalls

// Lists, and objects of strings. An option has one element, and may be repeated.

extension ValueType {
  /// A list, each element of which is read by itself.
  private static func list<Element>(
    _ kind: ValueKind,
    _ read: @escaping @Sendable (inout ValueReader, _ text: [UInt8], _ offset: Int) -> [Element]
  ) -> Self where Value == [Element] {
    Self(kind) { reader in
      guard let elements = reader.elements() else { return nil }
      return elements.flatMap { read(&reader, $0.text, $0.offset) }
    }
  }
}

extension ValueType<[Path]> {
  static var paths: Self { list(.paths, path) }

  static var files: Self { list(.files, path) }

  @Sendable private static func path(
    _ reader: inout ValueReader, _ text: [UInt8], _ offset: Int
  ) -> [Path] {
    if text.isEmpty { reader.note("the path is empty") }
    reader.notePath(text, at: offset)
    return [Path(bytes: text)]
  }
}

extension ValueType<[[UInt8]]> {
  static var extensions: Self {
    list(.extensions) { reader, text, offset in
      do throws(PatternError) {
        return try GlobPattern.parseExtensions(text)
      } catch {
        switch error {
        case .empty where reader.json == nil:
          reader.note("the list is empty; write extensions, such as c,h")
        case .notAnExtension(nil) where reader.json == nil:
          reader.note("'\(reader.written)' is not an extension; for a pattern, use -f")
        default: reader.note("'\(text.printable)' \(error)", at: offset)
        }
        return []
      }
    }
  }
}

extension ValueType<[GlobPattern]> {
  static var globs: Self { globs { _, _, _ in } }

  /// Patterns of files, whose existence `--check` checks.
  static var manifests: Self { globs { $0.notePath($1, at: $2) } }

  private static func globs(
    _ note: @escaping @Sendable (inout ValueReader, _ text: [UInt8], _ offset: Int) -> Void
  ) -> Self {
    list(.globs) { reader, text, offset in
      note(&reader, text, offset)
      do throws(PatternError) {
        return try GlobPattern.parse(text)
      } catch {
        reader.note(
          reader.json == nil && error == .empty
            ? "the pattern is empty"
            : "the pattern '\(text.printable)' \(error)\(error.advice)", at: offset)
        return []
      }
    }
  }
}

extension PatternError {
  /// The remedy, for the end of a message; empty if the description contains it.
  fileprivate var advice: String {
    switch self {
    case .defect: "; write it as in .gitignore"
    case .unclosedBrace: "; add the missing }"
    default: ""
    }
  }
}

extension ValueType<[String]> {
  static var hosts: Self {
    list(.hosts) { reader, text, offset in
      if HostAddress(host: text.decoded) == nil {
        reader.note(
          "'\(text.printable)' is not an address; write 0.0.0.0 or a host name", at: offset)
      }
      return [text.decoded]
    }
  }
}

extension ValueType<[Command.EnvironmentVariable]> {
  static var variables: Self {
    Self(.variables) { reader in
      if reader.json == nil {
        let text = reader.text
        guard let cut = text.firstIndex(of: UInt8(ascii: "=")), cut > 0 else {
          reader.note("'\(reader.written)' is not of the form NAME=VALUE")
          return nil
        }
        let variable = Command.EnvironmentVariable(
          name: Array(text[..<cut]), value: Array(text[(cut + 1)...]))
        if let flaw = variable.flaw {
          reader.note("\(flaw); in double quotes, your shell expands it: \"\(reader.written)\"")
        }
        return [variable]
      }
      guard let members = reader.members() else { return nil }
      reader.noteRepeated(members)
      return members.compactMap { member in
        if member.key.isEmpty || member.key.contains("=") || member.key.utf8.contains(0) {
          reader.note(
            "'\(member.key.printable)' is not a valid name of a variable", at: member.keyOffset)
        }
        guard case .string(let text) = member.value.content, !text.utf8.contains(0) else {
          let name = member.key.printable
          reader.note(
            member.value.text != nil
              ? "the value of \(name) contains a NUL byte, which no variable can; remove it"
              : "the variable '\(name)' must be a string, as in \"8080\", not "
                + member.value.kindName, at: member.value.offset)
          return nil
        }
        let variable = Command.EnvironmentVariable(
          name: Array(member.key.utf8), value: Array(text.utf8))
        if let flaw = variable.flaw {
          reader.note(
            "\(flaw); set it in a shell line: run: \"\(variable.assignment) …\"",
            at: member.value.offset)
        }
        return variable
      }
    }
  }
}

extension Command.EnvironmentVariable {
  /// Why the value cannot be meant as it is: it refers to the variable itself.
  var flaw: String? {
    // `${PATH}` is `$PATH`.
    let references = value.decoded.split(
      separator: Character("$"), omittingEmptySubsequences: false
    )
    .dropFirst().map { $0.drop { $0 == "{" }.prefix { $0.isLetter || $0.isNumber || $0 == "_" } }
    guard references.contains(name.decoded[...]) else { return nil }
    return "'$\(name.printable)' is not expanded in the variable '\(name.printable)'"
  }

  /// For messages: `PATH=$PATH:bin`.
  var assignment: String { "\(name.printable)=\(value.printable)" }
}

extension ValueType<[HeaderField]> {
  static var headers: Self {
    Self(.headers) { reader in
      if reader.json == nil {
        guard let colon = reader.text.firstIndex(of: UInt8(ascii: ":")) else {
          reader.note("'\(reader.written)' is not of the form 'NAME: VALUE'")
          return nil
        }
        let parts = [reader.text[..<colon], reader.text[(colon + 1)...]].map {
          $0.decoded
        }
        return reader.header(parts[0], parts[1], at: 0).map { [$0] }
      }
      var headers: [HeaderField] = []
      for member in reader.members() ?? [] {
        guard case .string(let value) = member.value.content else {
          reader.note(
            "the header '\(member.key.printable)' must be a string, not \(member.value.kindName)",
            at: member.value.offset)
          continue
        }
        if headers.contains(where: { $0.isNamed(member.key) }) { reader.noteTwice(member) }
        if let header = reader.header(member.key, value, at: member.keyOffset) {
          headers.append(header)
        }
      }
      return headers
    }
  }
}

extension ValueReader {
  fileprivate mutating func header(_ name: String, _ value: String, at offset: Int) -> HeaderField?
  {
    do throws(HeaderField.Problem) {
      return try HeaderField(name: name, value: value)
    } catch {
      let problem =
        switch error {
        case .invalidName:
          "'\(name.printable)' is not the name of a header; write one such as Cache-Control"
        case .invalidValue: "the value of '\(name.printable)' has control characters; remove them"
        case .reserved:
          "'\(name.printable)' is different for each answer, and cannot be set for all"
        }
      note(problem, at: offset)
      return nil
    }
  }
}
