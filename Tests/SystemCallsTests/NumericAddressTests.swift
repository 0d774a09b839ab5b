import SystemCalls
import Testing

struct NumericAddressTests {
  @Test func `addresses are read as bytes`() {
    #expect(ipv4Bytes("10.0.0.255".utf8) == [10, 0, 0, 255])
    #expect(ipv6Bytes("1::ff02".utf8) == [0, 1] + [UInt8](repeating: 0, count: 12) + [0xFF, 2])
  }

  @Test(arguments: ["", "1.2.3", "01.2.3.4", "1.2.3.256", "1.2.3.4\0", "::1", "0x7f.0.0.1"])
  func `anything else is no IPv4 address`(text: String) {
    #expect(ipv4Bytes(text.utf8) == nil)
  }

  @Test func `localhost has two addresses to try`() {
    for name in ["LOCALHOST", "app.localhost", "a.b.LocalHost", "localhost.", "a.localhost."] {
      #expect(addressesToTry(of: name) == ["127.0.0.1", "::1"])
    }
    #expect(addressesToTry(of: "192.0.2.1") == ["192.0.2.1"])
  }
}
