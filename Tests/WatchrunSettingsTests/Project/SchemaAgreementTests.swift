import Support
import TestSupport
import Testing

@testable import WatchrunSettings

/// The schema accepts what the reader accepts, and says names and types.
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
    let count = Effort.count(1000, quick: 100)
    for seed in 0..<UInt64(count) {
      var generator = ProjectFileGenerator(seed: seed)
      let text = generator.file()
      guard problems(text).isEmpty else { continue }
      validCount += 1
      #expect(try evaluator.accepts(JSONValue(parsing: Array(text.utf8))), "\(text)")
    }
    #expect(validCount > count / 4, "\(validCount) of \(count) are valid")
  }

  @Test(arguments: [
    "{ 'run': 1 }", "{ 'run': 'x', 'prot': 80 }", "{ 'watch': 'x' }", "{ 'proxy': false }",
    "{ 'run': 'x', 'service': 'yes' }", "{ 'run': 'x', 'service': true, 'port': 0 }",
    "{ 'run': 'x', 'service': true, 'ready': { 'prot': 80 } }",
    "{ 'run': 'x', 'service': true, 'ready': { 'timeout': '1s' } }",
    "{ 'run': 'x', 'onBusy': 'wait' }", "{ 'run': 'x', 'events': ['made'] }",
    "{ 'run': 'x', 'env': { 'A': 1 } }", "{ 'run': 'x', 'watch': [1] }",
    "{ 'run': 'x {tests}', 'map': { 'a': 1 } }", "{ 'serve': 'x', 'headers': { 'A': 1 } }",
    "{ 'serve': 'x', 'run': 'y' }", "{ 'serve': 'x', 'proxy': { '/a': true } }",
  ])
  func `both refuse a task with an unknown key or a value of another type`(task: String) throws {
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
