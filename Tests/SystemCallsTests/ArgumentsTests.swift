import SystemCalls
import Testing

@Suite struct ArgumentsTests {
  @Test func `the arguments are those that the process was started with`() {
    #expect(processArguments() == CommandLine.arguments.map { Array($0.utf8) })
  }
}
