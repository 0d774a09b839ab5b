import Testing

@testable import WatchrunCommandLine

/// Codes as a camera reads them.
struct QRCodeTests {
  /// As ZXing reads it.
  private static let url = [
    "█████████████████████████████████", "█████████████████████████████████",
    "████ ▄▄▄▄▄ ██▄▀▀  █  █ ▄▄▄▄▄ ████", "████ █   █ █▄  ▀▄█▄ ▀█ █   █ ████",
    "████ █▄▄▄█ ██▀▄██▄   █ █▄▄▄█ ████", "████▄▄▄▄▄▄▄█ ▀ █ ▀▄▀▄█▄▄▄▄▄▄▄████",
    "████ ▄▄█  ▄  █  ▄  ██▄ ▀██▄█▀████", "████▀█▀▀ █▄█▀▄██▀ ▄█ ▀   █▄ ▄████",
    "████▄█▄█▄▀▄▄▄██▄▄  ▄▄▀  █ █▄ ████", "████▄▀▄▄█▄▄▄▄█▀▀▄  ▀▄ ▀ ▄▀▄ ▄████",
    "████▄███▄█▄█▀█▀██▄ ▄ ▄▄▄  ▀▀▀████", "████ ▄▄▄▄▄ █  ▀▀▄ ▄  █▄█ ▀█▄ ████",
    "████ █   █ █▄ ▀▄█▄ ▀  ▄▄ █▀██████", "████ █▄▄▄█ █  ▀▀▄▀▄▄  ██  █▀▄████",
    "████▄▄▄▄▄▄▄█▄▄▄██▄▄█▄▄▄▄███▄▄████", "█████████████████████████████████",
    "█████████████████████████████████",
  ]

  @Test func `light modules and a border of four are drawn`() throws {
    let code = try #require(QRCode("http://192.168.178.23:8080/"))
    #expect(code.lines == Self.url && code.width == 33)
  }

  @Test func `a text of any length is read as it was`() throws {
    for length in [0, 1, 16, 17, 18, 32, 33, 53, 54, 78, 79, 105, 106] {
      let text = String((0..<length).map { Character(UnicodeScalar(UInt8(33 + $0 * 7 % 90))) })
      let code = try #require(QRCode(text))
      #expect(code.size == [17, 32, 53, 78, 106].first { $0 >= length }.map(Self.sizes))
      #expect(Reader(code).text == text)
    }
    #expect(QRCode(String(repeating: "x", count: 107)) == nil)
  }

  private static func sizes(_ longest: Int) -> Int {
    [17: 21, 32: 25, 53: 29, 78: 33, 106: 37][longest] ?? 0
  }
}

/// Reads the modules of a code in the order of the standard, and checks the error correction.
private struct Reader {
  private let code: QRCode

  init(_ code: QRCode) {
    self.code = code
  }

  /// The text; `nil` if the code has an error.
  var text: String? {
    let formats = [
      formatBits { place in
        place < 6
          ? (place, 8)
          : place < 8
            ? (place + 1, 8)
            : (8, place == 8 ? 7 : 14 - place)
      },
      formatBits { place in place < 8 ? (8, code.size - 1 - place) : (code.size - 15 + place, 8) },
    ]
    guard formats[0] == formats[1],
      let mask = (0..<8).first(where: { Self.format(mask: $0) == formats[0] })
    else { return nil }
    let codewords = codewords(mask)
    let counts = [21: (19, 7), 25: (34, 10), 29: (55, 15), 33: (80, 20), 37: (108, 26)]
    guard let (data, correction) = counts[code.size], codewords.count == data + correction,
      // A polynomial without errors is zero at the powers of two.
      (0..<correction).allSatisfy({ Self.value(of: codewords, at: Self.power($0)) == 0 })
    else { return nil }
    let halves = codewords.prefix(data).flatMap { [$0 >> 4, $0 & 15] }
    let count = Int(halves[1] << 4 | halves[2])
    let bytes = (0..<count).map { halves[3 + 2 * $0] << 4 | halves[4 + 2 * $0] }
    return halves[0] == 4 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private func formatBits(_ place: (Int) -> (Int, Int)) -> Int {
    (0..<15).reduce(0) { bits, index in
      let (row, column) = place(index)
      return bits | (code[row, column] ? 1 << index : 0)
    }
  }

  /// The formats of level L, from table C.1 of the standard.
  private static func format(mask: Int) -> Int {
    [0x77C4, 0x72F3, 0x7DAA, 0x789D, 0x662F, 0x6318, 0x6C41, 0x6976][mask]
  }

  private func isData(_ row: Int, _ column: Int) -> Bool {
    let (size, far) = (code.size, code.size - 8)
    if row == 6 || column == 6 { return false }
    if row < 9 && (column < 9 || column >= far) || row >= far && column < 9 { return false }
    let alignment = size - 9...size - 5
    return size == 21 || !alignment.contains(row) || !alignment.contains(column)
  }

  private func codewords(_ mask: Int) -> [UInt8] {
    var bits: [UInt8] = []
    var isUpward = true
    var right = code.size - 1
    while right > 0 {
      if right == 6 { right -= 1 }
      for row in isUpward ? Array((0..<code.size).reversed()) : Array(0..<code.size) {
        for column in [right, right - 1] where isData(row, column) {
          bits.append(code[row, column] != Self.inverts(row, column, mask) ? 1 : 0)
        }
      }
      isUpward.toggle()
      right -= 2
    }
    return (0..<bits.count / 8).map { index in
      bits[8 * index..<8 * index + 8].reduce(0) { $0 << 1 | $1 }
    }
  }

  private static func inverts(_ row: Int, _ column: Int, _ mask: Int) -> Bool {
    let (i, j) = (row, column)
    let values = [
      (i + j) % 2, i % 2, j % 3, (i + j) % 3, (i / 2 + j / 3) % 2, i * j % 2 + i * j % 3,
      (i * j % 2 + i * j % 3) % 2, ((i + j) % 2 + i * j % 3) % 2,
    ]
    return values[mask] == 0
  }

  private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
    var (result, rest, factor) = (0, Int(first), Int(second))
    while factor > 0 {
      if factor % 2 == 1 { result ^= rest }
      rest *= 2
      if rest > 255 { rest ^= 0x11D }
      factor /= 2
    }
    return UInt8(result)
  }

  private static func power(_ exponent: Int) -> UInt8 {
    (0..<exponent).reduce(1) { value, _ in product(value, 2) }
  }

  private static func value(of codewords: [UInt8], at point: UInt8) -> UInt8 {
    codewords.reduce(0) { product($0, point) ^ $1 }
  }
}
