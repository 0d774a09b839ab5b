// Conveniences for paths whose names are UTF-8.
extension Path {
  /// The last name as a string; `nil` if it is empty or not UTF-8.
  public var name: String? {
    lastComponent.isEmpty ? nil : String(validating: lastComponent, as: UTF8.self)
  }

  /// The part of the name after its last dot, as in `swift`; `nil` if there is none, or if it is not
  /// UTF-8. A name that only begins with a dot, such as `.gitignore`, has no extension.
  public var `extension`: String? {
    let name = lastComponent
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    return String(validating: name[(dot + 1)...], as: UTF8.self)
  }

  /// This path, a slash, and a name.
  public static func / (path: Path, name: String) -> Path {
    path.appending(name)
  }
}
