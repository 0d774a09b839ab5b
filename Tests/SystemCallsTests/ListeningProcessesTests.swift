#if os(Linux)

import Testing

@testable import SystemCalls

struct ListeningProcessesTests {
  @Test func `what listens at a port is found with its ancestors`() throws {
    let socket = try Socket.listen(at: "127.0.0.1", port: 0)
    let port = Socket.port(of: socket)
    let found = listeningProcesses(atPort: port, after: nil)
    let (own, parent) = processIDs()
    #expect(found.processes == [own])
    #expect(found.lineage.isSuperset(of: [own, parent, getpgid(0)]))
    _ = consume socket
  }
}

#endif  // os(Linux)
