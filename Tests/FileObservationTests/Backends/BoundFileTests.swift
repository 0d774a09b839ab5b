#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// Files and directories that are mounted over others, as by `docker run -v ./f:/app/f`.
struct BoundFileTests {
  @Test(.enabled("only root may mount") { await canBind() }, arguments: backendsUnderTest)
  func `a watched file is modified by a write through a file that is mounted over it`(
    backend: BackendUnderTest
  ) async throws {
    let outside = try TemporaryDirectory()
    try outside.write("old", to: "source")
    let observed = try await ObservedDirectory(
      by: backend, [.init(path: Array("f".utf8))],
      prepare: { directory in
        try File.write("mount point", to: directory.appending("f"))
        try await shell("mount --bind \(outside["source"]) f", in: directory)
      })
    let bound = observed.path.appending("f")
    defer { unmount(bound) }
    try outside.append("new", to: "source")
    let changes = try await observed.settle().flatMap(\.changes)
    #expect(changes.map(\.path) == [bound])
    #expect(changes.map(\.kind) == [.modified])

    try outside.append("newer", to: "source")
    #expect(try await observed.settle().flatMap(\.changes).map(\.path) == [bound])
  }

  @Test(.enabled("only root may mount") { await canBind() }, arguments: backendsUnderTest.prefix(1))
  func `a root in a file system that is mounted again is observed`(
    backend: BackendUnderTest
  ) async throws {
    let outside = try TemporaryDirectory()
    try outside.makeDirectories("project")
    try outside.write("0", to: "project/f")
    let observed = try await ObservedDirectory(
      by: backend, [.init(path: Array("volume/project".utf8))],
      prepare: { directory in
        try await shell("mkdir volume && mount --bind \(outside.path) volume", in: directory)
      })
    let volume = observed.path.appending("volume")
    unmount(volume)
    let root = volume.appending("project")
    #expect(await reported(by: observed) { $0.kind == .removed && $0.path == root })
    try await shell("mount --bind \(outside.path) volume", in: observed.path)
    defer { unmount(volume) }
    #expect(await reported(by: observed) { $0.kind == .created && $0.path == root })
    try outside.write("1", to: "project/f")
    #expect(await reported(by: observed) { $0.path == root.appending("f") })
  }
}

/// Whether such a change is reported in time. The kernel tells of mounts apart from other changes.
private func reported(
  by observed: ObservedDirectory, _ isMeant: (ChangeBatch.Change) -> Bool
) async -> Bool {
  for _ in 0..<100 {
    guard let batches = try? await observed.settle() else { return false }
    if batches.flatMap(\.changes).contains(where: isMeant) { return true }
  }
  return false
}

private func canBind() async -> Bool {
  guard let directory = try? TemporaryDirectory(), (try? directory.write(to: "one")) != nil,
    (try? directory.write(to: "other")) != nil,
    (try? await shell("mount --bind one other && umount other", in: directory.path)) != nil
  else { return false }
  return true
}

private func unmount(_ path: Path) {
  _ = path.withCString { umount2($0, detached) }
}

/// `MNT_DETACH`
private let detached: Int32 = 2

@_silgen_name("umount2")
private func umount2(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32

#endif
