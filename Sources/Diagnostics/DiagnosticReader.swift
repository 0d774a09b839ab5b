import Support
import SystemCalls

/// Recognises the diagnostics of compilers, linters and test runners in the output of a run.
///
/// The output is searched line by line by a table of matchers (``matchers``). Most lines are dismissed by the
/// first test, whether there is a colon. A matcher may look at the lines around, since many tools print place
/// and message on different lines.
package struct DiagnosticReader {
  /// The lines of an output that are searched: the first error matters most, and summaries come last.
  static let (firstLines, lastLines) = (2_000, 8_000)
  /// The most diagnostics of an output.
  package static let mostDiagnostics = 1_000

  /// The lines of the output, without escape sequences.
  let lines: [OutputLine]
  /// The line at which a diagnostic may begin.
  private(set) var index = 0
  let files: SourceFiles
  private var found: [Diagnostic] = []
  private var known: Set<Diagnostic> = []
  /// Errors of a tool as a whole, which count if there are no other errors.
  private var generalErrors: [Diagnostic] = []
  /// The source locations in the line that was searched last.
  private var located: (index: Int, places: [SourceLocation]) = (-1, [])

  /// Returns the diagnostics in an output, in its order and each once.
  ///
  /// - Parameter directory: The directory of the task, from which relative paths start.
  package static func diagnostics(in output: [UInt8], of directory: Path) -> [Diagnostic] {
    if output.isEmpty { return [] }
    var reader = DiagnosticReader(
      lines: OutputText(MachineFormats.plain(output), first: firstLines, last: lastLines).lines,
      files: SourceFiles(directory: directory))
    reader.read()
    let hasError = reader.found.contains { $0.severity == .error }
    return hasError ? reader.found : reader.found + reader.generalErrors
  }

  private mutating func read() {
    while index < lines.count && found.count < Self.mostDiagnostics {
      let clue = Clue(of: line)
      let first = line.first { $0 != 0x20 && $0 != 0x09 } ?? 0
      let candidates = clue == .none ? Self.unclued : Self.candidates
      var next = index + 1
      for matcher in candidates[Int(first)] where matcher.needs.rawValue <= clue.rawValue {
        guard let end = matcher.match(&self) else { continue }
        next = max(next, end)
        break
      }
      index = next
    }
  }

  // MARK: - For matchers

  /// Adds a diagnostic, unless it is known. Returns the line after this one, with which the search goes on.
  @discardableResult
  mutating func add(
    _ severity: Diagnostic.Severity, _ message: String, _ path: Path? = nil, _ line: Int? = nil,
    _ column: Int? = nil
  ) -> Int {
    let diagnostic = Diagnostic(severity, message, path: path, line: line, column: column)
    if known.insert(diagnostic).inserted { found.append(diagnostic) }
    return index + 1
  }

  @discardableResult
  mutating func add(
    _ severity: Diagnostic.Severity, _ message: String, at place: SourceLocation
  ) -> Int {
    add(severity, message, place.path, place.line, place.column)
  }

  /// Adds an error that counts if no other is found.
  @discardableResult
  mutating func addGeneral(_ message: String) -> Int {
    let diagnostic = Diagnostic(.error, message)
    if generalErrors.count < Self.mostDiagnostics && !generalErrors.contains(diagnostic) {
      generalErrors.append(diagnostic)
    }
    return index + 1
  }

  /// The locations of existing files in a line. Their ranges are offsets from its beginning.
  mutating func places(_ index: Int) -> [SourceLocation] {
    if located.index != index {
      located = (index, SourceLocation.find(in: Array(lines[index]), resolve: files.file(named:)))
    }
    return located.places
  }

  var line: OutputLine { lines[index] }

  /// What follows a location in the line.
  func rest(after place: SourceLocation) -> OutputLine {
    line[(line.startIndex + place.range.upperBound)...]
  }

  /// The nearest of the lines above one for which this holds.
  func nearest(above index: Int, most: Int = 60, where holds: (OutputLine) -> Bool) -> Int? {
    (max(0, index - most)..<max(0, index)).last { holds(lines[$0]) }
  }

  /// The line, or an empty one beyond the output.
  func line(_ index: Int) -> OutputLine { lines.indices.contains(index) ? lines[index] : [] }
}

extension DiagnosticReader {
  /// What a line holds, as far as one look shows; each clue includes those before it.
  enum Clue: UInt8 {
    case none
    /// A colon or an opening parenthesis.
    case mark
    /// A digit after one of these.
    case number

    init(of line: OutputLine) {
      var clue = Clue.none
      line.withUnsafeBufferPointer { line in
        var isAfterMark = false
        for byte in line {
          if isAfterMark && byte.isDigitASCII {
            clue = .number
            return
          }
          isAfterMark = byte == UInt8(ascii: ":") || byte == UInt8(ascii: "(")
          if isAfterMark { clue = .mark }
        }
      }
      self = clue
    }
  }

