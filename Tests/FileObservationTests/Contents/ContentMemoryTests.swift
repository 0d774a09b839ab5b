import SystemCalls
import Testing

@testable import FileObservation

private typealias Change = ChangeBatch.Change

/// A memory of files on a disk that is made up.
private struct Remembered {
  let disk = FakeDisk()
  var memory: ContentMemory
  var wanted = Set(ChangeBatch.Kind.allCases).subtracting([.metadata])

  init(mostFiles: Int = 1000) {
    memory = ContentMemory(mostFiles: mostFiles)
  }

  /// What of these changes is told of.
  mutating func told(_ changes: Change...) -> [Change] {
    memory.follow(changes, wanted: wanted) { [disk] in disk.sample(of: $0)?.digest }
  }

  /// Makes a file, and has it told of.
  mutating func know(_ path: Path, _ content: String = "A") {
    disk.write(content, to: path)
    #expect(told(.created(path)) == [.created(path)])
  }
}

struct ContentMemoryTests {
  @Test func `what holds the same as when it was told of is not told of again`() {
    var files = Remembered()
    files.know("/d/f")
    #expect(files.told(.modified("/d/f")) == [])
    files.disk.replace("/d/f", with: "A")
    #expect(files.told(.modified("/d/f")) == [])
  }

  @Test func `a byte more or another one counts, and so does the way back`() {
    var files = Remembered()
    files.know("/f")
    for content in ["B", "AB", "A", ""] {
      files.disk.write(content, to: "/f")
      #expect(files.told(.modified("/f")) == [.modified("/f")])
      #expect(files.told(.modified("/f")) == [])
    }
  }

  @Test func `a file that was never read counts, once`() {
    var files = Remembered()
    files.disk.write("A", to: "/f")
    #expect(files.told(.modified("/f")) == [.modified("/f")])
    #expect(files.told(.modified("/f")) == [])
  }

  @Test func `of a burst only what has not changed is left out`() {
    var files = Remembered()
    files.know("/f")
    files.know("/g")
    files.disk.write("B", to: "/g")
    #expect(files.told(.modified("/f"), .modified("/g")) == [.modified("/g")])
  }

  @Test func `what cannot be read counts each time`() {
    var files = Remembered()
    files.know("/f")
    files.disk.makeUnreadable("/f")
    for _ in 1...2 { #expect(files.told(.modified("/f")) == [.modified("/f")]) }
    #expect(files.memory.count == 0)
  }

  @Test func `what is made, removed or renamed counts, whatever it holds`() {
    var files = Remembered()
    files.know("/f")
    #expect(files.told(.removed("/f")) == [.removed("/f")])
    #expect(files.memory.count == 0)
    #expect(files.told(.created("/f")) == [.created("/f")])
    files.disk.rename("/f", to: "/g")
    #expect(files.told(.renamed("/g", from: "/f")) == [.renamed("/g", from: "/f")])
    #expect(files.told(.modified("/g")) == [])
    #expect(files.memory.count == 1)
  }

  @Test func `folders, links and what is gone by now count`() {
    var files = Remembered()
    files.know("/d/f")
    for change in [
      Change.modified("/d", .directory), .modified("/l", .symlink), .modified("/x", .unknown),
    ] {
      #expect(files.told(change) == [change])
    }
    #expect(files.disk.readCount == 1)
  }

  @Test func `a change of metadata is none of content`() {
    var files = Remembered()
    files.wanted.insert(.metadata)
    files.know("/f")
    #expect(files.told(.metadata("/f")) == [.metadata("/f")])
    #expect(files.disk.readCount == 1)
    #expect(files.told(.modified("/f")) == [.metadata("/f")])
  }

  @Test func `what is not told of leaves what was told of`() {
    var files = Remembered()
    files.know("/f")
    files.wanted = [.created]
    files.disk.write("B", to: "/f")
    #expect(files.told(.modified("/f")) == [])
    files.wanted = [.modified]
    #expect(files.told(.modified("/f")) == [.modified("/f")])
    #expect(files.told(.removed("/f"), .created("/g")) == [])
    #expect(files.memory.count == 0)
  }
}

struct ContentMemoryFolderTests {
  @Test func `what was in a folder that is gone is forgotten`() {
    var files = Remembered()
    for path: Path in ["/d/f", "/d/e/f", "/dd/f"] { files.know(path) }
    #expect(files.told(.removed("/d")) == [.removed("/d")])
    #expect(files.memory.count == 1)
    #expect(files.told(.modified("/d/f"), .modified("/dd/f")) == [.modified("/d/f")])
  }

  @Test func `files of a renamed folder are known by their new paths`() {
    var files = Remembered()
    for path: Path in ["/d/f", "/d/e/f"] { files.know(path) }
    files.disk.rename("/d", to: "/x")
    let rename = Change.renamed("/x", from: "/d", .directory)
    #expect(files.told(rename) == [rename])
    #expect(files.told(.modified("/x/f"), .modified("/x/e/f")) == [])
    #expect(files.memory.count == 2)
  }

