import SystemCalls
import Testing

@testable import FileObservation

/// The events of a burst, and its net changes.
struct Burst: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let events: [RawEvent]
  let changes: [ChangeBatch.Change]

  init(_ claim: String, _ events: [RawEvent], _ changes: [ChangeBatch.Change]) {
    testDescription = claim
    self.events = events
    self.changes = changes
  }
}

extension RawEvent {
  static func created(_ path: Path, _ type: FileType = .file) -> RawEvent {
    RawEvent(path: path, kind: .created, type: type)
  }

  static func removed(_ path: Path, _ type: FileType = .unknown) -> RawEvent {
    RawEvent(path: path, kind: .removed, type: type)
  }

  static func written(_ path: Path) -> RawEvent {
    RawEvent(path: path, kind: .modified(isOpen: true), type: .file)
  }

  static func closed(_ path: Path) -> RawEvent {
    RawEvent(path: path, kind: .modified(isOpen: false), type: .file)
  }

  static func metadata(_ path: Path) -> RawEvent {
    RawEvent(path: path, kind: .metadata, type: .file)
  }

  /// A file disappears, and may appear elsewhere.
  static func from(_ path: Path, _ inode: UInt64, _ type: FileType = .file) -> RawEvent {
    RawEvent(path: path, kind: .removed, type: type, file: Sighting(gone: inode, type))
  }

  /// A file appears, and may have been elsewhere.
  static func to(
    _ path: Path, _ inode: UInt64, _ type: FileType = .file, born: Int64 = 0
  ) -> RawEvent {
    RawEvent(path: path, kind: .created, type: type, file: Sighting(new: inode, type, born: born))
  }
}

extension RawEvent.Sighting {
  /// A file that has disappeared, and may have been renamed.
  init(gone inode: UInt64, _ type: FileType) {
    self.init(
      inode: inode, existed: FileTime(nanoseconds: 10), fingerprint: nil, type: type,
      mayBeRenamed: true)
  }

  /// A file that has appeared, and may have been renamed.
  init(new inode: UInt64, _ type: FileType, born: Int64 = 0) {
    self.init(
      inode: inode, existed: FileTime(nanoseconds: born), fingerprint: nil, type: type,
      mayBeRenamed: true)
  }
}

extension ChangeBatch.Change {
  static func created(_ path: Path, _ type: FileType = .file) -> Self {
    Self(path: path, kind: .created, type: type)
  }

  static func modified(_ path: Path, _ type: FileType = .file) -> Self {
    Self(path: path, kind: .modified, type: type)
  }

  static func removed(_ path: Path) -> Self {
    Self(path: path, kind: .removed, type: .unknown)
  }

  static func metadata(_ path: Path, _ type: FileType = .file) -> Self {
    Self(path: path, kind: .metadata, type: type)
  }

  static func renamed(_ path: Path, from old: Path, _ type: FileType = .file) -> Self {
    Self(path: path, kind: .renamed, type: type, from: old)
  }
}

struct CoalescerTests {
  private static let singlePaths = [
    Burst("nothing is nothing", [], []),
    Burst("created", [.created("f")], [.created("f")]),
    Burst("written", [.written("f"), .closed("f")], [.modified("f")]),
    Burst("removed", [.removed("f")], [.removed("f")]),
    Burst("touched", [.metadata("f")], [.metadata("f")]),
    Burst("created then modified is created", [.created("f"), .closed("f")], [.created("f")]),
    Burst("created then removed is nothing", [.created("f"), .removed("f")], []),
    Burst("removed then created is modified", [.removed("f"), .created("f")], [.modified("f")]),
    Burst("modified then removed is removed", [.closed("f"), .removed("f")], [.removed("f")]),
    Burst("touched and modified is modified", [.metadata("f"), .closed("f")], [.modified("f")]),
    Burst("created and touched is created", [.created("f"), .metadata("f")], [.created("f")]),
    Burst(
      "removed, created and removed is removed",
      [.removed("f"), .created("f"), .removed("f")], [.removed("f")]),
    Burst(
      "created, removed and created is created",
      [.created("f"), .removed("f"), .created("f")], [.created("f")]),
    Burst(
      "touched before it was removed and made again is modified",
      [.metadata("f"), .removed("f"), .created("f")], [.modified("f")]),
    Burst(
      "a file that becomes a directory is a modified directory",
      [.removed("f"), .created("f", .directory)], [.modified("f", .directory)]),
    Burst(
      "changes come in the order in which their paths appeared",
      [.closed("b"), .closed("a"), .closed("b")], [.modified("b"), .modified("a")]),
  ]

