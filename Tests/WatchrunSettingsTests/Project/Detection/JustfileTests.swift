import Testing

@testable import WatchrunSettings

@Suite struct JustfileTests {
  @Test(
    arguments: [
      ("build:\n  x", ["build"]), ("@test a='b:c' +d: build\n", ["test"]),
      ("x := 'a:b'\nset dotenv-load := true\nalias b := build", []),
      ("# a: b\n[private]\n_h:\n", ["_h"]), ("  indented: x", []),
      ("a b='c d:' *e: f g\nh x=(y + 'z:'):\n", ["a", "h"]), ("a b c\nd ?:\n", []),
    ] as [(String, [String])])
  func `the recipes of a justfile are those with rules`(text: String, recipes: [String]) {
    #expect(Justfile(text).recipes.map(\.name) == recipes)
  }

  @Test(
    arguments: [
      ("a:", false), ("a b:", true), ("a +b:", true), ("a *b:", false), ("a $b:", true),
      ("a b='c':", false), ("a b=`d e` c:", true), ("a *$b: c d", false),
    ])
  func `a recipe needs arguments if a parameter has no default`(line: String, needs: Bool) {
    #expect(Justfile(line).recipes.map(\.needsArguments) == [needs])
  }
}
