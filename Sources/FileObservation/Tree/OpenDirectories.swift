import SystemCalls

/// The directories on the way to the one that a walk has come to, open, so that each is opened by its name in
/// the one around it: the kernel need not find its way there from the root each time.
///
/// They are kept only while the walk goes on: whoever changes what an entry stands for has to forget them.
final class OpenDirectories {
  private final class Directory {
    let entry: TreeSnapshot.Entry
    let descriptor: Descriptor

    init(_ entry: TreeSnapshot.Entry, _ descriptor: consuming Descriptor) {
      self.entry = entry
      self.descriptor = descriptor
    }
  }

  /// Of a longer way, the beginning is given up: the next directory is seldom far from the last.
  private static let most = 16

  /// Each in the one before.
  private var way: [Directory] = []

  /// Opens the directory at `path`, which lies in `parent`. A link is refused.
  func open(_ path: Path, in parent: TreeSnapshot.Entry?) throws(SystemError) -> Descriptor {
    while let last = way.last, last.entry != parent { way.removeLast() }
    guard let last = way.last else { return try .openDirectory(path) }
    return try .openDirectory(path, in: last.descriptor)
  }

  /// Keeps a directory open that has just been listed, because those in it are opened next.
  func keep(_ descriptor: consuming Descriptor, of directory: TreeSnapshot.Entry) {
    if way.count == Self.most { way.removeFirst() }
    way.append(Directory(directory, descriptor))
  }

  func forgetAll() {
    way.removeAll(keepingCapacity: true)
  }
}
