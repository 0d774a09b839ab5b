/// What is to happen on a change: `[build|test|run PRODUCT] [-- arguments]`.
struct Request {
  private enum Verb {
    case build, test
    case run(product: String)
  }

  /// Where the package is built. SwiftPM holds a lock on `.build` while a plugin runs.
  private static let scratch = ".build/watch"
  private static let usage =
    "usage: swift package watch [build|test|run PRODUCT] [-- ARGUMENT…]"

  private var verb: Verb
  /// For `swift build`, `swift test` or the product.
  private var rest: [String]

  init(_ arguments: [String], products: [String]) throws {
    let words = arguments.prefix { $0 != "--" }
    rest = Array(arguments.dropFirst(words.count + 1))
    switch (words.first ?? "build", words.dropFirst().first, words.count) {
    case ("build", nil, _): verb = .build
    case ("test", nil, _): verb = .test
    case ("run", nil, _) where products.count == 1: verb = .run(product: products[0])
    case ("run", let product?, 2) where products.contains(product): verb = .run(product: product)
    case ("run", let product?, 2):
      throw Failure("no executable product '\(product)': the package has \(products.list)")
    case ("run", nil, _): throw Failure("run needs a product: the package has \(products.list)")
    default: throw Failure(Self.usage)
    }
  }

  /// The options and the command of `watchrun`.
  func options(swift: String) -> [String] {
    switch verb {
    case .build: ["--", swift, "build", "--scratch-path", Self.scratch] + rest
    case .test: ["--", swift, "test", "--scratch-path", Self.scratch] + rest
    case .run(let product):
      // The product goes on running until it has been built anew.
      [
        "--restart", "--build",
        "\(swift.quoted) build --scratch-path \(Self.scratch) --product \(product.quoted)",
        "--", "\(Self.scratch)/debug/\(product)",
      ] + rest
    }
  }
}

/// An error whose message is shown as it is.
struct Failure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

extension String {
  /// As one word of a shell line.
  fileprivate var quoted: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

extension [String] {
  fileprivate var list: String { isEmpty ? "none" : joined(separator: ", ") }
}