  @Test func `folders that changed places keep nothing of each other`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.know("/e/f", "B")
    files.disk.rename("/d", to: "/t")
    files.disk.rename("/e", to: "/d")
    files.disk.rename("/t", to: "/e")
    let changes: [Change] = [.modified("/d", .directory), .modified("/e", .directory)]
    #expect(files.told(changes[0], changes[1]) == changes)
    #expect(files.told(.modified("/d/f"), .modified("/e/f")).count == 2)
  }

  @Test func `a folder that took another's name brings what is known of it`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.know("/new/f", "B")
    files.disk.rename("/d", to: "/old")
    files.disk.rename("/new", to: "/d")
    _ = files.told(
      .renamed("/old", from: "/d", .directory), .renamed("/d", from: "/new", .directory))
    #expect(files.memory.digest(of: "/d/f") == .of("B"))
    #expect(files.memory.digest(of: "/old/f") == .of("A"))
    #expect(files.memory.count == 2)
  }

  @Test func `what changed in a folder before its rename counts`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.disk.write("B", to: "/d/f")
    files.disk.rename("/d", to: "/e")
    let changes: [Change] = [.modified("/e/f"), .renamed("/e", from: "/d", .directory)]
    #expect(files.told(changes[0], changes[1]) == changes)
  }
}

extension ContentMemoryFolderTests {
  @Test func `a rename that is not told of makes nothing known`() {
    var files = Remembered()
    files.know("/d/f", "A")
    files.wanted = [.modified]
    files.disk.rename("/d", to: "/e")
    // Its event comes later.
    files.disk.write("B", to: "/e/f")
    #expect(files.told(.renamed("/e", from: "/d", .directory)) == [])
    #expect(files.told(.modified("/e/f")) == [.modified("/e/f")])
  }
}

struct ContentMemoryBoundTests {
  @Test func `knows no more files than it may, and forgets rather than err`() {
    var files = Remembered(mostFiles: 64)
    for number in 0..<1000 { files.know(Path("/d\(number % 7)/f\(number)"), "\(number)") }
    #expect((48...64).contains(files.memory.count))
    // The last one was told of last, so that it is among those that are known.
    #expect(files.told(.modified("/d5/f999")) == [])
    files.disk.write("other", to: "/d5/f999")
    #expect(files.told(.modified("/d5/f999")).count == 1)
  }

  @Test func `may know nothing at all`() {
    var files = Remembered(mostFiles: 0)
    files.know("/f")
    #expect(files.told(.modified("/f")) == [.modified("/f")])
  }

  @Test func `what is read ahead makes nothing else be forgotten`() throws {
    var files = Remembered(mostFiles: 2)
    files.know("/f")
    files.disk.makeFolder("/d")
    var samples: [(path: Path, sample: ContentSample)] = []
    for path: Path in ["/d/1", "/d/2"] {
      files.disk.write("A", to: path)
      samples.append((path, try #require(files.disk.sample(of: path))))
    }
    files.disk.write("", to: "/elsewhere")
    files.memory.learn(samples, of: "/d", since: files.disk.now, from: files.disk)
    #expect(files.memory.digest(of: "/f") != nil)
    #expect(files.memory.digest(of: "/d/1") != nil)
    #expect(files.memory.digest(of: "/d/2") == nil)
  }

  @Test func `what comes and goes beside does not matter below a root that is where it was`() throws
  {
    var files = Remembered()
    files.disk.makeFolder("/r")
    files.disk.write("A", to: "/r/f")
    let root = DirectoryAtStart(path: "/r", stamp: try #require(files.disk.stamp(of: "/r")))
    let samples: [(path: Path, sample: ContentSample)] = [
      ("/r/f", try #require(files.disk.sample(of: "/r/f")))
    ]
    files.disk.write("", to: "/elsewhere")
    let start = files.disk.now
    files.disk.write("", to: "/elsewhere")
    files.disk.write("new", to: "/r/new")
    files.disk.write("new", to: "/new")
    files.memory.learn(samples, of: "/r", since: start, from: files.disk)
    #expect(files.memory.digest(of: "/r/f") == nil)
    files.memory.learn(samples, of: "/r", since: start, below: root, from: files.disk)
    #expect(files.memory.digest(of: "/r/f") == .of("A"))
  }

  @Test func `of what was read ahead nothing is taken that is not there any more`() throws {
    var files = Remembered()
    files.disk.makeFolder("/d")
    files.disk.write("A", to: "/d/f")
    files.disk.write("A", to: "/d/g")
    let samples: [(path: Path, sample: ContentSample)] = [
      ("/d/f", try #require(files.disk.sample(of: "/d/f"))),
      ("/d/g", try #require(files.disk.sample(of: "/d/g"))),
    ]
    files.disk.write("", to: "/elsewhere")
    let start = files.disk.now
    files.disk.write("", to: "/elsewhere")
    files.disk.write("B", to: "/d/f")
    files.memory.learn(samples, of: "/d", since: start, from: files.disk)
    #expect(files.memory.digest(of: "/d/f") == nil)
    #expect(files.memory.digest(of: "/d/g") == .of("A"))
  }
}
