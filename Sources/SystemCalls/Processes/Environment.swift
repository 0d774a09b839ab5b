/// The environment of this process, as `NAME=value`.
package func processEnvironment() -> [[UInt8]] {
  var variables: [[UInt8]] = []
  var next = environ
  while let variable = next.pointee {
    variables.append(Path(cString: variable).bytes)
    next = next.advanced(by: 1)
  }
  return variables
}

/// The variables whose names and values are UTF-8.
package func processEnvironmentText() -> [String: String] {
  var texts: [String: String] = [:]
  for variable in processEnvironment() {
    guard let cut = variable.firstIndex(of: UInt8(ascii: "=")),
      let name = String(validating: variable[..<cut], as: UTF8.self),
      let value = String(validating: variable[(cut + 1)...], as: UTF8.self)
    else { continue }
    texts[name] = value
  }
  return texts
}

/// The value of an environment variable of this process, if it is UTF-8.
package func environmentVariable(_ name: String) -> String? {
  getenv(name).flatMap { String(validatingCString: $0) }
}
