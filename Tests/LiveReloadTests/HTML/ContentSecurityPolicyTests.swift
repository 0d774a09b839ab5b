import Testing

@testable import LiveReload

/// The relaxed policies for the client script, and the policies that forbid it.
struct ContentSecurityPolicyTests {
  private static func admit(_ values: [String]) -> ContentSecurityPolicy.Admission {
    ContentSecurityPolicy.admitClient(values: values.map { Array($0.utf8) }, nonce: "ours")
  }

  private static func allowed(
    _ values: [String], nonce: String? = nil
  ) -> ContentSecurityPolicy.Admission {
    .allowed(values: values.map { Array($0.utf8) }, nonce: nonce)
  }

  @Test(arguments: [
    "script-src 'none'", "Script-Src 'NONE'", "script-src", "default-src 'none'",
    "default-src 'self'; script-src-elem 'none'", "sandbox", "sandbox allow-forms",
    "script-src *, script-src 'none'", "default-src", "script-src 'none'; script-src *",
    "script-src 'nonce-a' 'strict-dynamic', script-src 'nonce-b'",
  ])
  func `a policy that allows no script forbids the client script`(policy: String) {
    #expect(Self.admit([policy]) == .forbidden)
    #expect(Self.admit(["script-src *", policy]) == .forbidden)
  }

  @Test(arguments: [
    "", "img-src 'none'", "script-src 'self'", "script-src *", "script-src http:", "default-src *",
    "default-src 'SELF'", "script-src 'none' 'self'", "sandbox allow-scripts",
    "script-src 'none'; script-src-elem 'self'", "script-src  'self' ;connect-src *;",
    "require-trusted-types-for 'script'; trusted-types x", "script-src 'self' 'sha256-AAAA'",
    "script-src 'self', img-src *", ",", ";;", "connect-src 'self'; script-src 'unsafe-inline' *",
  ])
  func `a policy that allows scripts of the same origin is not changed`(policy: String) {
    #expect(Self.admit([policy]) == Self.allowed([policy]))
  }

  @Test(arguments: [
    ("script-src https:", "script-src https: 'self'"),
    ("script-src cdn.test; img-src *", "script-src cdn.test 'self'; img-src *"),
    ("script-src 'sha256-AAAA'", "script-src 'sha256-AAAA' 'self'"),
    ("script-src 'nonce-'", "script-src 'nonce-' 'self'"),
    (#"script-src 'nonce-"><x'"#, #"script-src 'nonce-"><x' 'self'"#),
    ("script-src 'unsafe-inline'", "script-src 'unsafe-inline' 'self'"),
    ("script-src *; script-src-elem a.test", "script-src *; script-src-elem a.test 'self'"),
    ("script-src a.test; script-src *", "script-src a.test 'self'; script-src *"),
    (
      "default-src https:",
      "default-src https:; script-src-elem https: 'self'; connect-src https: 'self'"
    ),
    (
      "default-src 'none'; script-src 'self'",
      "default-src 'none'; script-src 'self'; connect-src 'self'"
    ),
    ("connect-src api.test", "connect-src api.test 'self'"),
    ("CONNECT-SRC 'none'", "connect-src 'self'"),
    ("connect-src", "connect-src 'self'"),
    ("script-src *, connect-src a.test", "script-src *, connect-src a.test 'self'"),
  ])
  func `only missing permissions are added`(policy: String, rewritten: String) {
    #expect(Self.admit([policy]) == Self.allowed([rewritten]))
  }

  @Test(arguments: [
    ("script-src 'nonce-abc+/=='", "script-src 'nonce-abc+/=='", "abc+/=="),
    ("script-src 'Nonce-aB' 'strict-dynamic'", "script-src 'Nonce-aB' 'strict-dynamic'", "aB"),
    (
      "script-src 'strict-dynamic' 'sha256-A'",
      "script-src 'strict-dynamic' 'sha256-A' 'nonce-ours'", "ours"
    ),
    (
      "script-src 'self' 'strict-dynamic'", "script-src 'self' 'strict-dynamic' 'nonce-ours'",
      "ours"
    ),
    (
      "default-src 'strict-dynamic' *; connect-src *",
      "default-src 'strict-dynamic' *; connect-src *; "
        + "script-src-elem 'strict-dynamic' * 'nonce-ours'", "ours"
    ),
    (
      "script-src 'nonce-a' 'nonce-b', script-src 'nonce-b' 'nonce-c'",
      "script-src 'nonce-a' 'nonce-b', script-src 'nonce-b' 'nonce-c'", "b"
    ),
    (
      "script-src 'nonce-a', script-src 'strict-dynamic'",
      "script-src 'nonce-a', script-src 'strict-dynamic' 'nonce-a'", "a"
    ),
  ])
  func `a nonce is reused, or added if only a nonce allows the script`(
    policy: String, rewritten: String, nonce: String
  ) {
    #expect(Self.admit([policy]) == Self.allowed([rewritten], nonce: nonce))
  }

  @Test func `several headers keep their order, and are relaxed separately`() {
    #expect(
      Self.admit(["script-src a.test", "img-src  *", "connect-src b.test"])
        == Self.allowed(["script-src a.test 'self'", "img-src  *", "connect-src b.test 'self'"]))
    #expect(Self.admit([]) == Self.allowed([]))
  }
}
