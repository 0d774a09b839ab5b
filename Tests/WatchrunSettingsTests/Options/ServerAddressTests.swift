import LiveReload
import Testing

@testable import WatchrunSettings

struct ServerAddressTests {
  private func parse(_ text: String) -> (address: ServerAddress?, problems: [String]) {
    var reader = ValueReader([])
    let address = reader.address(text)
    return (address, reader.findings.map(\.message))
  }

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
    let address = try #require(parse(text).address)
    #expect(address.host == host && address.port == UInt16(port) && address.basePath == basePath)
  }

  @Test(arguments: [
    "", ":", "a", "a:", "a:0", "a:99999", ":65536", "a b:1", "http://", "http://a:b", "a:1?x",
    "3000:8080", "ftp://a:1", "https://a:1", "https://a", "user@a:1", "[::1]", "-1", "\u{1B}:1",
  ])
  func `anything else is refused`(text: String) {
    let (address, problems) = parse(text)
    #expect(address == nil && problems.count == 1)
    #expect(!problems.joined().contains("\n") && !problems.joined().contains("\u{1B}"))
  }

  @Test(arguments: [("3000", "localhost:3000"), ("http://[::1]/x", "[::1]:80/x")])
  func `an address is shown in a form that can be parsed`(text: String, shown: String) {
    #expect(parse(text).address?.description == shown)
  }
}