  private static let renames = [
    Burst(
      "a file that left a directory before its rename is not reported under its new name",
      [
        .closed("d/e/f"), .from("d/e/f", 3), .from("d/e", 1, .directory),
        .from("d", 2, .directory), .to("n", 2, .directory),
      ], [.removed("d/e/f"), .removed("d/e"), .renamed("n", from: "d", .directory)]),
    Burst("renamed", [.from("a", 1), .to("b", 1)], [.renamed("b", from: "a")]),
    Burst(
      "renamed twice is renamed once", [.from("a", 1), .to("b", 1), .from("b", 1), .to("c", 1)],
      [.renamed("c", from: "a")]),
    Burst(
      "renamed there and back is modified",
      [.from("a", 1), .to("b", 1), .from("b", 1), .to("a", 1)], [.modified("a")]),
    Burst(
      "created then renamed is created", [.created("a"), .from("a", 1), .to("b", 1)],
      [.created("b")]),
    Burst(
      "modified then renamed is renamed", [.closed("a"), .from("a", 1), .to("b", 1)],
      [.renamed("b", from: "a")]),
    Burst(
      "renamed then modified is renamed", [.from("a", 1), .to("b", 1), .closed("b")],
      [.renamed("b", from: "a")]),
    Burst(
      "renamed then removed is removed", [.from("a", 1), .to("b", 1), .removed("b")],
      [.removed("a")]),
    Burst(
      "renamed, and made again under the old name, is created and modified",
      [.from("a", 1), .to("b", 1), .created("a")], [.modified("a"), .created("b")]),
    Burst(
      "a rename over another file modifies that, and removes the name",
      [.from("a", 1), .from("b", 2), .to("b", 1)], [.removed("a"), .modified("b")]),
    Burst(
      "two files that changed places are modified",
      [.from("a", 1), .to("a", 2), .from("b", 2), .to("b", 1)], [.modified("a"), .modified("b")]),
    Burst(
      "two files that changed places by a third name are modified",
      [.from("a", 1), .to("t", 1), .from("b", 2), .to("a", 2), .from("t", 1), .to("b", 1)],
      [.modified("a"), .modified("b")]),
    Burst("moved out is removed", [.from("a", 1)], [.removed("a")]),
    Burst("moved in is created", [.to("a", 1)], [.created("a")]),
    Burst(
      "moved in over a file is modified", [.from("a", 2), .to("a", 1)], [.modified("a")]),
    Burst(
      "moved out and in again by other renames is modified", [.from("a", 1), .to("a", 2)],
      [.modified("a")]),
    Burst(
      "halves of two interleaved renames are distinguished",
      [.from("a", 1), .from("b", 2), .to("c", 2), .to("d", 1)],
      [.renamed("c", from: "b"), .renamed("d", from: "a")]),
  ]

