#if os(Linux)

import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

/// A file that is mounted over another, as by `docker run -v ./f:/app/f`.
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
