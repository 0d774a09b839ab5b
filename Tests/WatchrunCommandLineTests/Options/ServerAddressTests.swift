import LiveReload
import Testing

@testable import WatchrunCommandLine

struct ServerAddressTests {
  @Test(arguments: [
    ("3000", "localhost", 3000, ""), (":3000", "localhost", 3000, ""),
    ("localhost:3000", "localhost", 3000, ""), ("10.0.0.1:80/", "10.0.0.1", 80, ""),
    ("http://a.b", "a.b", 80, ""), ("HTTP://a:1", "a", 1, ""),
    ("http://a:1/app/", "a", 1, "/app"), ("a:1/app/v2", "a", 1, "/app/v2"),
    ("[::1]:3000", "::1", 3000, ""), ("http://[::1]/x", "::1", 80, "/x"),
  ])
  func `an address is parsed in every form`(
    text: String, host: String, port: Int, basePath: String
  ) throws {
    let address = try ServerAddress(parsing: text)
    #expect(address.host == host && address.port == UInt16(port) && address.basePath == basePath)
  }

  @Test(arguments: [
    "", ":", "a", "a:", "a:0", "a:99999", ":65536", "a b:1", "http://", "http://a:b", "a:1?x",
    "3000:8080", "ftp://a:1", "https://a:1", "https://a", "user@a:1", "[::1]", "-1", "\u{1B}:1",
  ])
  func `anything else is refused`(text: String) {
    let error = #expect(throws: Failure.self) { try ServerAddress(parsing: text) }
    #expect(error?.message.contains("\n") == false)
    #expect(error?.message.contains("\u{1B}") == false)
  }

  @Test(arguments: [("3000", "localhost:3000"), ("http://[::1]/x", "[::1]:80/x")])
  func `an address is shown in a form that can be parsed`(text: String, shown: String) throws {
    #expect(try ServerAddress(parsing: text).description == shown)
  }
}