  private static let directories = [
    Burst(
      "a renamed directory is one change", [.from("d", 1, .directory), .to("e", 1, .directory)],
      [.renamed("e", from: "d", .directory)]),
    Burst(
      "what moved with it is not reported",
      [
        .from("d/f", 2), .from("d", 1, .directory), .to("e", 1, .directory), .to("e/f", 2),
      ], [.renamed("e", from: "d", .directory)]),
    Burst(
      "what moved with one of two directories that change places is not reported",
      [
        .from("d/f", 3), .from("e/f", 4), .from("d", 1, .directory), .to("d", 2, .directory),
        .from("e", 2, .directory), .to("e", 1, .directory), .to("d/f", 4), .to("e/f", 3),
      ],
      [.renamed("d", from: "e", .directory), .renamed("e", from: "d", .directory)]),
    Burst(
      "what changed in it before has its new path",
      [
        .closed("d/f"), .metadata("d/m"), .to("d/s/g", 4), .from("d/f", 2), .from("d/m", 3),
        .from("d/s/g", 4), .from("d/s", 5, .directory), .from("d", 1, .directory),
        .to("e", 1, .directory), .to("e/f", 2), .to("e/m", 3), .to("e/s", 5, .directory),
        .to("e/s/g", 4),
      ],
      [
        .renamed("e", from: "d", .directory), .modified("e/f"), .metadata("e/m"),
        .created("e/s/g"),
      ]),
    Burst(
      "what changed in it before is reported if the new path is found before the old one is missed",
      [
        .closed("d/f"), .metadata("d/m"), .to("e", 1, .directory), .to("e/f", 2), .to("e/m", 3),
        .from("d/f", 2), .from("d/m", 3), .from("d", 1, .directory),
      ],
      [.renamed("e", from: "d", .directory), .modified("e/f"), .metadata("e/m")]),
    Burst(
      "what takes the place of another with the rename of its directory is reported",
      [
        .removed("d/f"), .removed("d", .directory), .from("c/f", 2), .from("c", 1, .directory),
        .to("d", 1, .directory), .to("d/f", 2),
      ],
      [.modified("d/f"), .renamed("d", from: "c", .directory)]),
    Burst(
      "what changed in a directory that replaces another is reported at the former's path",
      [
        .closed("c/f"), .removed("d/f"), .removed("d", .directory), .from("c/f", 2),
        .from("c", 1, .directory), .to("d", 1, .directory), .to("d/f", 2),
      ],
      [.modified("d/f"), .renamed("d", from: "c", .directory)]),
    Burst(
      "what was removed in it before has its old path",
      [.removed("d/f"), .from("d", 1, .directory), .to("e", 1, .directory)],
      [.removed("d/f"), .renamed("e", from: "d", .directory)]),
    Burst(
      "hard links of a file move with their directory",
      [
        .from("d/a", 2), .from("d/b", 2), .from("d", 1, .directory), .to("e", 1, .directory),
        .to("e/b", 2), .to("e/a", 2),
      ], [.renamed("e", from: "d", .directory)]),
    Burst(
      "a directory with a longer name is a different one",
      [.closed("dd/f"), .from("d", 1, .directory), .to("e", 1, .directory)],
      [.modified("dd/f"), .renamed("e", from: "d", .directory)]),
    Burst(
      "a file created in a directory that is moved out is not reported",
      [
        .created("d", .directory), .created("d/f"), .from("d/f", 2), .from("d", 1, .directory),
      ], []),
    Burst(
      "a file changed in a directory that is moved out is removed",
      [.closed("d/s/f"), .from("d/s/f", 2), .from("d", 1, .directory)],
      [.removed("d/s/f"), .removed("d")]),
    Burst(
      "a path that is made again after its directory's rename is one change",
      [
        .closed("d/f"), .from("d/f", 2), .from("d", 1, .directory), .to("e", 1, .directory),
        .to("e/f", 2), .removed("e/f"), .created("e/f"),
      ], [.removed("d/f"), .renamed("e", from: "d", .directory), .created("e/f")]),
    Burst(
      "what is made in a directory whose name another has by a rename is there",
      [
        .from("d/d", 1, .directory), .to("c", 1, .directory), .from("b/d", 4, .directory),
        .from("b", 2, .directory), .from("d", 3, .directory), .to("d", 2, .directory),
        .to("d/d", 4, .directory), .to("b", 3, .directory), .created("d/d/f"),
      ],
      [
        .renamed("c", from: "d/d", .directory), .renamed("b", from: "d", .directory),
        .renamed("d", from: "b", .directory), .created("d/d/f"),
      ]),
    Burst(
      "a file in a directory that is created again exists",
      [
        .from("d", 1, .directory), .created("d", .directory), .created("d/f"),
      ], [.modified("d", .directory), .created("d/f")]),
  ]

  private static let editors = [
    Burst(
      "a file saved by writing another and renaming it over is modified",
      [
        .created("t"), .written("t"), .closed("t"), .from("t", 1), .from("f", 2), .to("f", 1),
      ], [.modified("f")]),
    Burst(
      "vim: renamed away, written anew, the backup removed",
      [
        .created("4913"), .closed("4913"), .removed("4913"), .from("f", 1), .to("f~", 1),
        .created("f"), .written("f"), .closed("f"), .metadata("f"), .removed("f~"),
      ], [.modified("f")]),
    Burst(
      "vim with a backup that stays",
      [.from("f", 1), .to("f~", 1), .created("f"), .closed("f")],
      [.modified("f"), .created("f~")]),
    Burst(
      "JetBrains: the new one written aside, the old one renamed away and removed",
      [
        .created("f___jb_tmp___"), .closed("f___jb_tmp___"), .from("f", 1),
        .to("f___jb_old___", 1), .from("f___jb_tmp___", 2), .to("f", 2),
        .removed("f___jb_old___"),
      ], [.modified("f")]),
    Burst(
      "sed -i.bak: the old one renamed away and kept",
      [
        .created("sedX"), .closed("sedX"), .from("f", 1), .to("f.bak", 1), .from("sedX", 2),
        .to("f", 2),
      ], [.modified("f"), .created("f.bak")]),
    Burst(
      "the old one renamed away, and one that was there before the burst in its place",
      [.from("f", 1), .to("f~", 1), .from("t", 2), .to("f", 2)],
      [.modified("f"), .created("f~"), .removed("t")]),
    Burst(
      "a former backup is replaced by the old one, and that by another file",
      [.from("f", 1), .from("f~", 3), .to("f~", 1), .from("t", 2), .to("f", 2)],
      [.modified("f"), .modified("f~"), .removed("t")]),
  ]

