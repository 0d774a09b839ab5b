/// The fields that a page adds to its answers.
struct PageHeaders: Sendable {
  private var fields: [(name: String, value: [UInt8])]
  /// The nonce with which the policy among them admits the client script; `nil` if it needs none.
  private(set) var nonce: String?
  /// Whether the policy among them forbids all scripts.
  private(set) var forbidScripts = false

  /// - Parameter nonce: A nonce that is used only if necessary.
  init(_ fields: [HeaderField], nonce: String) {
    self.fields = fields.map { ($0.name, Array($0.value.utf8)) }
    for index in self.fields.indices where fields[index].isNamed("content-security-policy") {
      switch ContentSecurityPolicy.admitClient(values: [self.fields[index].value], nonce: nonce) {
      case .forbidden: forbidScripts = true
      case .allowed(let values, let admitted):
        self.fields[index].value = values[0]
        self.nonce = admitted
      }
    }
  }

  /// Adds the fields to an answer, in place of those of the same name.
  func add(to answer: inout HTTPFields) {
    for (name, value) in fields { answer.set(name, value) }
  }
}
