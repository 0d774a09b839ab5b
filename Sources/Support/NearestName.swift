/// Returns the most similar name, for a suggestion after a typo; `nil` if none is similar enough.
package func nearestName(to written: String, among names: [String]) -> String? {
  let distances = names.map { (name: $0, distance: editDistance(written, $0)) }
  guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
  let isContained = names.filter { $0.hasPrefix(written) }
  if written.count > 3, isContained.count == 1 { return isContained.first }
  return best.distance <= max(1, written.count / 3) ? best.name : nil
}

/// The edit distance: the number of insertions, deletions, substitutions and swaps of neighbours.
private func editDistance(_ left: String, _ right: String) -> Int {
  let left = Array(left.unicodeScalars)
  let right = Array(right.unicodeScalars.prefix(64))
  guard left.count <= 64 else { return .max }
  var rows = [Array(0...right.count)]
  for row in left.indices {
    var next = [row + 1]
    for column in right.indices {
      let change = rows[row][column] + (left[row] == right[column] ? 0 : 1)
      var best = min(change, rows[row][column + 1] + 1, next[column] + 1)
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, rows[row - 1][column - 1] + 1)
      }
      next.append(best)
    }
    rows.append(next)
  }
  return rows[left.count][right.count]
}
