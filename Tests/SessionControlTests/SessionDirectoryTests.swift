import Dispatch
import SystemCalls
import TestSupport
import Testing

@testable import SessionControl

/// Where sockets are, and who may use them.
struct SessionDirectoryTests {
  private let base: TemporaryDirectory
  private let directory: SessionDirectory

  init() throws {
    base = try TemporaryDirectory()
    directory = SessionDirectory(path: base["watchrun"])
  }

  private func problem(_ candidates: SessionDirectory...) -> String? {
    do throws(SessionError) {
      _ = try SessionDirectory.make(among: candidates)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `the runtime directory comes first, and /tmp last`() {
    let paths = { (runtime: String?) in
      SessionDirectory.candidates(runtime: runtime, user: 7).map(\.path)
    }
    #expect(paths("/r") == ["/r/watchrun", "/run/user/7/watchrun", "/tmp/watchrun-7"])
    #expect(paths(nil) == ["/run/user/7/watchrun", "/tmp/watchrun-7"])
    #expect(paths("relative") == ["/run/user/7/watchrun", "/tmp/watchrun-7"])
    // No socket would fit.
    let long = "/" + String(repeating: "r", count: 60)
    #expect(paths(long) == ["/run/user/7/watchrun", "/tmp/watchrun-7"])
  }

  @Test func `the directory is created for this user alone`() throws {
    #expect(problem(directory) == nil)
    var status = stat()
    #expect(directory.path.withCString { lstat($0, &status) } == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    #expect(problem(directory) == nil)
  }

  @Test func `a directory that others may enter, a link and a file are refused`() throws {
    try File.makeDirectory(base["open"])
    try base.setMode(0o750, of: "open")
    try base.write(to: "file")
    try File.makeDirectory(base["target"])
    try base.setMode(0o700, of: "target")
    #expect(
      base["target"].withCString { target in
        base["link"].withCString { symlink(target, $0) }
      } == 0)
    for name in ["open", "file", "link"] {
      let reason = problem(SessionDirectory(path: base[name]))
      #expect(reason?.contains("must be a directory of this user") == true, "\(name)")
    }
    // The next one is used.
    #expect(problem(SessionDirectory(path: base["open"]), directory) == nil)
    #expect(problem(SessionDirectory(path: base["none/watchrun"])) != nil)
  }

  @Test func `a socket is found by its directory, however long that is`() throws {
    _ = try SessionDirectory.make(among: [directory])
    let long = Path("/" + String(repeating: "d/", count: 2000))
    let (listener, socket) = try directory.listen(for: long, process: 42)
    defer { _ = Descriptor(owning: listener) }
    #expect(try directory.sockets(of: long) == [socket])
    #expect(try directory.sockets(of: "/d").isEmpty)
    var status = stat()
    #expect(socket.withCString { lstat($0, &status) } == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(SessionDirectory.process(of: Path(bytes: socket.lastComponent)) == 42)
  }

  @Test func `the socket of a process that was killed is removed by the next session`() throws {
    _ = try SessionDirectory.make(among: [directory])
    // No process has this ID.
    let (listener, socket) = try directory.listen(for: "/a", process: Int32.max)
    _ = Descriptor(owning: listener)
    #expect(File.exists(socket))
    let (other, _) = try directory.listen(for: "/b")
    defer { _ = Descriptor(owning: other) }
    #expect(!File.exists(socket))
  }

  @Test func `a client needs one directory that can be used, and awaits that`() async throws {
    try File.makeDirectory(base["open"])
    try base.setMode(0o750, of: "open")
    let open = SessionDirectory(path: base["open"])
    let failure = #expect(throws: SessionError.self) { try SessionClient(in: "/p", [open]) }
    #expect(failure?.description.contains("cannot use") == true)
    let listener = Log<Int32>()
    let queue = DispatchQueue(label: "test.session")
    queue.asyncAfter(deadline: .now() + 0.05) { [directory] in
      guard (try? SessionDirectory.make(among: [directory])) != nil else { return }
      if let (number, _) = try? directory.listen(for: "/p") { listener.note(number) }
    }
    let client = try SessionClient(in: "/p", [open, directory], waiting: .seconds(60))
    #expect(client.directory == "/p")
    queue.sync {}
    for number in listener.entries { _ = Descriptor(owning: number) }
    // A process that another test starts at this moment has the socket open until it runs its program.
    #expect(
      await eventually { (try? SessionClient(in: "/p", [open, directory])) == nil })
    #expect(throws: SessionError.noSession("/p")) {
      try SessionClient(in: "/p", [open, directory])
    }
  }

  @Test func `a client asks the nearest ancestor with a session, and removes a stale socket`()
    throws
  {
    _ = try SessionDirectory.make(among: [directory])
    let (outer, _) = try directory.listen(for: "/p", process: 1)
    defer { _ = Descriptor(owning: outer) }
    let (inner, socket) = try directory.listen(for: "/p/q", process: 2)
    #expect(try SessionClient(in: "/p/q/r", [directory]).directory == "/p/q")
    _ = Descriptor(owning: inner)
    #expect(try SessionClient(in: "/p/q/r", [directory]).directory == "/p")
    #expect(!File.exists(socket))
    #expect(throws: SessionError.noSession("/other")) {
      try SessionClient(in: "/other", [directory])
    }
  }
}
