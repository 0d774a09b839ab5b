import SystemCalls
import Testing

@testable import FileObservation

struct BatchCompositionTests {
  private func netChanges(
    _ batches: [[ChangeBatch.Change]], existing: Set<Path> = []
  ) -> [ChangeBatch.Change] {
    var composition = BatchComposition(existing: existing)
    for changes in batches { composition.add(ChangeBatch(number: 1, changes: changes)) }
    return composition.netChanges().sorted { $0.path < $1.path }
  }

  @Test func `a removal between two renames of a directory is one under the first path`() {
    let changes = netChanges([
      [.renamed("e", from: "d", .directory)], [.removed("e/x/f"), .removed("e/x")],
      [.renamed("g", from: "e", .directory)],
    ])
    #expect(changes == [.removed("d/x"), .removed("d/x/f"), .renamed("g", from: "d", .directory)])
  }

  @Test func `a change after the rename of a directory is one under the new path`() {
    let changes = netChanges([
      [.renamed("e", from: "d", .directory)], [.modified("e/f"), .created("e/g")],
    ])
    #expect(
      changes == [.renamed("e", from: "d", .directory), .modified("e/f"), .created("e/g")])
  }

  @Test func `a directory whose name is reused after a removal in it is not renamed`() {
    let changes = netChanges([
      [.renamed("n", from: "e", .directory)], [.removed("n/f")],
      [.created("e", .directory), .created("e/f")],
    ])
    #expect(
      changes == [.modified("e", .directory), .modified("e/f"), .created("n", .directory)])
  }

  @Test func `the renames of a batch start from the tree before it`() {
    let changes = netChanges([
      [
        .removed("d/c"), .renamed("d", from: "b/a", .directory),
        .renamed("b/a", from: "d", .directory),
      ],
      [.renamed("d/c", from: "b", .directory)],
    ])
    #expect(
      changes == [
        .renamed("d", from: "b/a", .directory), .renamed("d/c", from: "b", .directory),
        .created("d/c/a", .directory),
      ])
  }

  @Test func `a file that is created, and renamed over another later, modifies it`() {
    let batches: [[ChangeBatch.Change]] = [
      [.created("f.new"), .created("g.new")],
      [.renamed("f", from: "f.new"), .renamed("g", from: "g.new")],
    ]
    #expect(netChanges(batches, existing: ["f"]) == [.modified("f"), .created("g")])
  }
}
