import Support
import Testing

struct HTTPAddressTests {
  struct Row: Sendable {
    let text: String
    var host = ""
    var port: UInt16 = 80
    var target = "/"
  }

  @Test(arguments: [
    Row(text: "http://localhost", host: "localhost"),
    Row(text: "HTTP://localhost:8080/", host: "localhost", port: 8080),
    Row(text: "http://127.0.0.1:1/a/b?c=d#e", host: "127.0.0.1", port: 1, target: "/a/b?c=d"),
    Row(text: "http://[::1]:8080?x", host: "::1", port: 8080, target: "/?x"),
    Row(text: "http://[::1]", host: "::1"),
  ])
  func `an address has a host, a port and a target`(row: Row) throws {
    let address = try #require(HTTPAddress(row.text))
    #expect(address.host == row.host)
    #expect(address.port == row.port)
    #expect(address.target == row.target)
  }

  @Test(arguments: [
    "", "localhost:80", "https://localhost", "http://", "http://:80", "http://a:0",
    "http://a:70000",
    "http://a:b", "http://a:1:2", "http://a:+1", "http://a]", "http://a:", "http://[::1",
    "http://[::1]x", "http://u@a", "http://a/b c",
    "http://a/\r\nX: y",
  ])
  func `other URLs are refused`(text: String) {
    #expect(HTTPAddress(text) == nil)
  }

  @Test func `an encrypted address is accepted where it is allowed`() throws {
    let address = try #require(HTTPAddress("https://localhost/x", allowsTLS: true))
    #expect(address.isEncrypted && address.port == 443 && address.target == "/x")
    #expect(HTTPAddress("https://localhost:1/", allowsTLS: true)?.port == 1)
    #expect(HTTPAddress("http://localhost/", allowsTLS: true)?.isEncrypted == false)
    #expect(HTTPAddress("https:///x", allowsTLS: true) == nil)
  }

  @Test func `the status is in the first line of the answer`() {
    let status = { (text: String) in HTTPAddress.status(in: Array(text.utf8)) }
    #expect(status("HTTP/1.1 200 OK\r\n") == 200)
    #expect(status("HTTP/1.0 503 ") == 503)
    #expect(status("HTTP/1.1 20") == nil)
    #expect(status("SSH-2.0-OpenSSH_9.2") == nil)
  }
}
