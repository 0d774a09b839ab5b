/// What the server has to say.
public func greeting(for path: String) -> String {
  let name = path.split(separator: "/").first ?? "you"
  return "Hello, \(name)!"
}
