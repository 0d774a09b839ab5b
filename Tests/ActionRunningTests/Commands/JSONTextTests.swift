import FileObservation
import TestSupport
import Testing

@testable import ActionRunning

struct JSONTextTests {
  private func batch(_ changes: ChangeBatch.Change..., overflow: Bool = false) -> String {
    JSONText.batch(ChangeBatch(number: 3, changes: changes, overflow: overflow))
  }

  @Test func `a batch is one object, with its fields in order`() {
    #expect(
      batch(
        .init(path: "/p/a.swift", kind: .modified, type: .file),
        .init(path: "/p/c", kind: .renamed, type: .directory, from: "/p/b"))
        == #"{"batch":3,"reason":"change","changes":["#
        + #"{"path":"/p/a.swift","kind":"modified","type":"file"},"#
        + #"{"path":"/p/c","kind":"renamed","from":"/p/b","type":"directory"}],"#
        + #""overflow":false,"version":1}"#)
  }

  @Test func `a batch after an overflow says so`() {
    #expect(
      batch(overflow: true)
        == #"{"batch":3,"reason":"overflow","changes":[],"overflow":true,"version":1}"#)
  }

  @Test func `a name with a newline stays within its line`() {
    let line = batch(.init(path: "/a\n{\"batch\":4}", kind: .created, type: .other))
    #expect(!line.contains("\n"))
    #expect(line.contains(#""path":"/a\n{\"batch\":4}","kind":"created","type":"other""#))
  }

  @Test func `every kind and type is written as its name`() {
    for kind in ChangeBatch.Kind.allCases {
      for type in FileType.allCases {
        let line = batch(.init(path: "/a", kind: kind, type: type))
        #expect(line.contains(#"{"path":"/a","kind":"\#(kind)","type":"\#(type)"}"#))
      }
    }
  }

  /// The first byte makes the path invalid as UTF-8; the vectors of RFC 4648 follow it.
  @Test(
    arguments: [
      ([0xFF], "/w=="), ([0xFF, 0x66], "/2Y="), ([0xFF, 0x66, 0x6F], "/2Zv"),
      ([0xFF, 0x66, 0x6F, 0x6F], "/2Zvbw=="), (Array("foobar".utf8) + [0xFF], "Zm9vYmFy/w=="),
      ([0xFB, 0xEF, 0xBE], "++++"), ([0xFF, 0xFF, 0xFF], "////"),
    ] as [([UInt8], String)])
  func `a path that is not UTF-8 has its bytes in Base64 as well`(bytes: [UInt8], base64: String) {
    let change = ChangeBatch.Change(path: Path(bytes: bytes), kind: .removed, type: .unknown)
    let line = batch(change)
    #expect(line.contains(#","pathBase64":"\#(base64)","kind":"#))
    #expect(line.contains("\u{FFFD}"))
    let renamed = batch(.init(path: "/a", kind: .renamed, type: .file, from: Path(bytes: bytes)))
    #expect(renamed.contains(#","fromBase64":"\#(base64)","type":"#))
    #expect(!renamed.contains("pathBase64"))
  }

  @Test func `every object is as its schema describes it`() throws {
    let schema = try SchemaEvaluator(documented: "changes.schema.json")
    let odd = Path(bytes: [UInt8(ascii: "/"), 0xFF])
    for kind in ChangeBatch.Kind.allCases {
      for type in FileType.allCases {
        let line = batch(.init(path: odd, kind: kind, type: type, from: odd))
        #expect(try schema.accepts(text: line))
      }
    }
    #expect(try schema.accepts(text: batch(overflow: true)))
    for reason in [RunTrigger.Reason.start, .change, .key, .restart] {
      #expect(try schema.accepts(text: JSONText.object(1, RunTrigger(reason))))
    }
    #expect(try !schema.accepts(text: JSONText.object(0, RunTrigger(.start))))
    let later = #"{"ready":true,"watches":1,"backend":"inotify","version":2}"#
    #expect(try !schema.accepts(text: later))
  }

  @Test func `a run receives the same object, with the run's number and its reason`() {
    let trigger = RunTrigger(.key, changes: [.of("/a", .removed)])
    #expect(
      JSONText.object(7, trigger)
        == #"{"batch":7,"reason":"key","changes":[{"path":"/a","kind":"removed","type":"unknown"}],"#
        + #""overflow":false,"version":1}"#)
    #expect(
      JSONText.object(1, RunTrigger(.start))
        == #"{"batch":1,"reason":"start","changes":[],"overflow":false,"version":1}"#)
  }
}
