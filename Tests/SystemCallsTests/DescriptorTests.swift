import Dispatch
import SystemCalls
import TestSupport
import Testing

struct DescriptorTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func isOpen(_ number: Int32, _ path: Path) -> Bool {
    // The number alone may be another test's by now.
    (try? resolvedPath(Path("/proc/self/fd/\(number)"))) == path
  }

  @Test func `a file's descriptor leads to its path, as long as it has one`() throws {
    try directory.write(to: "a")
    let file = try Descriptor.open(directory["a"], O_WRONLY)
    #expect(pathOfFile(file.number) == directory["a"])
    try directory.rename("a", to: "b")
    #expect(pathOfFile(file.number) == directory["b"])
    try directory.remove("b")
    #expect(pathOfFile(file.number) == nil)
    #expect(pathOfFile(try Descriptor.openDirectory(directory.path).number) == nil)
    #expect(pathOfFile(try Descriptor.open("/dev/null", O_WRONLY).number) == nil)
  }

  @Test func `is closed when its owner's life ends`() throws {
    try directory.write(to: "f")
    let number: Int32
    do {
      let descriptor = try Descriptor.open(directory["f"], O_RDONLY)
      number = descriptor.number
      #expect(isOpen(number, directory["f"]))
      _ = consume descriptor
    }
    #expect(!isOpen(number, directory["f"]))
  }

  @Test func `a released descriptor stays open`() throws {
    try directory.write(to: "f")
    let number = try Descriptor.open(directory["f"], O_RDONLY).release()
    #expect(isOpen(number, directory["f"]))
    close(number)
  }

  @Test func `is not inherited`() throws {
    try directory.write(to: "f")
    let descriptor = try Descriptor.open(directory["f"], O_RDONLY)
    #expect(fcntl(descriptor.number, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `only descriptors that are not closed on exec are inheritable`() throws {
    let passed = fcntl(STDERR_FILENO, F_DUPFD, 230)
    let kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 240)
    defer {
      close(passed)
      close(kept)
    }
    let inheritable = inheritableDescriptors()
    #expect(inheritable.contains(passed))
    #expect(!inheritable.contains(kept))
    #expect(inheritable == inheritable.sorted())
    #expect(inheritable.allSatisfy { $0 > STDERR_FILENO })
  }

  @Test func `a symbolic link is opened as a directory only with followsLinks`() throws {
    try directory.makeDirectories("real")
    try directory.link("link", to: "real")
    #expect(throws: SystemError.self) {
      let descriptor = try Descriptor.openDirectory(directory["link"])
      _ = consume descriptor
    }
    let followed = try Descriptor.openDirectory(directory["link"], followsLinks: true)
    #expect(isOpen(followed.number, directory["real"]))
  }

  @Test func `an error of opening names the path`() {
    #expect(throws: SystemError(call: "open", code: ENOENT, path: directory["none"])) {
      _ = try Descriptor.open(directory["none"], O_RDONLY)
    }
  }

  @Test func `what does not block is written when its reader reads`() async throws {
    let (reader, input) = try makePipe()
    // As a program does that shares the pipe.
    _ = fcntl(input.number, F_SETFL, O_NONBLOCK)
    let bytes = [UInt8](repeating: 1, count: 1_000_000)
    let written = Log<SystemError?>()
    DispatchQueue(label: "test.writer").async {
      do throws(SystemError) {
        try writeAll(bytes, to: input.number)
        written.note(nil)
      } catch {
        written.note(error)
      }
    }
    var count = 0
    #expect(
      await eventually {
        if case .bytes(let more) = readAvailable(reader, atMost: 100_000) { count += more.count }
        return !written.entries.isEmpty && count == bytes.count
      })
    #expect(written.entries == [nil])
    close(reader)
  }

  @Test func `many calls read back all written bytes`() throws {
    let text = String(repeating: "0123456789", count: 20_000)
    try directory.write(text, to: "long")
    #expect(try directory.read("long") == text)
  }
}
