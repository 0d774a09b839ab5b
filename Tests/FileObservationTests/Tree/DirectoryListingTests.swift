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
      return listing.ignoreFiles
    }
    try directory.write(to: ".gitignored")
    #expect(try ignoreFiles() == [])
    try directory.write(to: ".gitignore")
    try directory.makeDirectories(".git")
    #expect(try ignoreFiles() == [.gitignore, .git])
    try directory.remove(".gitignore")
    #expect(try ignoreFiles() == [.git])
    for name in ["clover.xml", "pom.xml", "build.sbt"] { try directory.write(to: name) }
    #expect(try ignoreFiles() == [.git, .coverageReport, .targetMaker, .targetsMaker])
  }
}
