import Synchronization
import SystemCalls

/// The next candidate. Other processes that run tests begin elsewhere.
private let nextPort = Mutex<UInt16>(20000 + UInt16(getpid() % 1000) * 10)

/// A free port of this computer, for a server that a test starts later. No other test gets it meanwhile, and
/// neither does a socket that takes any port: the kernel gives those higher ones.
package func freePort() throws(SystemError) -> UInt16 {
  while true {
    let port = nextPort.withLock { port in
      defer { port = port < 32000 ? port + 1 : 20000 }
      return port
    }
    do throws(SystemError) {
      _ = try Socket.listen(at: "127.0.0.1", port: port)
      return port
    } catch {
      guard error.code == EADDRINUSE else { throw error }
    }
  }
}
