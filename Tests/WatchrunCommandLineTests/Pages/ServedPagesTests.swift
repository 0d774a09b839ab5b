import FileObservation
import LiveReload
import SystemCalls
import TestSupport
import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

/// From a project, or a command line, to the pages that are served.
struct ServedPagesTests {
  private func pages(
    _ text: String, reportsConsoles: Bool = false
  ) throws -> [LiveReload.Page] {
    try readProject("{ tasks: { \(text) } }")
      .servedPages(in: "/p", reportsConsoles: reportsConsoles)
  }

  @Test func `a page of a project is served as its keys say`() throws {
    let pages = try pages(
      """
      site: { serve: 'public', port: 4000, host: ['0.0.0.0', 'a.local'], fallback: 'index.html',
              headers: { 'X-A': '1' }, overlay: false, listing: true, dotfiles: true },
      """)
    var page = Page(
      name: "site", source: .directory("/p/public"), port: 4000, hosts: ["0.0.0.0", "a.local"],
      watched: ["/p/public"], fallback: "index.html")
    page.headers = [try HeaderField(name: "X-A", value: "1")]
    page.showsOverlay = false
    page.listsDirectories = true
    page.servesDotFiles = true
    #expect(pages == [page])
  }

  @Test func `nothing is set that no key says`() throws {
    let page = try #require(try pages("site: { serve: '.' }").first)
    #expect(page.port == nil && page.hosts.isEmpty && page.fallback == nil)
    #expect(page.showsOverlay && !page.listsDirectories && !page.servesDotFiles)
    #expect(!page.followsLinks && page.dependencies.isEmpty && page.watched == ["/p"])
  }

  @Test(arguments: [true, false])
  func `a page reports its console as its key says, or as all do`(all: Bool) throws {
    let pages = try pages(
      "a: { serve: 'a', console: true }, b: { serve: 'b', console: false }, c: { serve: 'c' }",
      reportsConsoles: all)
    #expect(pages.map(\.reportsConsole) == [true, false, all])
  }

  @Test func `a page depends on all ancestors`() throws {
    let page = try #require(
      try pages(
        """
        a: { run: 'x' }, b: { run: 'x', after: ['a'] }, c: { run: 'x', after: ['b'] },
        other: { run: 'x' }, site: { serve: 'out', after: ['c'], reload: ['assets'] },
        """
      ).first)
    #expect(page.dependencies == ["a", "b", "c"])
    #expect(page.watched == ["/p/assets", "/p/out"])
  }

  @Test func `a proxy is reloaded by what its tasks watch`() throws {
    let page = try #require(
      try pages(
        """
        build: { run: 'x', watch: ['src'] }, lint: { run: 'x', watch: ['lint'] },
        app: { run: 'x', after: ['build'], watch: ['etc'], service: true, ready: { port: 1 } },
        web: { proxy: 'http://localhost:3000/app/', after: ['app'], reload: ['static', 'src'] },
        """
      ).first)
    #expect(page.source == .upstream(ServerAddress(port: 3000, basePath: "/app")))
    #expect(page.watched == ["/p/static", "/p/src", "/p/etc"])
  }

  @Test func `paths beside a directory, or a server, are proxied`() throws {
    let pages = try pages(
      """
      api: { run: 'x', watch: ['src'], service: true, ready: { port: 1 } },
      site: { serve: 'out', proxy: { '/api/': 3000, '/ws': 'http://a/b' }, after: ['api'] },
      web: { proxy: { '/api': 3000, '/': 5173 } },
      """)
    let site = try #require(pages.first)
    #expect(site.source == .directory("/p/out") && site.watched == ["/p/out", "/p/src"])
    #expect(
      site.proxies == [
        ProxyRule(path: "/api", server: ServerAddress(port: 3000)),
        ProxyRule(path: "/ws", server: ServerAddress(host: "a", port: 80, basePath: "/b")),
      ])
    #expect(pages.last?.source == .upstream(ServerAddress(port: 5173)))
    #expect(pages.last?.proxies.map(\.path) == ["/api"])
  }

  @Test func `what pages show is watched with what tasks watch`() throws {
    let project = try readProject(
      """
      { tasks: { a: { run: 'x', watch: ['src'] },
        site: { serve: 'out', reload: ['src', 'etc'] }, web: { proxy: 80 } } }
      """)
    let watched = project.watched(in: "/p")
    #expect(watched.map(\.path) == ["/p/src", "/p/etc", "/p/out"])
    #expect(watched.allSatisfy { $0.mayBeMissing })
  }

  @Test func `a served directory that is ignored starts no task`() throws {
    let project = try readProject(
      "{ ignore: ['out/'], tasks: { a: { run: 'x' }, site: { serve: 'out', after: ['a'] } } }")
    var settings = Settings()
    settings.ignores = project.ignores
    let graph = try project.graph(settings, in: "/p")
    let triggers = try #require(graph["a"]).triggers
    #expect(!triggers.isTriggered(by: .init(path: "/p/out/a", kind: .modified, type: .file)))
    #expect(triggers.isTriggered(by: .init(path: "/p/src/a", kind: .modified, type: .file)))
  }
}