  @Test(arguments: singlePaths + renames + directories + editors)
  func `a burst has its net changes`(burst: Burst) {
    var coalescer = Coalescer()
    for event in burst.events { coalescer.note(event) }
    #expect(coalescer.take() == burst.changes)
  }

  @Test func `a directory is not renamed if what it lost cannot be told`() {
    // rm -r d/c; exchange d b/a; mv b d/c: a rename of d would mean that d/c has moved with it.
    var coalescer = Coalescer()
    let events: [RawEvent] = [
      .from("d/c", 11, .directory), .from("d/z", 10), .from("d", 1, .directory),
      .from("b/a/y", 12), .from("b/a", 2, .directory), .to("d", 2, .directory), .to("d/y", 12),
      .from("b", 3, .directory), .to("d/c", 3, .directory), .to("d/c/a", 1, .directory),
      .to("d/c/a/z", 10),
    ]
    for event in events { coalescer.note(event) }
    #expect(
      coalescer.take() == [
        .renamed("d/c", from: "b", .directory), .renamed("d", from: "b/a", .directory),
        .created("d/c/a", .directory), .renamed("d/c/a/z", from: "d/z"),
      ])
  }

  @Test func `a directory is not renamed if a file has left it whose old name is taken`() {
    // exchange c d; mv c d/b; mv d/b/f d/g
    var coalescer = Coalescer()
    let events: [RawEvent] = [
      .from("c/f", 3), .from("d/f", 4), .from("c", 1, .directory), .from("d", 2, .directory),
      .to("d", 1, .directory), .to("d/f", 3), .to("d/b", 2, .directory), .to("d/g", 4),
    ]
    for event in events { coalescer.note(event) }
    #expect(
      coalescer.take() == [
        .renamed("d", from: "c", .directory), .created("d/b", .directory), .created("d/g"),
      ])
  }

  @Test func `a file that was replaced is removed with the one that replaced it`() {
    // write t; mv t z; mv z q
    var coalescer = Coalescer()
    let events: [RawEvent] = [
      .created("t"), .closed("t"), .from("t", 1), .from("z", 2), .to("z", 1), .from("z", 1),
      .to("q", 1),
    ]
    for event in events { coalescer.note(event) }
    #expect(coalescer.take() == [.removed("z"), .created("q")])
  }

  @Test func `a name that a file only passed through is not reported`() {
    var coalescer = Coalescer()
    for event: RawEvent in [.from("a", 1), .to("b", 1), .closed("b"), .from("b", 1), .to("c", 1)] {
      coalescer.note(event)
    }
    #expect(coalescer.take() == [.renamed("c", from: "a")])
  }

  @Test func `a directory is renamed after what was renamed out of it`() {
    var coalescer = Coalescer()
    let events: [RawEvent] = [
      .closed("a/d/f"), .from("a", 1, .directory), .to("b", 1, .directory), .from("a/d/f", 3),
      .from("a/d", 2, .directory), .to("d", 2, .directory), .to("d/f", 3),
    ]
    for event in events { coalescer.note(event) }
    #expect(
      coalescer.take() == [
        .renamed("b", from: "a", .directory), .renamed("d", from: "a/d", .directory),
        .modified("d/f"),
      ])
  }

  @Test func `a new file with the inode of a removed one is another file`() {
    var coalescer = Coalescer()
    coalescer.note(.from("a", 1))
    coalescer.note(.to("b", 1, born: 10))
    #expect(coalescer.take() == [.removed("a"), .created("b")])
  }

  @Test func `what is written to another file at the path stays at the path`() {
    var coalescer = Coalescer()
    for event: RawEvent in [.from("a", 1), .to("a", 2), .closed("a"), .to("b", 1)] {
      coalescer.note(event)
    }
    #expect(coalescer.take() == [.modified("a"), .created("b")])
  }

  @Test func `taken changes are not reported again`() {
    var coalescer = Coalescer()
    coalescer.note(.from("a", 1))
    #expect(coalescer.take() == [.removed("a")])
    #expect(coalescer.take() == [])
    coalescer.note(.to("b", 1))
    #expect(coalescer.take() == [.created("b")])
  }

  @Test(
    arguments: [
      ([.written("f")], true), ([.written("f"), .closed("f")], false),
      ([.written("f"), .written("g"), .closed("f")], true),
      ([.written("f"), .removed("f")], false),
      ([.written("t"), .from("t", 1), .to("f", 1)], false), ([.created("f")], false),
      ([.written("f"), .closed("f"), .closed("f"), .written("g")], true),
      (
        [
          .written("d/f"), .from("d/f", 2), .from("d", 1, .directory), .to("e", 1, .directory),
          .to("e/f", 2), .closed("e/f"),
        ], false
      ),
      (
        [
          .from("d", 1, .directory), .to("e", 1, .directory), .written("e/f"), .removed("e/f"),
        ], false
      ),
      (
        [
          .written("d/s/f"), .from("d/s/f", 3), .from("d/s", 1, .directory),
          .from("d", 2, .directory), .to("e", 2, .directory),
        ], false
      ),
    ] as [([RawEvent], Bool)])
  func `a file is being written until it is closed`(events: [RawEvent], isWritten: Bool) {
    var coalescer = Coalescer()
    for event in events { coalescer.note(event) }
    #expect(coalescer.isBeingWritten == isWritten)
    _ = coalescer.take()
    #expect(!coalescer.isBeingWritten)
  }

  @Test(
    arguments: [
      ([.from("f", 1)], true), ([.from("f", 1), .to("f~", 1)], true),
      ([.from("f", 1), .to("f~", 1), .created("f")], false),
      ([.from("f", 1), .to("f~", 1), .from("t", 2), .to("f", 2)], false),
      ([.from("f", 1), .to("f~", 1), .from("t", 2), .to("f", 2), .from("f", 2)], true),
      ([.from("t", 1), .from("f", 2), .to("f", 1)], false),
      ([.from("f", 1), .from("g", 2), .created("f")], true),
      ([.removed("f")], false), ([.created("t"), .from("t", 1), .to("u", 1)], false),
      ([.from("d", 1, .directory), .to("e", 1, .directory)], false),
      ([.written("f")], true), ([.written("f"), .from("f", 1), .to("f~", 1), .closed("f")], false),
    ] as [([RawEvent], Bool)])
  func `a save is not over while a file is renamed and its name is free`(
    events: [RawEvent], isUnderWay: Bool
  ) {
    var burst = FileObservation.Burst()
    let news = burst.note(events, afterOverflow: false, countsMetadata: false)
    #expect(news?.isBeingWritten == isUnderWay)
  }

  @Test(
    arguments: [
      ([.written("f")], false), ([.written("f"), .closed("f")], true), ([.created("f")], false),
      ([.created("f"), .closed("f")], false), ([.metadata("f")], false),
      ([.removed("f"), .created("f")], true), ([.closed("f"), .written("f")], false),
    ] as [([RawEvent], Bool)])
  func `a save is the new content of a file that existed, when it is closed`(
    events: [RawEvent], isSave: Bool
  ) {
    var coalescer = Coalescer()
    #expect(events.map { coalescer.note($0) }.last == isSave)
  }

  /// The processor time, in nanoseconds, for a burst in which so many directories are renamed, each
  /// after a file in it was written.
  private static func timeForRenames(_ count: UInt64) -> Int64 {
    let before = processorTimeOfThread()
    var coalescer = Coalescer()
    for number in 0..<count { coalescer.note(.closed(Path("/r/d\(number)/f"))) }
    for number in 0..<count {
      coalescer.note(.from(Path("/r/d\(number)/f"), count + number))
      coalescer.note(.from(Path("/r/d\(number)"), number, .directory))
      coalescer.note(.to(Path("/r/e\(number)"), number, .directory))
      coalescer.note(.to(Path("/r/e\(number)/f"), count + number))
    }
    let changes = coalescer.take()
    #expect(changes.count == 2 * Int(count))
    return (processorTimeOfThread() - before).nanoseconds
  }

  @Test func `the cost of renamed directories is linear`() {
    // The best of several: the machine may have other work.
    let few = (0..<5).map { _ in Self.timeForRenames(500) }.min() ?? 0
    let many = (0..<3).map { _ in Self.timeForRenames(2000) }.min() ?? 0
    #expect(many < 10 * few)
  }
}
