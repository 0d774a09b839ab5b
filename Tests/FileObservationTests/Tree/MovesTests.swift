import SystemCalls
import Testing

@testable import FileObservation

struct MovesTests {
  private var moves = Moves()

  private mutating func rename(
    _ old: Path, to new: Path, inode: UInt64, _ type: FileType = .file
  ) {
    let sighting = Moves.Sighting(inode: inode, fingerprint: nil, mayBeMove: true)
    moves.add(RawEvent(path: old, kind: .removed, type: type), disappeared: sighting)
    moves.add(RawEvent(path: new, kind: .created, type: type), appeared: sighting)
  }

  @Test mutating func `replacing events keeps their sightings and awaited arrivals`() {
    rename("/a", to: "/b", inode: 1)
    moves.departed(7)
    let link = RawEvent(path: "/link", kind: .modified(isOpen: false), type: .symlink)
    moves.replaceEvents { event in event.path == "/b" ? [event, link] : [event] }
    #expect(moves.isAwaitingArrival)
    let from = RawEvent(path: "/a", kind: .movedFrom(cookie: 0), type: .file)
    let to = RawEvent(path: "/b", kind: .movedTo(cookie: 0, replacing: false), type: .file)
    #expect(moves.pairedEvents() == [from, to, link])
  }

  @Test mutating func `a name that a file only passed through is not reported`() {
    rename("/a", to: "/b", inode: 1)
    rename("/b", to: "/c", inode: 1)
    #expect(moves.pairedEvents().map(\.path) == ["/a", "/c"])
  }

  @Test mutating func `a write under an intermediate name of a file counts`() {
    rename("/a", to: "/b", inode: 1)
    let written = RawEvent(path: "/b", kind: .modified(isOpen: false), type: .file)
    moves.add(written, written: 1)
    rename("/b", to: "/c", inode: 1)
    let from = RawEvent(path: "/a", kind: .movedFrom(cookie: 0), type: .file)
    let to = RawEvent(path: "/c", kind: .movedTo(cookie: 0, replacing: false), type: .file)
    let result = RawEvent(path: "/c", kind: .modified(isOpen: false), type: .file)
    #expect(moves.pairedEvents() == [from, to, result])
  }

  @Test mutating func `a write before a rename counts for the new name`() {
    moves.add(RawEvent(path: "/a", kind: .modified(isOpen: false), type: .file), written: 1)
    rename("/a", to: "/b", inode: 1)
    let from = RawEvent(path: "/a", kind: .movedFrom(cookie: 0), type: .file)
    let to = RawEvent(path: "/b", kind: .movedTo(cookie: 0, replacing: false), type: .file)
    let result = RawEvent(path: "/b", kind: .modified(isOpen: false), type: .file)
    #expect(moves.pairedEvents() == [from, to, result])
  }

  @Test mutating func `a write to another file at the path stays at the path`() {
    let written = RawEvent(path: "/a", kind: .modified(isOpen: false), type: .file)
    moves.add(written, written: 2)
    rename("/a", to: "/b", inode: 1)
    #expect(moves.pairedEvents().filter { $0.kind == written.kind } == [written])
  }

  @Test mutating func `a directory departs after what was renamed out of it`() {
    rename("/a", to: "/b", inode: 1, .directory)
    rename("/a/d", to: "/d", inode: 2, .directory)
    var coalescer = Coalescer()
    coalescer.note(RawEvent(path: "/a/d/f", kind: .modified(isOpen: false), type: .file))
    for event in moves.pairedEvents() { coalescer.note(event) }
    let changes = coalescer.take().map { "\($0.kind) \($0.path)" }
    #expect(changes.sorted() == ["modified /d/f", "renamed /b", "renamed /d"])
  }
}
