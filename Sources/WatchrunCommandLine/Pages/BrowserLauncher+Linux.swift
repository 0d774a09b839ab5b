#if os(Linux)

extension BrowserLauncher {
  static let systemOpener = "xdg-open"
}

#endif
