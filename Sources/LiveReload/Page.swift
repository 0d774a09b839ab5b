import SystemCalls

/// A page that is open in a browser: where its files come from, and what makes it reload.
public struct Page: Hashable, Sendable {
  /// Where responses come from.
  public enum Source: Hashable, Sendable {
    /// The files of a directory.
    case directory(Path)
    /// Another server.
    case upstream(ServerAddress)
  }

  /// The name by which it is shown.
  public var name: String
  /// Where responses come from.
  public var source: Source
  /// The port at which it is served; `nil` for the first free one from 8080 on.
  public var port: UInt16?
  /// Addresses and names by which it can be reached beside those of this machine. Empty: it listens at
  /// the loopback addresses only.
  public var hosts: [String] = []
  /// The tasks that must have succeeded before it reloads.
  public var dependencies: Set<String> = []
  /// The files and directories whose changes reload it, by absolute paths.
  public var watched: [Path] = []
  /// The file that answers requests for pages that are not there, such as `index.html`.
  public var fallback: String?
  /// Whether failures of its dependencies are shown in the page.
  public var showsOverlay = true
  /// Whether a directory without an index lists its files.
  public var listsDirectories = false
  /// Whether files are served whose names begin with a dot.
  public var servesDotFiles = false
  /// Whether symbolic links may lead out of the directory.
  public var followsLinks = false

  /// A page; what is not given is as usual.
  public init(
    name: String, source: Source, port: UInt16? = nil, hosts: [String] = [],
    dependencies: Set<String> = [], watched: [Path] = [], fallback: String? = nil
  ) {
    self.name = name
    self.source = source
    self.port = port
    self.hosts = hosts
    self.dependencies = dependencies
    self.watched = watched
    self.fallback = fallback
  }

  /// Whether one of its hosts is not this computer's loopback interface.
  package var isReachableFromOutside: Bool {
    hosts.contains { HostAddress(host: $0)?.isLoopback != true }
  }
}
