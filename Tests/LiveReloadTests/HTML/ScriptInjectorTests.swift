import TestSupport
import Testing

@testable import LiveReload

/// The position of the tag, which does not depend on how a document is split.
struct ScriptInjectorTests {
  private static let tag = "<T>"

  /// The documents, with `@` where the tag must be inserted.
  private static let documents = [
    "@", "text@", "<p>a</p>@", "<html><body>a@</body></html>", "<BODY>a@</BoDy >x</body>",
    "a@</body", "a@</bod", "a@<", "a@</", "a@</body/>", "a@</body\n>", "a@</body class='>'>",
    "<bodyguard></bodyguard>@</body>", "<body>@</body></body>", "<<@</body>", "<</<@",
    "<<<</x>@</body>", "< /body>@</body>", "a < b @</body>",
    "<!-- </body> -->@</body>", "<!-->@</body>", "<!--->@</body>", "<!--x--!>@</body>",
    "<!--!></body>-->@</body>", "<!-- - -- > </body> -->@</body>", "<!-- a ---> @</body>",
    "<!doctype html>@</body>", "<!x </body>@", "<? </body>@</body>", "</ </body>@</body>",
    "</>@</body>", "<![CDATA[ </body> ]]>@</body>", "<!->@</body>", "<!>@</body>",
    "<script>'</body>'</script>@</body>", "<SCRIPT src=a>'</body>'</Script >@</body>",
    "<script></scripts></body></script>@</body>",
    "<script><!-- <script> </script> </body> --></script>@</body>",
    "<script><!-- <script> </script> </body> </script>@</body>",
    "<script><!-- </script>@</body> --></script>",
    "<script><!-- <scripty> </script>@</body>",
    "<script><script> </script>@</body>",
    "<style></body></style>@</body>", "<title></body></title>@</body>",
    "<textarea></body></textareas></body></textarea a=b>@</body>",
    "<noscript></body></noscript>@</body>", "<iframe></body></iframe>@</body>",
    "<plaintext></body></plaintext></body>@",
    "<template><body></body></template>@</body>", "</template>@</body>",
    "<template><template></template></body></template>@</body>",
    "<a title='</body>'>@</body>", "<a title=\"</body>\">@</body>", "<a title = '</body>'>@</body>",
    "<a title=</body>@</body>", "<a '</body>@</body>'>", "<a b='c'd=\"</body>\">@</body>",
    "<a/b='</body>'>@</body>", "<a b='>' c>@</body>", "<a b='\"></body>'>@",
    "<p =\"</body>@</body>",
    "<averyveryverylongelementname>@</body>",
  ]

  private static func expectation(_ document: String) -> (input: [UInt8], output: String) {
    (Array(document.replacing("@", with: "").utf8), document.replacing("@", with: tag))
  }

  private static func run(_ parts: [[UInt8]]) -> (injector: ScriptInjector, output: [UInt8]) {
    var injector = ScriptInjector(tag: Array(tag.utf8))
    var output: [UInt8] = []
    for part in parts { output += injector.process(part) }
    output += injector.finish()
    return (injector, output)
  }

  @Test(arguments: documents)
  func `the tag is inserted before the end tag of the body, or at the end`(document: String) {
    let (input, output) = Self.expectation(document)
    let (injector, result) = Self.run([input])
    #expect(String(decoding: result, as: UTF8.self) == output)
    #expect(injector.hasInjected)
  }

  @Test(arguments: documents)
  func `any split gives the same output`(document: String) {
    let (input, output) = Self.expectation(document)
    #expect(String(decoding: Self.run(input.map { [$0] }).output, as: UTF8.self) == output)
    for cut in input.indices {
      let parts = [Array(input[..<cut]), [], Array(input[cut...])]
      #expect(String(decoding: Self.run(parts).output, as: UTF8.self) == output)
    }
  }

  @Test func `random documents, split at random, lose nothing and get one tag`() {
    var random = SeededGenerator(seed: 15)
    let pieces = [
      "</body>", "</body", "<", "/", ">", "<!--", "-->", "<script>", "</script>", "'", "\"", "=",
      "<a b=", "x", " ", "<title>", "</title>", "body", "-", "!", "<template>", "</template>",
    ].map { Array($0.utf8) }
    for _ in 0..<2_000 {
      let count = Int.random(in: 0..<20, using: &random)
      let document = (0..<count).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
      var parts: [[UInt8]] = []
      var rest = document[...]
      while !rest.isEmpty {
        let size = Int.random(in: 0...min(7, rest.count), using: &random)
        parts.append(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      let whole = Self.run([document]).output
      #expect(Self.run(parts).output == whole)
      let text = String(decoding: whole, as: UTF8.self)
      #expect(Array(text.replacing(Self.tag, with: "", maxReplacements: 1).utf8) == document)
      #expect(whole.count == document.count + Self.tag.utf8.count)
    }
  }

  @Test(arguments: ["<p>text", "a<!-- comment", "<script>code </scr", "<a title='x</body>", "</p"])
  func `bytes that cannot begin the end tag are not held back`(text: String) {
    var injector = ScriptInjector(tag: Array(Self.tag.utf8))
    #expect(injector.process(text.utf8) == Array(text.utf8))
  }

  @Test func `at most six bytes are held back`() {
    var injector = ScriptInjector(tag: Array(Self.tag.utf8))
    #expect(injector.process("a</body".utf8) == Array("a".utf8))
    #expect(injector.process("x".utf8) == Array("</bodyx".utf8))
    #expect(injector.process("><<<<".utf8) == Array("><<<".utf8))
    #expect(!injector.hasInjected)
  }

  @Test(arguments: [[0xFE, 0xFF] as [UInt8], [0xFF, 0xFE]])
  func `UTF-16 is not changed`(mark: [UInt8]) {
    let document = mark + "</body>".utf8
    for parts in [[document], document.map { [$0] }] {
      let (injector, output) = Self.run(parts)
      #expect(output == document)
      #expect(!injector.hasInjected)
    }
  }

  @Test func `an incomplete byte order mark is text`() {
    #expect(Self.run([[0xFE, 0x41]]).output == [0xFE, 0x41] + Self.tag.utf8)
    #expect(Self.run([[0xFF], [0xFF]]).output == [0xFF, 0xFF] + Self.tag.utf8)
    #expect(
      Self.run([[0xFF]] + "</body>".utf8.map { [$0] }).output
        == [0xFF] + "<T></body>".utf8)
  }
}
