import Support
import Testing

struct TextColumnsTests {
  @Test(
    arguments: [
      ("", 0), ("build", 5), ("naïve", 5), ("nai\u{308}ve", 5), ("構築", 4), ("ﾃｽﾄ", 3), ("서버", 4),
      ("🚀", 2), ("👩‍💻", 2), ("✓ ok", 4), ("\u{301}", 0),
      ("✅", 2), ("⚡ x", 4), ("🖥", 1), ("\u{200D}", 0), ("🇩🇪🇫🇷", 4), ("\u{1F1E9}", 1),
    ]) func `wide characters take two columns, and combined ones none`(
      _ text: String, _ columns: Int
    )
  {
    #expect(text.columns == columns)
  }
}
