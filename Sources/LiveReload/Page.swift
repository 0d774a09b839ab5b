import Support
import SystemCalls

/// A page to serve: the source of its responses, and the changes that reload it.
public struct Page: Hashable, Sendable {
  /// The source of responses.
  public enum Source: Hashable, Sendable {
    /// The files of a directory.
    case directory(Path)
    /// Another server, to which requests are passed.
    case upstream(ServerAddress)
  }

  /// The name of the page in messages.
  public var name: String
  /// The source of responses.
  public var source: Source
  /// The paths that other servers answer instead. Of several rules that match a request, the one
  /// with the longest path applies.
  public var proxies: [ProxyRule] = []
  /// The port to listen at; `nil` for that of the page that this one replaces, or the first free one from 8080 on.
  public var port: UInt16?
  /// Further addresses and names at which the page can be reached. If empty, the server listens at
  /// the loopback addresses only.
  public var hosts: [String] = []
  /// The tasks on which the page depends: it reloads when they have succeeded.
  public var dependencies: Set<String> = []
  /// The absolute paths of the files and directories whose changes reload the page. The server does
  /// not watch them: ``PageServer/note(_:)`` says what has changed.
  public var watched: [Path]
  /// The file that is sent for missing documents, such as `index.html`.
  public var fallback: String?
  /// Fields that are added to each answer of a file or a server, in place of fields of the same
  /// name. A Content-Security-Policy is extended by what the client script needs.
  public var headers: [HeaderField] = []
  /// Whether failures of the dependencies are shown in the page.
  public var showsOverlay = true
  /// Whether errors and warnings in the consoles of browsers are reported. They come from anyone who can
  /// reach the page, and are limited in size and rate.
  public var reportsConsole = false
  /// Whether a directory without an index lists its files.
  public var listsDirectories = false
  /// Whether files with names that begin with a dot are served.
  public var servesDotFiles = false
  /// Whether symbolic links may lead out of the directory.
  public var followsLinks = false

  /// Creates a page. The other properties have their defaults. Without `watched`, changes in the
  /// directory that it serves reload the page, if it serves one.
  public init(
    name: String, source: Source, port: UInt16? = nil, hosts: [String] = [],
    dependencies: Set<String> = [], watched: [Path]? = nil, fallback: String? = nil
  ) {
    self.name = name
    self.source = source
    self.port = port
    self.hosts = hosts
    self.dependencies = dependencies
    self.watched = watched ?? []
    if watched == nil, case .directory(let path) = source { self.watched = [path] }
    self.fallback = fallback
  }

  /// All rules for requests that are passed on, the longest paths first.
  var rules: [ProxyRule] {
    guard case .upstream(let address) = source, let rest = ProxyRule(path: "/", server: address)
    else { return proxies.sorted { $0.precedes($1) } }
    return (proxies + [rest]).sorted { $0.precedes($1) }
  }

  /// Whether other machines can reach the page.
  package var isReachableFromOutside: Bool {
    hosts.contains { HostAddress(host: $0)?.isLoopback != true }
  }
}

// Clients need paths, and need not know the module that defines them.
@_exported import struct SystemCalls.Path
// The compiler needs the spaces.
// swift-format-ignore
@_exported import func SystemCalls . /
