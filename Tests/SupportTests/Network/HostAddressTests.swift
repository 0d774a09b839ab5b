import Support
import Testing

struct HostAddressTests {
  @Test(arguments: ["0x7f.1", "a.0x1", "127.1", "1.2.3.4.5", "a.1", "1", "a..b", "", "."])
  func `a host that browsers parse as a number is not a name`(host: String) {
    #expect(HostAddress(host.utf8) == nil)
  }

  @Test(arguments: [
    ("LocalHost.", "localhost"), ("127.0.0.1", "[::ffff:7f00:1]"), ("[::1]", "[0:0:0:0:0:0:0:1]"),
    ("[FD00::1]", "[fd00:0:0::0.0.0.1]"),
  ])
  func `a host has one canonical spelling`(text: String, other: String) {
    #expect(HostAddress(text.utf8) == HostAddress(other.utf8))
  }

  @Test(arguments: [
    "::1", "[::1", "[]", "[127.0.0.1]", "[::1%lo]", "[::1]\0", "127.0.0.1\0", "[1:2::3::4]",
  ])
  func `an address is written in one way`(text: String) {
    #expect(HostAddress(text.utf8) == nil)
  }

  @Test(arguments: ["::1", "[::1]", "fe80::1%eth0", "example.test", "10.0.0.1"])
  func `an option needs no brackets, and may name a zone`(text: String) {
    #expect(HostAddress(host: text) != nil)
  }
}
