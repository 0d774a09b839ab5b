import SystemCalls
import Testing

@testable import FileObservation

private typealias Change = ChangeBatch.Change

/// A memory of files on a fake disk.
private struct Remembered {
  let disk = FakeDisk()
  var memory: ContentMemory
  var wanted = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])

  init(mostFiles: Int = 1000) {
    memory = ContentMemory(mostFiles: mostFiles)
  }

  /// The changes that are reported.
  mutating func reported(_ changes: Change...) -> [Change] {
    memory.filterUnchanged(changes, wanted: wanted) { [disk] in disk.digest(of: $0) }
  }

  /// Creates a file, and reports it.
  mutating func know(_ path: Path, _ content: String = "A") {
    disk.write(content, to: path)
    #expect(reported(.created(path)) == [.created(path)])
  }
}

struct ContentMemoryTests {
  @Test func `unchanged content is not reported again`() {
    var files = Remembered()
    files.know("/d/f")
    #expect(files.reported(.modified("/d/f")) == [])
    files.disk.replace("/d/f", with: "A")
    #expect(files.reported(.modified("/d/f")) == [])
  }

  @Test func `each differing content is reported`() {
    var files = Remembered()
    files.know("/f")
    for content in ["B", "AB", "A", ""] {
      files.disk.write(content, to: "/f")
      #expect(files.reported(.modified("/f")) == [.modified("/f")])
      #expect(files.reported(.modified("/f")) == [])
    }
  }

  @Test func `a file that was never read is reported once`() {
    var files = Remembered()
    files.disk.write("A", to: "/f")
    #expect(files.reported(.modified("/f")) == [.modified("/f")])
    #expect(files.reported(.modified("/f")) == [])
  }

  @Test func `only unchanged files are removed from a burst`() {
    var files = Remembered()
    files.know("/f")
    files.know("/g")
    files.disk.write("B", to: "/g")
    #expect(files.reported(.modified("/f"), .modified("/g")) == [.modified("/g")])
  }

  @Test func `an unreadable file is reported each time`() {
    var files = Remembered()
    files.know("/f")
    files.disk.makeUnreadable("/f")
    for _ in 1...2 { #expect(files.reported(.modified("/f")) == [.modified("/f")]) }
    #expect(files.memory.digests.count == 0)
  }

  @Test func `created, removed and renamed files are always reported`() {
    var files = Remembered()
    files.know("/f")
    #expect(files.reported(.removed("/f")) == [.removed("/f")])
    #expect(files.memory.digests.count == 0)
    #expect(files.reported(.created("/f")) == [.created("/f")])
    files.disk.rename("/f", to: "/g")
    #expect(files.reported(.renamed("/g", from: "/f")) == [.renamed("/g", from: "/f")])
    #expect(files.reported(.modified("/g")) == [])
    #expect(files.memory.digests.count == 1)
  }

  @Test func `directories, links and vanished files are reported`() {
    var files = Remembered()
    files.know("/d/f")
    for change in [
      Change.modified("/d", .directory), .modified("/l", .symlink), .modified("/x", .unknown),
    ] {
      #expect(files.reported(change) == [change])
    }
    #expect(files.disk.readCount == 1)
  }

  @Test func `a change of metadata does not affect the content`() {
    var files = Remembered()
    files.wanted.insert(.metadata)
    files.know("/f")
    #expect(files.reported(.metadata("/f")) == [.metadata("/f")])
    #expect(files.disk.readCount == 1)
    #expect(files.reported(.modified("/f")) == [.metadata("/f")])
  }

  @Test func `an unreported change leaves the reported content`() {
    var files = Remembered()
    files.know("/f")
    files.wanted = [.created]
    files.disk.write("B", to: "/f")
    #expect(files.reported(.modified("/f")) == [])
    files.wanted = [.modified]
    #expect(files.reported(.modified("/f")) == [.modified("/f")])
    #expect(files.reported(.removed("/f"), .created("/g")) == [])
    #expect(files.memory.digests.count == 0)
  }
}

struct ContentMemoryDirectoryTests {
  @Test func `files of a removed directory are forgotten`() {
    var files = Remembered()
    for path: Path in ["/d/f", "/d/e/f", "/dd/f"] { files.know(path) }
    #expect(files.reported(.removed("/d")) == [.removed("/d")])
    #expect(files.memory.digests.count == 1)
    #expect(files.reported(.modified("/d/f"), .modified("/dd/f")) == [.modified("/d/f")])
  }

  @Test func `files of a renamed directory are remembered under their new paths`() {
    var files = Remembered()
    for path: Path in ["/d/f", "/d/e/f"] { files.know(path) }
    files.disk.rename("/d", to: "/x")
    let rename = Change.renamed("/x", from: "/d", .directory)
    #expect(files.reported(rename) == [rename])
    #expect(files.reported(.modified("/x/f"), .modified("/x/e/f")) == [])
    #expect(files.memory.digests.count == 2)
  }

  @Test func `exchanged directories keep nothing of each other`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.know("/e/f", "B")
    files.disk.rename("/d", to: "/t")
    files.disk.rename("/e", to: "/d")
    files.disk.rename("/t", to: "/e")
    let changes: [Change] = [.modified("/d", .directory), .modified("/e", .directory)]
    #expect(files.reported(changes[0], changes[1]) == changes)
    #expect(files.reported(.modified("/d/f"), .modified("/e/f")).count == 2)
  }

  @Test func `a directory that takes another's name keeps its remembered files`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.know("/new/f", "B")
    files.disk.rename("/d", to: "/old")
    files.disk.rename("/new", to: "/d")
    _ = files.reported(
      .renamed("/old", from: "/d", .directory), .renamed("/d", from: "/new", .directory))
    #expect(files.memory.digest(of: "/d/f") == .of("B"))
    #expect(files.memory.digest(of: "/old/f") == .of("A"))
    #expect(files.memory.digests.count == 2)
  }

  @Test func `a change in a directory before its rename is reported`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.disk.write("B", to: "/d/f")
    files.disk.rename("/d", to: "/e")
    let changes: [Change] = [.modified("/e/f"), .renamed("/e", from: "/d", .directory)]
    #expect(files.reported(changes[0], changes[1]) == changes)
  }
}

extension ContentMemoryDirectoryTests {
  @Test func `an unreported rename makes nothing remembered`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.wanted = [.modified]
    files.disk.rename("/d", to: "/e")
    // Its event comes later.
    files.disk.write("B", to: "/e/f")
    #expect(files.reported(.renamed("/e", from: "/d", .directory)) == [])
    #expect(files.reported(.modified("/e/f")) == [.modified("/e/f")])
  }
}

struct ContentMemoryBoundTests {
  @Test func `at most the permitted number of files is remembered`() {
    var files = Remembered(mostFiles: 64)
    for number in 0..<1000 { files.know(Path("/d\(number % 7)/f\(number)"), "\(number)") }
    #expect((48...64).contains(files.memory.digests.count))
    // The last one was reported last, so that it is still remembered.
    #expect(files.reported(.modified("/d5/f999")) == [])
    files.disk.write("other", to: "/d5/f999")
    #expect(files.reported(.modified("/d5/f999")).count == 1)
  }

  @Test func `a limit of zero files is valid`() {
    var files = Remembered(mostFiles: 0)
    files.know("/f")
    #expect(files.reported(.modified("/f")) == [.modified("/f")])
  }
}
