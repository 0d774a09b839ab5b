import Testing

@testable import LiveReload

/// The hosts and origins that are allowed.
struct AccessPolicyTests {
  private let loopback = AccessPolicy(hosts: [])
  private let named = AccessPolicy(hosts: [
    "Box.local.", "192.168.1.5", "fe80::1%eth0", "[fd00::2]", "",
  ])
  private let open = AccessPolicy(hosts: ["0.0.0.0"])

  @Test(arguments: [
    "localhost", "LOCALHOST:8080", "localhost.", "localhost.:1", "a.localhost",
    "a.b.LocalHost:65535",
    "127.0.0.1", "127.1.2.3:80", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:1",
    "[::FFFF:7f00:1]",
  ])
  func `a loopback host is allowed`(host: String) {
    #expect(loopback.allows(host: Array(host.utf8)))
    #expect(loopback.allowsSocket(origin: Array("http://\(host)".utf8)))
    #expect(loopback.allowsSocket(origin: Array("https://\(host)".utf8)))
    #expect(loopback.allows(origin: Array("http://\(host)".utf8), host: Array(host.utf8)))
  }

  @Test(arguments: [
    "", "evil.test", "localhost.evil.test", "evillocalhost", "1.2.3.4", "0.0.0.0", "[::]", "[::2]",
    "localhost:", "localhost:0", "localhost:65536", "localhost:+1", "localhost:80:80",
    "localhost:8a",
    "localhost/", "user@localhost", "local host", " localhost", "localhost\t", "localhost..",
    ".localhost", "a..localhost", "localhost,evil.test", "::1", "[::1", "::1]", "[::1]x", "[::1]:",
    "127.1", "127.0.0.01", "2130706433", "0x7f.0.0.1", "0x7f000001", "127.0.0.256", "127.0.0.1.",
    "[::1%lo]", "[:::1]", "[1::2::3]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[::12345]", "[]",
    "[::ffff:1.2.3.4]", "[::127.0.0.1]", "[127.0.0.1]", "[::127.0.0.1:1]", "xn--", "evil.test:80",
    "localhost\0", "locälhost", "[1:2:3:4:5:6:7::8]", "a_b", "192.168.1.5", "127.0.0.1.evil.test",
  ])
  func `anything else is refused`(host: String) {
    #expect(!loopback.allows(host: Array(host.utf8)))
    #expect(!loopback.allowsSocket(origin: Array("http://\(host)".utf8)))
    #expect(!loopback.allows(origin: Array("http://\(host)".utf8), host: Array(host.utf8)))
  }

  @Test func `a request without a host is refused`() {
    #expect(!loopback.allows(host: nil))
    #expect(!open.allows(host: nil))
  }

  @Test(arguments: [
    ("box.local", true), ("BOX.LOCAL.:3000", true), ("192.168.1.5:8080", true), ("[fe80::1]", true),
    ("[FD00:0::2]:1", true), ("[::ffff:192.168.1.5]", true), ("localhost", true),
    ("a.box.local", false), ("192.168.1.6", false), ("[fe80::2]", false),
  ])
  func `named hosts are allowed beside loopback`(host: String, isAllowed: Bool) {
    #expect(named.allows(host: Array(host.utf8)) == isAllowed)
    #expect(named.allowsSocket(origin: Array("http://\(host)".utf8)) == isAllowed)
  }

  @Test(arguments: [
    ("1.2.3.4:80", true, false), ("[2001:db8::1]", true, false), ("192.168.7.8", true, true),
    ("10.1.1.1", true, true), ("172.16.0.1", true, true), ("172.32.0.1", true, false),
    ("169.254.1.1", true, true), ("100.64.0.1", true, true), ("100.128.0.1", true, false),
    ("[fd12::1]", true, true), ("[fe80::1]", true, true), ("0.0.0.0", true, false),
    ("evil.test", false, false), ("box.local", false, false), ("localhost", true, true),
  ])
  func `a wildcard allows addresses, and sockets from private ones`(
    host: String, isAllowed: Bool, allowsSocket: Bool
  ) {
    for wildcard in ["0.0.0.0", "::", "[::]"] {
      let policy = AccessPolicy(hosts: [wildcard])
      #expect(policy.allows(host: Array(host.utf8)) == isAllowed)
      #expect(policy.allowsSocket(origin: Array("http://\(host)".utf8)) == allowsSocket)
    }
  }

  @Test(arguments: [
    ("http://localhost", "localhost", true), ("http://localhost", "LOCALHOST.:80", true),
    ("http://localhost:8080", "localhost:8080", true), ("https://localhost", "localhost", true),
    ("https://localhost", "localhost:443", true), ("http://[::1]:1", "[::1]:1", true),
    ("http://localhost:8080", "localhost:8081", false),
    ("http://localhost", "localhost:8080", false),
    ("http://127.0.0.1:8080", "localhost:8080", false), ("http://evil.test", "localhost", false),
    ("http://evil.test", "evil.test", false), ("null", "localhost", false),
    ("", "localhost", false),
    ("localhost", "localhost", false), ("http://localhost/", "localhost", false),
    ("ws://localhost", "localhost", false), ("http://u@localhost", "localhost", false),
    ("https://localhost", "localhost:80", false), ("chrome-extension://abc", "localhost", false),
  ])
  func `the same origin has the same host and port`(origin: String, host: String, isSame: Bool) {
    #expect(loopback.allows(origin: Array(origin.utf8), host: Array(host.utf8)) == isSame)
  }

  @Test(arguments: [
    ("chrome-extension://jnihajbhpnppcggbcgedagnkighmdlei", true),
    ("moz-extension://0a1b2c3d-0000-4000-8000-000000000000", true),
    ("safari-web-extension://0A1B-2C", true), ("extension://a", false), ("null", false),
    ("", false),
    ("file://", false), ("http://localhost:3000", true), ("http://localhost.evil.test", false),
    ("http://1.2.3.4", false), ("http://evil.test", false), ("ftp://localhost", false),
  ])
  func `sockets are opened by local pages and by extensions`(origin: String, isAllowed: Bool) {
    #expect(loopback.allowsSocket(origin: Array(origin.utf8)) == isAllowed)
  }

  @Test func `a client that is not a browser may open a socket`() {
    #expect(loopback.allowsSocket(origin: nil))
  }
}
