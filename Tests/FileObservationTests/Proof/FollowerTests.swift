import FileObservation
import SystemCalls
import TestSupport
import Testing

struct FollowerTests {
  private static func follower(of directory: TemporaryDirectory) throws -> Follower {
    var settings = Script.Settings()
    settings.ignore = [Array("/ignored/".utf8)]
    return try Follower(of: directory.path, knowing: Counting(settings, in: directory.path))
  }

  private static func kinds(
    _ changes: [ChangeBatch.Change], _ follower: inout Follower, _ names: [Path: Bool]? = nil
  ) throws -> [String] {
    let batches = changes.isEmpty ? [] : [ChangeBatch(number: 1, changes: changes)]
    return try follower.follow(batches, names: names).map(\.kind)
  }

  @Test
  func
    `a renamed directory stands for the entries that were included before, and for nothing else`()
    throws
  {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("a/d")
    try directory.write("1", to: "a/d/f")
    var follower = try Self.follower(of: directory)
    let renamed = { ChangeBatch.Change(path: $1, kind: .renamed, type: .directory, from: $0) }

    try directory.rename("a", to: "b")
    #expect(try Self.kinds([renamed(directory["a"], directory["b"])], &follower) == [])
    try directory.rename("b", to: "ignored")
    let removed = ChangeBatch.Change(path: directory["b"], kind: .removed, type: .unknown)
    #expect(try Self.kinds([removed], &follower) == [])
    try directory.rename("ignored", to: "c")
    let created = ChangeBatch.Change(path: directory["c"], kind: .created, type: .directory)
    #expect(try Self.kinds([created], &follower) == ["unknown change", "unknown change"])
  }

  @Test func `each kind of fault is found`() throws {
    let directory = try TemporaryDirectory()
    try directory.makeDirectories("ignored")
    var follower = try Self.follower(of: directory)
    let created = { ChangeBatch.Change(path: $0, kind: .created, type: .file) }

    try directory.write("1", to: "f")
    #expect(try Self.kinds([], &follower) == ["lost run", "unknown change"])
    try directory.write("2", to: "f")
    try directory.write("2", to: "ignored/f")
    let known = [
      ChangeBatch.Change(path: directory["f"], kind: .modified, type: .file),
      created(directory["ignored/f"]), created(directory["never"]),
    ]
    #expect(try Self.kinds(known, &follower) == ["ignored path", "invented path"])
    // An entry that was created and removed during a burst has existed.
    #expect(
      try Self.kinds([created(directory["g"])], &follower, [directory["g"]: true]) == [])
  }
}
