@testable import PathFiltering

/// Decisions on paths by 200 rules like those in ignore files: most are names and extensions, some
/// contain directories and stars.
let matching = Benchmark(name: "verdict-200-rules", operations: 1000) {
  let rules = (0..<200).map { number in
    switch number % 10 {
    case 0: "generated\(number)/"
    case 1: "*.tmp\(number)"
    case 2: "/build\(number)/**/*.o"
    case 3: "cache\(number)"
    case 4: "**/fixtures\(number)/*.json"
    case 5: "!keep\(number).txt"
    case 6: "*.log\(number)"
    case 7: "report-\(number)-*.html"
    case 8: "docs/**/draft\(number).md"
    default: "name[0-9]\(number)?.c"
    }
  }
  let filter = PathFilter(
    base: "/project", ignore: rules.compactMap { GlobPattern(line: $0.utf8) }, sources: [.defaults])
  let stack = filter.stack(forRoot: "/project")
  let paths = (0..<1000).map { number in
    Array("/project/Sources/Module\(number % 40)/deep/\(fileName(number))".utf8)
  }
  return {
    var included = 0
    for path in paths {
      path.withUnsafeBufferPointer { bytes in
        let name = (bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1
        if filter.reports(bytes, nameAt: name, isDirectory: false, in: stack) { included += 1 }
      }
    }
    use(included)
  }
}
