import Support
import Testing

struct MarkupTests {
  @Test func `tags, entities and quotation marks become text`() {
    #expect(
      "a <b c=\"d\"> & 'e'".escapedForMarkup() == "a &lt;b c=&quot;d&quot;&gt; &amp; &#39;e&#39;")
    #expect("\"a\" < 'b'".escapedForMarkup(quotes: false) == "\"a\" &lt; 'b'")
  }
}
