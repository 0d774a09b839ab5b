import FileObservation
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// Compiled modules on disk, in the form that Python gives them.
struct PythonCachesTests {
  /// 1,700,000,000 s after 1970, and 3 bytes.
  private static let header: [UInt8] = [
    0xA7, 0x0D, 0x0D, 0x0A, 0, 0, 0, 0, 0x00, 0xF1, 0x53, 0x65, 3, 0, 0, 0,
  ]

  @Test func `what may be made of a save in the same second is removed, and nothing else`() throws {
    let directory = try TemporaryDirectory()
    try directory.write("x=1", to: "mod.py")
    let time = FileTime(nanoseconds: 1_700_000_000_700_000_000)
    try directory.write("x=1", to: "mod.old.py")
    for name in ["mod.py", "mod.old.py"] { #expect(setTimes(time, of: directory[name])) }
    try File.makeDirectories(directory["__pycache__"])
    func header(_ index: Int, _ byte: UInt8) -> [UInt8] {
      var header = Self.header
      header[index] = byte
      return header
    }
    let caches = [
      "mod.cpython-311.pyc": Self.header, "mod.cpython-311-pytest-9.0.pyc": Self.header,
      // Of another second, of another size, compared by a hash, cut, and of another module.
      "mod.cpython-310.pyc": header(8, 1), "mod.cpython-39.pyc": header(12, 4),
      "mod.cpython-38.pyc": header(4, 1), "mod.cpython-37.pyc": Array(Self.header.prefix(15)),
      "model.cpython-311.pyc": Self.header,
      // The name of a script may have a dot.
      "mod.old.cpython-311.pyc": Self.header,
    ]
    for (name, bytes) in caches { try File.write(bytes, to: directory["__pycache__/\(name)"]) }
    PythonCaches.removeUncertain([
      .init(path: directory["mod.py"], kind: .modified, type: .file),
      .init(path: directory["mod.old.py"], kind: .modified, type: .file),
      .init(path: directory["gone.py"], kind: .removed, type: .file),
    ])
    let left = caches.keys.filter { (try? FileStatus(of: directory["__pycache__/\($0)"])) != nil }
    #expect(
      left.sorted() == [
        "mod.cpython-310.pyc", "mod.cpython-37.pyc", "mod.cpython-38.pyc", "mod.cpython-39.pyc",
        "model.cpython-311.pyc",
      ])
  }
}
