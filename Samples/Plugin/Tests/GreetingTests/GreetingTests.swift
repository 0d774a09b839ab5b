import Greeting
import Testing

@Test func `a greeting names whom it greets`() {
  #expect(greeting(for: "Ada") == "Hello, Ada!")
}
