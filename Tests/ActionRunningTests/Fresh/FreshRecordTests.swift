import Support
import SystemCalls
import TestSupport
import Testing

@testable import ActionRunning

/// The file with the last successes.
struct FreshRecordTests {
  private func record(_ task: String, _ number: UInt64) -> FreshRecord {
    FreshRecord(
      task: task, definition: ContentDigest(high: number, low: 1),
      inputs: ContentDigest(high: 2, low: .max), outputs: ContentDigest(high: 0, low: number))
  }

  @Test func `records are kept for each directory, and replaced`() throws {
    let directory = try TemporaryDirectory()
    let file = FreshRecordFile(of: "/a", in: directory.path.appending("cache/x"))
    #expect(file.records.isEmpty)
    let records = [record("a b", 1), record("ö", .max)]
    for record in records { try file.update(record.task) { _ in record } }
    #expect(file.records == records)
    #expect(FreshRecordFile(of: "/b", in: directory.path.appending("cache/x")).records.isEmpty)
    try file.update("a b") { others in
      #expect(others == [records[1]])
      return record("a b", 3)
    }
    #expect(file.records == [records[1], record("a b", 3)])
    try file.update("a b") { _ in nil }
    try file.update("ö") { _ in nil }
    #expect(!fileExists(file.path))
  }

  @Test func `a file that is damaged holds nothing`() throws {
    let directory = try TemporaryDirectory()
    let file = FreshRecordFile(of: "/a", in: directory.path)
    try file.update("a") { _ in record("a", 1) }
    try file.update("b") { _ in record("b", 1) }
    let bytes = try #require(try fileContents(of: file.path))
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 4
      try File.write(damaged, to: file.path)
      #expect(file.records.isEmpty, "\(index)")
      try File.write(Array(bytes[..<index]), to: file.path)
      #expect(file.records.isEmpty, "\(index)")
    }
    try File.write(bytes, to: file.path)
    #expect(file.records.count == 2)
  }

  @Test func `the oldest of too many files are removed`() throws {
    let directory = try TemporaryDirectory()
    for number in 0..<300 {
      try FreshRecordFile(of: Path("/\(number)"), in: directory.path).update("a") { _ in
        record("a", 1)
      }
    }
    #expect(try directoryNames(of: directory.path).count < 205)
    #expect(!FreshRecordFile(of: "/299", in: directory.path).records.isEmpty)
  }
}
