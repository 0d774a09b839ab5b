import Testing

@testable import WatchrunCommandLine
@testable import WatchrunSettings

struct ColorModeTests {
  @Test(
    arguments: [
      (.never, true, [:], false), (.always, false, [:], true), (.auto, false, [:], false),
      (.auto, true, [:], true), (.auto, true, ["NO_COLOR": "1"], false),
      (.auto, true, ["NO_COLOR": ""], true), (.auto, true, ["TERM": "dumb"], false),
      (.always, false, ["NO_COLOR": "1"], true),
    ] as [(ColorMode, Bool, [String: String], Bool)])
  func `colour is used as the option says, by default at terminals only`(
    mode: ColorMode, isTerminal: Bool, variables: [String: String], isColored: Bool
  ) {
    #expect(mode.isColored(isTerminal: isTerminal) { variables[$0] } == isColored)
  }
}