  /// A form in which tools print diagnostics.
  struct Matcher: Sendable {
    /// The tools that use it, for the manual.
    let tools: String
    /// The characters, of which one is the first after the indentation. Empty: any.
    var begins = ""
    var needs = Clue.none
    /// Adds the diagnostics that begin at the line. Returns the one with which the search goes on; `nil` if the
    /// line has another form.
    let match: @Sendable (inout DiagnosticReader) -> Int?
  }

  /// The tools whose forms are known, in alphabetical order.
  package static var tools: [String] {
    let names = matchers.flatMap { $0.tools.split(separator: ",") }.map {
      String($0.drop { $0 == " " })
    }
    return Set(names).sorted { ($0.lowercased(), $0) < ($1.lowercased(), $1) }
  }

  /// By the first byte of a line, so that most lines ask few matchers.
  private static let candidates: [[Matcher]] = (0...UInt8.max).map { byte in
    matchers.filter { $0.begins.isEmpty || $0.begins.utf8.contains(byte) }
  }
  /// Those that need no clue.
  private static let unclued = candidates.map { $0.filter { $0.needs == .none } }

  /// The forms, the most specific ones first.
  static let matchers: [Matcher] = [
    Matcher(tools: "Python", begins: "F") { $0.traceback() },
    Matcher(tools: "make, Ninja", begins: "mn", needs: .mark) { $0.directory() },
    Matcher(tools: "shellcheck", begins: "I", needs: .mark) { $0.shellCheck() },
    Matcher(tools: "Elixir, mix", begins: "*") { $0.elixir() },
    Matcher(tools: "Maven", begins: "[") { $0.maven() },
    Matcher(tools: "CMake", begins: "C", needs: .mark) { $0.cmake() },
    Matcher(tools: "rustc, clippy, ruff", begins: "-└", needs: .number) { $0.arrow() },
    Matcher(tools: "Elixir", needs: .number) { $0.mixWarning() },
    Matcher(tools: "ExUnit", needs: .number) { $0.exUnit() },
    Matcher(tools: "RSpec", begins: "#", needs: .number) { $0.rspec() },
    Matcher(tools: "minitest", needs: .number) { $0.minitest() },
    Matcher(tools: "minitest", needs: .number) { $0.minitestError() },
    Matcher(tools: "Ruby", needs: .number) { $0.ruby() },
    Matcher(tools: "Kotlin", begins: "ew", needs: .mark) { $0.kotlin() },
    Matcher(tools: "PHP", begins: "PFWND", needs: .mark) { $0.php() },
    Matcher(tools: "OCaml, dune", begins: "F", needs: .mark) { $0.ocaml() },
    Matcher(tools: "Nim", needs: .number) { $0.nim() },
    Matcher(tools: "Nim", begins: "E", needs: .mark) { $0.nimException() },
    Matcher(tools: "pylint", needs: .number) { $0.pylint() },
    Matcher(tools: "esbuild", begins: "✘▲") { $0.esbuild() },
    Matcher(tools: "vite", begins: "e", needs: .mark) { $0.vite() },
    Matcher(tools: "Biome", needs: .number) { $0.biome() },
    Matcher(tools: "GoogleTest, Catch2", needs: .number) { $0.expectation() },
    Matcher(tools: "GoogleTest", begins: "u", needs: .mark) { $0.expectation() },
    Matcher(tools: "PHPUnit", begins: "/", needs: .number) { $0.phpUnit() },
    Matcher(tools: "vitest", begins: "❯", needs: .number) { $0.vitest() },
    Matcher(tools: "dotnet test", begins: "E", needs: .mark) { $0.dotnetTest() },
    Matcher(tools: "Rust, cargo test", needs: .number) { $0.panicked() },
    Matcher(tools: "Swift Testing", needs: .number) { $0.recordedIssue() },
    Matcher(tools: "Node.js", begins: "/f", needs: .number) { $0.nodeSyntax() },
    Matcher(tools: "Node.js, jest, Java, JUnit", begins: "a", needs: .number) { $0.stack() },
    Matcher(tools: "node --test", begins: "l", needs: .number) { $0.tap() },
    Matcher(tools: "Go", begins: "pf", needs: .mark) { $0.goPanic() },
    Matcher(tools: "go test", needs: .number) { $0.goTest() },
    Matcher(tools: "eslint", begins: "0123456789", needs: .number) { $0.stylish() },
    Matcher(tools: "pytest", needs: .number) { $0.pytest() },
    Matcher(tools: "ld, lld", needs: .mark) { $0.linker() },
    Matcher(tools: "make", needs: .mark) { $0.make() },
    Matcher(
      tools: "swift, XCTest, clang, gcc, javac, tsc, mypy, zig, dotnet, Meson", needs: .number
    ) { $0.severity() },
    Matcher(tools: "Go, ruff, eslint, flake8", needs: .number) { $0.plain() },
    Matcher(tools: "sh, bash", needs: .mark) { $0.shell() },
    Matcher(tools: "deno", needs: .mark) { $0.general() },
  ]
}
