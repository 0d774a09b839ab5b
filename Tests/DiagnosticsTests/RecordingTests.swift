import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import Diagnostics
@testable import WatchrunSettings

/// What is found in the outputs of tools, as recorded.
struct RecordingTests {
  /// A file in `Recordings`: the tool, the kinds of projects that start it, the files of its directory and lines of
  /// them that matter, what is found, and the output. `@DIRECTORY@` stands for the directory.
  private struct Recording {
    var files: [String] = []
    /// The files that are not empty.
    var sources: [String: String] = [:]
    var found: [String] = []
    /// The kinds of projects whose tasks print this.
    var detected: [String] = []
    var output: String

    init(_ name: String) throws {
      let url = RecordingTests.directory.appendingPathComponent(name)
      let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
      let parts = try #require(text.range(of: "\noutput:\n"))
      output = String(text[parts.upperBound...])
      for line in text[..<parts.lowerBound].split(separator: "\n") {
        if let words = line.wholeMatch(of: /files: (.*)/) {
          files = words.1.split(separator: " ").map(String.init)
        } else if let words = line.wholeMatch(of: /source: (\S+):(\d+): (.*)/) {
          let before = String(repeating: "\n", count: (Int(words.2) ?? 1) - 1)
          sources[String(words.1)] = before + words.3 + "\n"
        } else if let words = line.wholeMatch(of: /detected: (.*)/) {
          detected = words.1.split(separator: " ").map(String.init)
        } else if let words = line.wholeMatch(of: /finds: (.*)/) {
          found.append(String(words.1))
        }
      }
    }
  }

  private static let directory = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().appendingPathComponent("Recordings")

  private static let names =
    (try? FileManager.default.contentsOfDirectory(atPath: directory.path))?.sorted() ?? []

  @Test(arguments: names) func `each diagnostic of a tool is found once`(name: String) throws {
    let recording = try Recording(name)
    let directory = try TemporaryDirectory()
    for file in recording.files {
      let path = directory[file].description
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try directory.write(recording.sources[file] ?? "x", to: file)
    }
    func complete(_ text: String) -> String {
      text.replacing("@DIRECTORY@", with: directory.path.description)
    }
    let output = Array(complete(recording.output).utf8)
    let found = DiagnosticReader.diagnostics(in: output, of: directory.path)
    #expect(found.map { $0.quickfixLine(in: directory.path) } == recording.found.map(complete))
  }

  /// Runners only run commands of others.
  @Test(arguments: ProjectDetection.kinds.filter { $0.role != .runner }.map(\.name))
  func `what a detected project prints is recorded`(kind: String) throws {
    #expect(try Self.names.contains { try Recording($0).detected.contains(kind) })
  }
}
