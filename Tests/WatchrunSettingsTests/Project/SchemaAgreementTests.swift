import Support
import TestSupport
import Testing

@testable import WatchrunSettings

/// The schema and the reader agree on which files are valid.
struct SchemaAgreementTests {
  private func evaluator() throws -> SchemaEvaluator {
    SchemaEvaluator(try JSONValue(parsing: Array(ProjectSchema.text.utf8)))
  }

  private func problems(_ text: String) -> [String] {
    ProjectProblems.of(Array(text.utf8), as: "f").map(\.description)
  }

  @Test func `the schema accepts what the reader accepts, in generated files`() throws {
    let evaluator = try evaluator()
    var validCount = 0
    var disagreements: [String] = []
    let count = Effort.count(1000, quick: 250)
    for seed in 0..<UInt64(count) {
      var generator = ProjectFileGenerator(seed: seed)
      let text = generator.file()
      let problems = problems(text)
      if problems.isEmpty { validCount += 1 }
      if try evaluator.accepts(JSONValue(parsing: Array(text.utf8))) != problems.isEmpty {
        disagreements.append("\(text)\n  the reader: \(problems)")
      }
    }
    #expect(disagreements.isEmpty, "\(disagreements.prefix(5).joined(separator: "\n"))")
    #expect(
      (count * 3 / 10...count * 7 / 10).contains(validCount), "\(validCount) of \(count) are valid")
  }

  private static let tasks = [
    "{ 'run': 'x', 'ready': { 'port': 80 } }",
    "{ 'run': 'x', 'service': false, 'ready': { 'port': 80 } }",
    "{ 'run': 'x', 'service': true, 'timeout': '1s' }",
    "{ 'run': 'x', 'keepAlive': true, 'onBusy': 'queue' }",
    "{ 'run': 'x', 'backOff': '1s' }", "{ 'run': 'x', 'keepAlive': true, 'restartLimit': 1 }",
    "{ 'run': 'x', 'stop': 'y' }", "{ 'run': 'x', 'port': 'auto' }",
    "{ 'run': 'x', 'manual': true, 'watch': 'src' }",
    "{ 'run': 'x', 'manual': true, 'exts': 'c' }",
    "{ 'run': 'x', 'service': true, 'ready': { 'port': 80, 'status': 200 } }",
    "{ 'run': ['', 'x'] }",
    "{ 'run': 'x', 'stopSignal': 'TREM' }",
    "{ 'run': 'x', 'timeout': '0' }",
    "{ 'run': 'x', 'env': { '': 'x' } }",
    "{ 'run': 'x', 'env': { 'A=B': 'x' } }",
    "{ 'run': 'x', 'watch': [], 'exts': 'c' }",
    "{ 'run': 'x', 'after': [], 'ignore': 'c' }",
    "{ 'run': 'x', 'after': [], 'writes': 'c' }",
    "{ 'run': 'x', 'map': { 'a': 'b' } }", "{ 'run': 'x {tests}' }", "{ 'run': ['{tests}'] }",
    "{ 'run': 'x {tests}', 'map': {} }", "{ 'run': 'x {tests}', 'map': { 'a': [] } }",
    "{ 'run': 'x {tests}', 'map': { 'a': 'b' }, 'service': true }",
    "{ 'run': 'x {tests}', 'map': { 'a': 'b' }, 'after': [] }",
    "{ 'run': 'x', 'each': 'a', 'directory': 'b' }",
    "{ 'run': 'x', 'each': 'a', 'keepAlive': true }",
    "{ 'run': 'x', 'each': 'a', 'manual': true, 'exts': 'c' }",
    "{ 'serve': 'x', 'proxy': 80 }", "{ 'serve': 'x', 'proxy': { '/': 80 } }",
    "{ 'serve': 'x', 'proxy': {} }", "{ 'proxy': { '/a': 80 } }",
    "{ 'serve': 'x', 'proxy': { 'a': 80 } }", "{ 'serve': 'x', 'proxy': { '/a%2': 80 } }",
    "{ 'serve': 'x', 'proxy': { '/a': 'b c' } }", "{ 'serve': 'x', 'proxy': { '/a//b': 80 } }",
    "{ 'proxy': 80, 'listing': true }",
    "{ 'serve': 'x', 'headers': { 'A': 1 } }", "{ 'serve': 'x', 'headers': { 'A:': '' } }",
    "{ 'serve': 'x', 'headers': { 'A': '\\r' } }",
    "{ 'serve': 'x', 'headers': { 'content-LENGTH': '1' } }",
    "{ 'run': 'x', 'filter': 'a[' }", "{ 'run': 'x', 'filter': '!' }",
    "{ 'run': 'x', 'filter': '!/' }",
    "{ 'run': 'x', 'filter': '/ ' }",
  ]

  @Test(arguments: tasks)
  func `both refuse a task with keys that exclude each other or an invalid value`(
    task: String
  ) throws {
    let text = "{ 'tasks': { 't': \(task) } }"
    #expect(!problems(text).isEmpty)
    #expect(try !evaluator().accepts(JSONValue(parsing: Array(text.utf8))))
  }

  @Test(arguments: [
    "{ 'run': 'x', 'keepAlive': true, 'ready': { 'line': 'up', 'timeout': '5s' } }",
    "{ 'run': 'x', 'service': true, 'keepAlive': true }",
    "{ 'run': 'x', 'writes': ['a', 'log/**'] }",
    "{ 'run': 'x {tests}|y', 'map': { 'a(.*)': ['b$1', '$0'], 'c': 'd' } }",
    "{ 'run': ['x', '{tests}'], 'map': { 'a': 'b' }, 'service': false }",
    "{ 'run': 'x', 'each': ['a', '!b/c'], 'after': [], 'watch': [], 'exts': 'c' }",
    "{ 'run': 'x', 'each': [], 'service': true, 'directory': 'a' }",
    "{ 'run': 'x{tests}' }", "{ 'run': ['x {tests}'] }",
    "{ 'run': 'x', 'service': true, 'stop': ['a', 'b'], 'manual': true, 'after': [], 'ready': { 'run': 'y', 'interval': '1s' } }",
    "{ 'run': 'x', 'service': true, 'ready': { 'url': 'https://a:1/', 'status': [200, 401] } }",
    "{ 'run': ['x', ''], 'watch': 'src', 'exts': ['c', 'h'], 'stopSignal': 'sigint' }",
    "{ 'serve': 'x', 'listing': true, 'fallback': 'index.html', 'host': '::1' }",
    "{ 'serve': 'x', 'listing': true, 'proxy': { '/a/b%20/': 80, '/c': 'http://a' } }",
    "{ 'proxy': { '/': 80, '/c': 'http://a' }, 'headers': { 'Connections': 'a, b' } }",
  ])
  func `both accept a valid task`(task: String) throws {
    let text = "{ '$schema': 'x', 'debounce': '50ms', 'poll': true, 'tasks': { 't': \(task) } }"
    #expect(problems(text).isEmpty)
    #expect(try evaluator().accepts(JSONValue(parsing: Array(text.utf8))))
  }
}
