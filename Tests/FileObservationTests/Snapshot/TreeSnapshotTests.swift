import SystemCalls
import Testing

@testable import FileObservation

extension TreeSnapshot {
  mutating func insert(_ name: String, _ type: FileType = .file, in parent: Entry) -> Entry {
    Array(name.utf8).withUnsafeBufferPointer { insert($0, type, inode: 0, in: parent) }
  }

  func child(_ name: String, of parent: Entry) -> Entry? {
    Array(name.utf8).withUnsafeBufferPointer { child($0, of: parent) }
  }
}

struct TreeSnapshotTests {
  private var snapshot = TreeSnapshot()
  private let root = TreeSnapshot.root

  @Test func `a new snapshot contains the root only`() {
    #expect(snapshot.count == 1)
    #expect(snapshot.path(of: root) == "/")
    #expect(snapshot.type(of: root) == .directory)
    #expect(snapshot.parent(of: root) == nil)
    #expect(snapshot.children(of: root).isEmpty)
  }

  @Test mutating func `an entry has a parent, a name, a type and a path`() {
    let directory = snapshot.insert("directory", .directory, in: root)
    let file = snapshot.insert("file", in: directory)
    #expect(snapshot.parent(of: file) == directory)
    #expect(snapshot.name(of: file).elementsEqual("file".utf8))
    #expect(snapshot.type(of: file) == .file)
    #expect(snapshot.path(of: file) == "/directory/file")
    #expect(snapshot.count == 3)
    #expect(snapshot.children(of: directory) == [file])
  }

  @Test(arguments: FileType.allCases)
  mutating func `every type is kept`(type: FileType) {
    let entry = snapshot.insert("a", .file, in: root)
    snapshot.setType(type, of: entry)
    #expect(snapshot.type(of: entry) == type)
  }

  @Test mutating func `an entry is found by its parent and its name`() {
    let a = snapshot.insert("a", .directory, in: root)
    let b = snapshot.insert("b", .directory, in: root)
    let inA = snapshot.insert("x", in: a)
    let inB = snapshot.insert("x", in: b)
    #expect(snapshot.child("x", of: a) == inA)
    #expect(snapshot.child("x", of: b) == inB)
    #expect(snapshot.child("x", of: root) == nil)
    #expect(snapshot.child("y", of: a) == nil)
    #expect(Set(snapshot.children(of: root)) == [a, b])
  }

  @Test mutating func `a name may be longer than 255 bytes`() {
    let (name, other) = (String(repeating: "名", count: 255), String(repeating: "名", count: 254))
    let long = snapshot.insert(name, .directory, in: root)
    let file = snapshot.insert("f", in: long)
    #expect(snapshot.child(name, of: root) == long)
    #expect(snapshot.child(other, of: root) == nil)
    #expect(snapshot.path(of: file) == Path("/\(name)/f"))
  }

  @Test mutating func `two spellings of a name are two entries`() {
    let composed = snapshot.insert("caf\u{E9}", in: root)
    #expect(snapshot.child("cafe\u{301}", of: root) == nil)
    let decomposed = snapshot.insert("cafe\u{301}", in: root)
    #expect(composed != decomposed)
  }

  @Test mutating func `an entry is removed with its descendants, the deepest first`() {
    let a = snapshot.insert("a", .directory, in: root)
    let b = snapshot.insert("b", .directory, in: a)
    _ = snapshot.insert("c", in: b)
    let kept = snapshot.insert("kept", in: root)
    var paths: [Path] = []
    // A copy, since the closure must not capture the snapshot.
    let mirror = snapshot
    snapshot.remove(a) { paths.append(mirror.path(of: $0)) }
    #expect(paths == ["/a/b/c", "/a/b", "/a"])
    #expect(snapshot.count == 2)
    #expect(snapshot.child("a", of: root) == nil)
    #expect(snapshot.children(of: root) == [kept])
  }

  @Test mutating func `an entry keeps its fingerprint until it is removed`() throws {
    let a = snapshot.insert("a", in: root)
    let b = snapshot.insert("b", in: root)
    let fingerprint = Fingerprint(try FileStatus(of: "/"))
    snapshot.setFingerprint(fingerprint, of: a)
    snapshot.setInode(fingerprint.inode, of: a)
    #expect(snapshot.fingerprint(of: a) == fingerprint)
    #expect(snapshot.fingerprint(of: b) == nil)
    snapshot.remove(a)
    let c = snapshot.insert("c", in: root)
    #expect(snapshot.fingerprint(of: c) == nil)
    snapshot.setFingerprint(fingerprint, of: b)
    snapshot.setFingerprint(nil, of: b)
    #expect(snapshot.fingerprint(of: b) == nil)
  }

  @Test mutating func `an entry is within itself and its ancestors`() {
    let a = snapshot.insert("a", .directory, in: root)
    let b = snapshot.insert("b", .directory, in: a)
    #expect(snapshot.isWithin(b, a))
    #expect(snapshot.isWithin(b, b))
    #expect(snapshot.isWithin(b, root))
    #expect(!snapshot.isWithin(a, b))
  }

  @Test mutating func `marks are set and removed one by one, and not inherited`() {
    let a = snapshot.insert("a", in: root)
    snapshot.mark(a, [.root, .seen])
    snapshot.mark(a, .absent)
    snapshot.unmark(a, .seen)
    #expect(snapshot.marks(of: a) == [.root, .absent])
    snapshot.remove(a)
    let b = snapshot.insert("b", in: root)
    #expect(snapshot.marks(of: b) == [])
  }

  @Test mutating func `a path replaces the contents of the buffer`() {
    let a = snapshot.insert("a", in: root)
    var bytes = Array("something longer".utf8)
    snapshot.writePath(of: a, into: &bytes)
    #expect(bytes == Array("/a".utf8))
    snapshot.writePath(of: root, into: &bytes)
    #expect(bytes == Array("/".utf8))
  }

  @Test mutating func `the path of a name in a directory is the same with and without an entry`() {
    let a = snapshot.insert("a", .directory, in: root)
    for (directory, expected, start) in [(root, "/name", 1), (a, "/a/name", 3)] {
      let (path, nameStart) = Array("name".utf8).withUnsafeBufferPointer { name in
        snapshot.withPath(of: name, in: directory, ()) { (Array($1), $2) }
      }
      #expect(path == Array(expected.utf8))
      #expect(nameStart == start)
    }
  }

  @Test mutating func `the longest names are kept`() {
    let long = String(repeating: "n", count: 255)
    let entry = snapshot.insert(long, in: root)
    #expect(snapshot.child(long, of: root) == entry)
    #expect(snapshot.name(of: entry).count == 255)
  }
}
