import SystemCalls

/// The number of connections that leave enough descriptors for watching and for commands.
enum ConnectionLimit {
  /// The most connections of clients. Each may need a second descriptor, for a file or for the
  /// server behind the page.
  ///
  /// - Parameter files: The number of files that the process may have open.
  static func connections(forOpenFiles files: Int) -> Int {
    let reserve = max(64, min(files / 4, 256))
    return max(least, min((files - reserve) / 2, most))
  }

  private static let least = 8
  private static let most = 4096
}
