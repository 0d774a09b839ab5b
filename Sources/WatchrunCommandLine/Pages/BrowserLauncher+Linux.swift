#if os(Linux)

extension BrowserLauncher {
  /// Opens a URL in the default browser.
  static let systemOpener = "xdg-open"
}

#endif
