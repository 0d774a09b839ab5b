import FileObservation
import SystemCalls
import TestSupport
import Testing

struct FollowerTests {
  private static func follower(of folder: TemporaryDirectory) throws -> Follower {
    var settings = Script.Settings()
    settings.ignore = [Array("/ignored/".utf8)]
    return try Follower(of: folder.path, knowing: Counting(settings, in: folder.path))
  }

  private static func kinds(
    _ changes: [ChangeBatch.Change], _ follower: inout Follower, _ names: [Path: Bool]? = nil
  ) throws -> [String] {
    let batches = changes.isEmpty ? [] : [ChangeBatch(number: 1, changes: changes)]
    return try follower.follow(batches, names: names).map(\.kind)
  }

  @Test func `a renamed directory stands for what counted in it, and for nothing else`() throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("a/d")
    try folder.write("1", to: "a/d/f")
    var follower = try Self.follower(of: folder)
    let renamed = { ChangeBatch.Change(path: $1, kind: .renamed, type: .directory, from: $0) }

    try folder.rename("a", to: "b")
    #expect(try Self.kinds([renamed(folder["a"], folder["b"])], &follower) == [])
    try folder.rename("b", to: "ignored")
    let removed = ChangeBatch.Change(path: folder["b"], kind: .removed, type: .unknown)
    #expect(try Self.kinds([removed], &follower) == [])
    try folder.rename("ignored", to: "c")
    let created = ChangeBatch.Change(path: folder["c"], kind: .created, type: .directory)
    #expect(try Self.kinds([created], &follower) == ["unknown change", "unknown change"])
  }

  @Test func `each kind of fault is found`() throws {
    let folder = try TemporaryDirectory()
    try folder.makeDirectories("ignored")
    var follower = try Self.follower(of: folder)
    let created = { ChangeBatch.Change(path: $0, kind: .created, type: .file) }

    try folder.write("1", to: "f")
    #expect(try Self.kinds([], &follower) == ["lost run", "unknown change"])
    try folder.write("2", to: "f")
    try folder.write("2", to: "ignored/f")
    let known = [
      ChangeBatch.Change(path: folder["f"], kind: .modified, type: .file),
      created(folder["ignored/f"]), created(folder["never"]),
    ]
    #expect(try Self.kinds(known, &follower) == ["ignored path", "invented path"])
    // What came and went during a burst was there.
    #expect(
      try Self.kinds([created(folder["g"])], &follower, [folder["g"]: true]) == [])
  }
}