/// The page of a command line.
struct CommandLinePageTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectories("public")
    try directory.makeDirectories("src")
  }

  private func page(_ words: String...) throws -> LiveReload.Page? {
    try OptionParser.parse(words.map { Array($0.utf8) }).servedPage(in: directory.path)
  }

  @Test func `a directory is served and watched`() throws {
    let page = try #require(try page("--serve", "public", "--port", "80", "--host", "a"))
    #expect(page.source == .directory(directory["public"]) && page.watched == [directory["public"]])
    #expect(page.port == 80 && page.hosts == ["a"])
    #expect(page.fallback == nil && !page.listsDirectories)
    #expect(try self.page("make") == nil)
    let fields = try self.page("--serve", "public", "--header", "X-A: 1")?.headers
    #expect(try fields == [HeaderField(name: "X-A", value: "1")])
    let other = try self.page("--serve", "public", "--fallback", "index.html", "--listing")
    #expect(other?.fallback == "index.html" && other?.listsDirectories == true)
  }

  @Test func `further paths reload the page where no command watches them`() throws {
    #expect(
      try page("--serve", "public", "-w", "src")?.watched == [
        directory["public"], directory["src"],
      ])
    #expect(try page("--serve", "public", "-w", "src", "make")?.watched == [directory["public"]])
  }

  @Test func `changes of watched files reload a proxy`() throws {
    #expect(try page("--proxy", "80", "-w", "src")?.watched == [directory["src"]])
    #expect(try page("--proxy", "80", "make")?.watched == [directory.path])
  }

  @Test func `a path beside the directory is proxied, and its command reloads the page`() throws {
    let rule = try #require(ProxyRule(path: "/api", server: ServerAddress(port: 3000)))
    let alone = try page("--serve", "public", "--proxy", "/api=3000")
    #expect(alone?.proxies == [rule] && alone?.watched == [directory["public"]])
    let page = try page("--serve", "public", "--proxy", "/api=3000", "-w", "src", "make")
    #expect(page?.source == .directory(directory["public"]))
    #expect(page?.watched == [directory["public"], directory["src"]])
    let other = try self.page("--proxy", "80", "--proxy", "/api=3000")
    #expect(other?.source == .upstream(ServerAddress(port: 80)) && other?.proxies == [rule])
  }

  @Test func `a directory that the command makes later is served`() throws {
    try directory.write(to: "file")
    #expect(try page("--serve", "later", "make")?.source == .directory(directory["later"]))
    let settings = try OptionParser.parse(["--serve", "later", "make"].map { Array($0.utf8) })
    #expect(settings.watchedWithPage.last == WatchedPath("later", mayBeMissing: true))
    let file = #expect(throws: Failure.self) { try page("--serve", "file", "make") }
    #expect(file?.status == 66 && file?.message.contains("not a directory") == true)
  }

  @Test func `without a command, a missing directory is refused`() throws {
    try directory.write(to: "file")
    let missing = #expect(throws: Failure.self) { try page("--serve", "none") }
    #expect(missing?.status == 66)
    #expect(
      missing?.message
        == "cannot serve none: No such file or directory; pass an existing directory to --serve")
    let file = #expect(throws: Failure.self) { try page("--serve", "file") }
    #expect(file?.status == 66 && file?.message.contains("not a directory") == true)
  }

  private func starts(_ path: String, _ words: String...) throws -> Bool {
    let settings = try OptionParser.parse(words.map { Array($0.utf8) })
    return settings.commandTriggers(in: directory.path).isTriggered(
      by: .init(path: directory[path], kind: .modified, type: .file))
  }

  @Test func `only watched paths start the command`() throws {
    #expect(try starts("src/a", "--serve", "public", "-w", "src", "make"))
    #expect(try !starts("public/a", "--serve", "public", "-w", "src", "make"))
    #expect(try starts("public/a", "--serve", "public", "make"))
    #expect(try !starts("src/a.md", "--serve", "public", "-e", "c", "make"))
    #expect(try starts("src/a.c", "--serve", "public", "-e", "c", "make"))
    #expect(try !starts("public/a", "--serve", "public", "-i", "public/", "make"))
    #expect(try !starts("src/deep/a", "--serve", "public", "-W", "src", "make"))
    #expect(try !starts("src/a", "--serve", "public", "--events", "create", "make"))
  }

  @Test func `a served directory that git ignores does not start the command`() throws {
    try directory.write("public/\n", to: ".gitignore")
    #expect(try !starts("public/a", "--serve", "public", "make"))
    #expect(try starts("src/a", "--serve", "public", "make"))
  }

  @Test func `the command's paths and the served directory are observed`() throws {
    func observed(_ words: String...) throws -> [Path] {
      try OptionParser.parse(words.map { Array($0.utf8) }).watchedWithPage.map(\.path)
    }
    #expect(try observed("--serve", "public", "make") == [".", "public"])
    #expect(try observed("--serve", "public") == ["public"])
    #expect(try observed("--serve", "public", "-w", "src") == ["public", "src"])
    #expect(try observed("--proxy", "80") == ["."])
  }
}
