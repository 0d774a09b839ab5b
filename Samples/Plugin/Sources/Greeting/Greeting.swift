/// A line that greets someone.
public func greeting(for name: String) -> String { "Hello, \(name)!" }
