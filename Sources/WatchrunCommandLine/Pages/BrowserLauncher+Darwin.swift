#if canImport(Darwin)

extension BrowserLauncher {
  /// Opens a URL in the default browser.
  static let systemOpener = "open"
}

#endif
