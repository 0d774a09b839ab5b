import FileObservation
import SystemCalls
import TestSupport
import Testing

struct TreePictureTests {
  private static func change(
    _ kind: ChangeBatch.Kind, _ path: Path, from: Path? = nil
  ) -> ChangeBatch.Change {
    ChangeBatch.Change(path: path, kind: kind, type: .unknown, from: from)
  }

  @Test func `what is told of all changes makes it equal a new one`() throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("a/b")
    try folder.write("1", to: "a/b/f")
    try folder.write("2", to: "g")
    try folder.link("l", to: "g")
    var picture = try TreePicture(of: folder.path)
    #expect(picture.nodes[folder["a/b/f"]] == .file(content: Array("1".utf8)))
    #expect(picture.nodes[folder["l"]] == .symlink(target: Array("g".utf8)))

    try folder.rename("a", to: "c")
    try folder.write("3", to: "c/b/f")
    try folder.remove("g")
    try folder.makeDirectories("n")
    try folder.write("4", to: "n/h")
    let changes = [
      Self.change(.renamed, folder["c"], from: folder["a"]),
      Self.change(.modified, folder["c/b/f"]), Self.change(.removed, folder["g"]),
      Self.change(.created, folder["n"]), Self.change(.created, folder["n/h"]),
    ]
    try picture.apply([ChangeBatch(number: 1, changes: changes)], trusting: .eachPathIsTold)
    #expect(picture.differences(from: try TreePicture(of: folder.path)) == [])
  }

  @Test func `each change that is not told of is a difference`() throws {
    let folder = try TemporaryDirectory()
    for name in ["f", "g", "h"] { try folder.write("old", to: name) }
    var picture = try TreePicture(of: folder.path)
    try folder.write("new", to: "f")
    try folder.remove("g")
    try folder.makeDirectories("n")
    try folder.write("x", to: "n/i")
    try folder.rename("h", to: "j")
    try picture.apply(
      [
        ChangeBatch(number: 1, changes: [Self.change(.created, folder["n"])]),
        ChangeBatch(number: 2, changes: [Self.change(.created, folder["never"])]),
      ], trusting: .eachPathIsTold)
    let differences = picture.differences(from: try TreePicture(of: folder.path))
    #expect(
      differences == [
        "\(folder["f"]): a file of 'new' is taken for a file of 'old'",
        "\(folder["g"]): nothing is taken for a file of 'old'",
        "\(folder["h"]): nothing is taken for a file of 'old'",
        "\(folder["j"]): a file of 'old' is taken for nothing",
        "\(folder["n/i"]): a file of 'x' is taken for nothing",
      ])
  }

  @Test func `who hears of a folder may read it`() throws {
    let folder = try TemporaryDirectory()
    var picture = try TreePicture(of: folder.path)
    try folder.makeDirectories("n")
    try folder.write("x", to: "n/i")
    let batch = ChangeBatch(number: 1, changes: [Self.change(.created, folder["n"])])
    try picture.apply([batch], trusting: .foldersAreRead)
    #expect(picture.differences(from: try TreePicture(of: folder.path)) == [])
  }
}
