import PathFiltering
import SystemCalls
import TestSupport
import Testing

@testable import FileObservation

struct DirectoryListingTests {
  @Test func `a listing knows which ignore files it contains`() throws {
    let directory = try TemporaryDirectory()
    var listing = DirectoryListing()
    func ignoreFiles() throws -> IgnoreFileNames {
      try listing.read(try Descriptor.openDirectory(directory.path))
      return listing.ignoreFiles(in: directory.path)
    }
    try directory.write(to: ".gitignored")
    #expect(try ignoreFiles() == [])
    try directory.write(to: ".gitignore")
    try directory.makeDirectories(".git")
    #expect(try ignoreFiles() == [.gitignore, .git])
    try directory.remove(".gitignore")
    #expect(try ignoreFiles() == [.git])
  }

  @Test func `a listing of a directory coverage knows whether it contains a report`() throws {
    let directory = try TemporaryDirectory()
    try directory.write(to: "clover.xml")
    var listing = DirectoryListing()
    try listing.read(try Descriptor.openDirectory(directory.path))
    #expect(listing.ignoreFiles(in: "/project/coverage") == .coverageReport)
    #expect(listing.ignoreFiles(in: "/project/source") == [])
  }
}
