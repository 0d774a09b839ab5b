import Support
import SystemCalls

/// Where watchrun listens for a service, which receives the socket.
package struct ListenAddress: Hashable, Sendable {
  /// A numeric address.
  package var host = loopbackAddresses[0]
  /// 0 for any free one.
  package var port = Project.Task.freePort

  /// Parses `8080`, `host:8080`, in which an IPv6 address has brackets, or `auto`.
  package init?(_ text: String) {
    if text == "auto" { return }
    let bytes = Array(text.utf8)[...]
    guard let parts = HostAndPort(bytes) else { return nil }
    let name = parts.port == nil ? "" : parts.name.decoded
    guard let number = parts.port.map(Int.init) ?? bytes.decimal(),
      let port = UInt16(exactly: number), port > 0
    else { return nil }
    if !name.isEmpty && name != "localhost" {
      guard HostAddress(host: name)?.isAddress == true else { return nil }
      host = name
    }
    self.port = port
  }

  /// Whether processes of this machine reach it at `localhost`.
  package var isLocal: Bool { HostAddress(host: host)?.isLocal ?? false }

  /// The server for pages, once the port is known.
  var server: Project.Page.Server {
    isLocal ? .port(port) : .url("http://\(bracketed(host)):\(port)")
  }
}

extension ListenAddress: CustomStringConvertible {
  package var description: String {
    port == Project.Task.freePort ? "auto" : "\(bracketed(host)):\(port)"
  }
}
