import Greeting
import Testing

@Test func `greets by the path's first name`() {
  #expect(greeting(for: "/world").hasSuffix(", world!"))
  #expect(greeting(for: "/").hasSuffix(", you!"))
}
