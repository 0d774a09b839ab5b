import SystemCalls

/// The resolution of a path: the symbolic links on the way, and the path at the end, which need not exist.
struct LinkChain {
  /// The largest number of links that the kernel follows.
  private static let maximumLength = 40

  /// The real paths of the links on the way, in order; of one that is a link itself, without that.
  private(set) var links: [Path] = []
  /// The real paths of all that is on the way, in order, up to the first that does not exist.
  private(set) var steps: [Path] = []
  private(set) var end: Path

  /// Resolves the link at `path`; `nil` if there is no link, or if it is circular.
  init?(from path: Path, on disk: some Disk) {
    guard let parent = path.parent, let directory = try? disk.resolved(parent),
      let target = try? disk.linkTarget(of: path)
    else { return nil }
    self.init(target, in: target.isAbsolute ? "/" : directory, on: disk)
  }

  /// Resolves the directories in which a path is; `nil` if a link there is circular.
  init?(above path: Path, on disk: some Disk) {
    guard let parent = path.parent else { return nil }
    self.init(parent, in: "/", on: disk)
  }

  private init?(_ path: Path, in directory: Path, on disk: some Disk) {
    end = directory
    var rest = Self.reversedNames(of: path)
    var isThere = true
    while let name = rest.popLast() {
      if name == [UInt8(ascii: "."), UInt8(ascii: ".")] {
        end = end.parent ?? end
        continue
      }
      end = end.appending(name)
      if isThere { steps.append(end) }
      guard let target = try? disk.linkTarget(of: end) else {
        isThere = isThere && disk.exists(end, followsLinks: false)
        continue
      }
      links.append(end)
      if links.count >= Self.maximumLength { return nil }
      end = target.isAbsolute ? "/" : end.parent ?? end
      rest += Self.reversedNames(of: target)
    }
  }

  private static func reversedNames(of path: Path) -> [[UInt8]] {
    path.components.filter { !$0.elementsEqual(".".utf8) }.map(Array.init).reversed()
  }
}
