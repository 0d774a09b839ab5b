import SystemCalls
import TestSupport
import Testing

struct DescriptorTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
  }

  private func isOpen(_ number: Int32, _ path: Path) -> Bool {
    // The number alone may be another test's by now.
    (try? resolvedPath(Path("/proc/self/fd/\(number)"))) == path
  }

  @Test func `a file's descriptor leads to its path, as long as it has one`() throws {
    try folder.write(to: "a")
    let file = try Descriptor.open(folder["a"], O_WRONLY)
    #expect(pathOfFile(file.number) == folder["a"])
    try folder.rename("a", to: "b")
    #expect(pathOfFile(file.number) == folder["b"])
    try folder.remove("b")
    #expect(pathOfFile(file.number) == nil)
    #expect(pathOfFile(try Descriptor.openDirectory(folder.path).number) == nil)
    #expect(pathOfFile(try Descriptor.open("/dev/null", O_WRONLY).number) == nil)
  }

  @Test func `is closed when its owner's life ends`() throws {
    try folder.write(to: "f")
    let number: Int32
    do {
      let descriptor = try Descriptor.open(folder["f"], O_RDONLY)
      number = descriptor.number
      #expect(isOpen(number, folder["f"]))
      _ = consume descriptor
    }
    #expect(!isOpen(number, folder["f"]))
  }

  @Test func `a released descriptor stays open`() throws {
    try folder.write(to: "f")
    let number = try Descriptor.open(folder["f"], O_RDONLY).release()
    #expect(isOpen(number, folder["f"]))
    close(number)
  }

  @Test func `is not inherited`() throws {
    try folder.write(to: "f")
    let descriptor = try Descriptor.open(folder["f"], O_RDONLY)
    #expect(fcntl(descriptor.number, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `a symbolic link is opened as a directory only with followsLinks`() throws {
    try folder.makeDirectories("real")
    try folder.link("link", to: "real")
    #expect(throws: SystemError.self) {
      let descriptor = try Descriptor.openDirectory(folder["link"])
      _ = consume descriptor
    }
    let followed = try Descriptor.openDirectory(folder["link"], followsLinks: true)
    #expect(isOpen(followed.number, folder["real"]))
  }

  @Test func `an error of opening names the path`() {
    #expect(throws: SystemError(call: "open", code: ENOENT, path: folder["none"])) {
      _ = try Descriptor.open(folder["none"], O_RDONLY)
    }
  }

  @Test func `many calls read back all written bytes`() throws {
    let text = String(repeating: "0123456789", count: 20_000)
    try folder.write(text, to: "long")
    #expect(try folder.read("long") == text)
  }
}
