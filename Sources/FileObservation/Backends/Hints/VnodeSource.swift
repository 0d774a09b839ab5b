import Dispatch
import SystemCalls

/// Events of a watched vnode. Those of a directory do not name its entries.
struct VnodeEvents: OptionSet, Hashable, Sendable {
  let rawValue: UInt8

  /// The watch is in force from now on. Earlier changes are not reported.
  static let registered = VnodeEvents(rawValue: 1)
  /// A file was written to, or an entry of a directory appeared or disappeared.
  static let written = VnodeEvents(rawValue: 2)
  /// Its mode, owner, timestamps or number of links changed.
  static let attributes = VnodeEvents(rawValue: 4)
  /// It was removed, renamed or made inaccessible.
  static let gone = VnodeEvents(rawValue: 8)
}

/// Watches single files and directories by their vnodes, as kqueue does.
protocol VnodeSource: Sendable {
  /// The largest number of watches.
  var capacity: Int { get }

  /// Watches the vnode at `path`, a C string, under whatever path it is moved to.
  ///
  /// - Parameters:
  ///   - queue: The queue on which `handler` is called: once with `registered`, and then with each event.
  /// - Throws: `EMFILE` if the limit of descriptors is reached.
  func watch(
    _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (VnodeEvents) -> Void
  ) throws(SystemError) -> any VnodeWatch
}

/// A watch of a vnode.
protocol VnodeWatch: Sendable {
  /// Ends the watch. The handler may be called once more.
  func cancel()
}
