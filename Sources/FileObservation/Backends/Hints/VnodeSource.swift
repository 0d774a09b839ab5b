import Dispatch
import SystemCalls

/// What a watched vnode tells: something about itself, and never which of a folder's entries it was.
package struct VnodeEvents: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// It is under watch from now on. What happened before that is not told of.
  package static let registered = VnodeEvents(rawValue: 1)
  /// A file was written to, or an entry of a folder came or went.
  package static let written = VnodeEvents(rawValue: 2)
  /// Its mode, owner, times or number of names changed.
  package static let attributes = VnodeEvents(rawValue: 4)
  /// It was removed, renamed or made inaccessible: it is not what its path leads to any more.
  package static let gone = VnodeEvents(rawValue: 8)
}

/// The system's way to watch single files and folders by their vnodes, as kqueue does.
package protocol VnodeSource: Sendable {
  /// How many may be watched at once.
  var capacity: Int { get }

  /// Watches what is at `path` now, a C string, wherever it is moved to.
  ///
  /// - Parameters:
  ///   - queue: Where `handler` is called: once with `registered`, and then for what happens.
  /// - Throws: `EMFILE` if there is no room for one more.
  func watch(
    _ path: UnsafePointer<CChar>, followsLinks: Bool, on queue: DispatchQueue,
    _ handler: @escaping @Sendable (VnodeEvents) -> Void
  ) throws(SystemError) -> any VnodeWatch
}

/// A vnode under watch.
package protocol VnodeWatch: Sendable {
  /// Ends it. The handler is not called any more once a call that is on its way has been made.
  func cancel()
}
