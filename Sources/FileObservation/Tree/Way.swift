import SystemCalls

/// The resolution of a path: what is on the way, and the path at the end, which need not exist.
struct Way {
  /// The largest number of links that the kernel follows.
  static let maximumLength = 40

  /// The real paths of the symbolic links on the way, in order, without the path itself.
  private(set) var links: [Path] = []
  /// The real paths of all that exists on the way, in order, without the path itself.
  private(set) var steps: [Path] = []
  /// The first on the way that does not exist, cannot be examined, or is a file where a directory must be.
  private(set) var missing: Path?
  /// The path in the real directory, which may be a link.
  private(set) var own: Path?
  /// Whether the path itself is a link.
  private(set) var isLink = false
  private(set) var end: Path

  /// Resolves a path.
  init(to path: Path, on disk: Disk) {
    end = "/"
    resolve(path, on: disk)
  }

  /// Resolves the link at `path`; `nil` if there is no link.
  init?(from path: Path, on disk: Disk) {
    guard let parent = path.parent, let directory = try? disk.resolved(parent),
      let target = try? disk.linkTarget(of: path)
    else { return nil }
    (own, isLink, end) = (
      directory.appending(path.lastComponent), true, target.isAbsolute ? "/" : directory
    )
    resolve(target, on: disk)
  }

  private mutating func resolve(_ path: Path, on disk: Disk) {
    var rest = Self.reversedNames(of: path)
    while let name = rest.popLast() {
      if name == [UInt8(ascii: "."), UInt8(ascii: ".")] {
        end = end.parent ?? end
        continue
      }
      end = end.appending(name)
      let isOwn = own == nil && rest.isEmpty
      if isOwn { own = end }
      if missing != nil { continue }
      do throws(SystemError) {
        let target = try disk.linkTarget(of: end)
        if isOwn { isLink = true } else { links.append(end) }
        // The rest of a circle is not looked up.
        if links.count >= Self.maximumLength { return }
        end = target.isAbsolute ? "/" : end.parent ?? end
        rest += Self.reversedNames(of: target)
      } catch {
        switch error.code {
        case EINVAL: if !isOwn { steps.append(end) }
        case ENOTDIR: missing = steps.last ?? end
        default: missing = end
        }
      }
    }
  }

  private static func reversedNames(of path: Path) -> [[UInt8]] {
    path.components.filter { !$0.elementsEqual(".".utf8) }.map(Array.init).reversed()
  }
}
