import Testing

@testable import WatchrunSettings

struct ListenAddressTests {
  @Test(
    arguments: [
      ("8080", "127.0.0.1:8080"), (":8080", "127.0.0.1:8080"),
      ("localhost:80", "127.0.0.1:80"), ("0.0.0.0:65535", "0.0.0.0:65535"), ("[::1]:1", "[::1]:1"),
      ("auto", "auto"), ("0", nil), ("65536", nil), ("", nil), ("localhost", nil), ("::1:80", nil),
      ("web:80", nil), ("127.0.0.1", nil), ("127.0.0.1:", nil), ("[::1]", nil),
    ] as [(String, String?)])
  func `an address is a port, or a numeric address with a port`(text: String, address: String?) {
    #expect(ListenAddress(text)?.description == address)
  }

  @Test func `variables, readiness checks and pages know the port of a socket`() throws {
    let text = """
      { tasks: {
        api: { run: "x", service: true, listen: "auto" },
        web: { run: "x", service: true, listen: "10.0.0.1:90", ready: { line: "up" } },
        page: { proxy: { "/": "web", "/api": "api" } },
        other: { proxy: { "/": 1234, "/x": 90 } },
      } }
      """
    let project = try ProjectReader.read(Array(text.utf8), as: "file").project
      .choosingPorts { _ in 1234 }
    #expect(project.tasks.map { $0.listen?.description } == ["127.0.0.1:1234", "10.0.0.1:90"])
    #expect(project.tasks[0].readiness?.condition == .port(1234))
    #expect(project.tasks[1].readiness?.condition == .line("up"))
    #expect(project.tasks[1].environment.contains(.init("PORT", "90")))
    #expect(project.tasks[1].portVariables.contains(.init("API_PORT", "1234")))
    #expect(project.pages[0].proxies.map(\.isHeld) == [false, true])
    #expect(project.pages[1].proxies.map(\.isHeld) == [true, false])
    #expect(project.pages[0].proxies.map(\.server) == [.url("http://10.0.0.1:90"), .port(1234)])
  }
}
