import SystemCalls

/// Which way a symbolic link leads: through which other links, and where to in the end, though there
/// may be nothing.
struct LinkTrail {
  /// More are a circle, as for the kernel.
  private static let longest = 40

  /// The links on the way, without the first, each by its real path.
  private(set) var links: [Path] = []
  private(set) var end: Path

  /// The way of the link at `path`; nil if there is no link, or if it leads in a circle.
  init?(from path: Path) {
    guard let parent = path.parent, let folder = try? resolvedPath(parent),
      let target = try? linkTarget(of: path)
    else { return nil }
    end = folder
    var rest = Self.names(of: target)
    if target.isAbsolute { end = "/" }
    while let name = rest.popLast() {
      if name == [UInt8(ascii: "."), UInt8(ascii: ".")] {
        end = end.parent ?? end
        continue
      }
      end = end.appending(name)
      guard let target = try? linkTarget(of: end) else { continue }
      links.append(end)
      if links.count >= Self.longest { return nil }
      end = target.isAbsolute ? "/" : end.parent ?? end
      rest += Self.names(of: target)
    }
  }

  /// From the last to the first.
  private static func names(of path: Path) -> [[UInt8]] {
    path.components.filter { !$0.elementsEqual(".".utf8) }.map(Array.init).reversed()
  }
}
