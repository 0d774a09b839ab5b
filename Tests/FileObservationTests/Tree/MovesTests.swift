import SystemCalls
import Testing

@testable import FileObservation

struct MovesTests {
  private var moves = Moves()

  private mutating func rename(_ old: Path, to new: Path, inode: UInt64) {
    let sighting = Moves.Sighting(inode: inode, fingerprint: nil, mayBeMove: true)
    moves.add(RawEvent(path: old, kind: .removed, type: .file), disappeared: sighting)
    moves.add(RawEvent(path: new, kind: .created, type: .file), appeared: sighting)
  }

  @Test mutating func `replacing events keeps their sightings and awaited arrivals`() {
    rename("/a", to: "/b", inode: 1)
    moves.departed(7)
    let link = RawEvent(path: "/link", kind: .modified(isOpen: false), type: .symlink)
    moves.replaceEvents { _, event in event.path == "/b" ? [event, link] : [event] }
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
}
