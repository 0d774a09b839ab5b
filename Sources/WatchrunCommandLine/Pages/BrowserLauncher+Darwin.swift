#if canImport(Darwin)

extension BrowserLauncher {
  static let systemOpener = "open"
}

#endif
