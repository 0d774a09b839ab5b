/// The QR code of a short text, such as the URL of a page (ISO/IEC 18004): in byte mode, with error
/// correction level L, and of the versions 1 to 5, whose data is a single block.
struct QRCode: Hashable, Sendable {
  /// The numbers of codewords of data and of error correction, from version 1 on.
  private static let capacities = [(19, 7), (34, 10), (55, 15), (80, 20), (108, 26)]
  /// The bytes that fill the data.
  private static let padding: [UInt8] = [0xEC, 0x11]
  /// The width of the light border.
  private static let quietZone = 4

  /// The number of modules of a side.
  let size: Int
  /// Whether each module is dark, row by row.
  private var modules: [Bool]
  /// Whether a module is the same for all texts.
  private var isFixed: [Bool]

  /// Creates a code; `nil` if the text is longer than 106 bytes.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let index = Self.capacities.firstIndex(where: { bytes.count + 2 <= $0.0 }) else {
      return nil
    }
    size = 21 + 4 * index
    modules = Array(repeating: false, count: size * size)
    isFixed = modules
    drawPatterns()
    let (count, correction) = Self.capacities[index]
    let data = Self.data(bytes, count: count)
    draw(data + Self.remainder(of: data, count: correction))
  }

  subscript(row: Int, column: Int) -> Bool {
    get { modules[row * size + column] }
    set { modules[row * size + column] = newValue }
  }

  // MARK: - Codewords

  /// The mode, the number of bytes, the bytes and the end, in half bytes; then the padding.
  private static func data(_ bytes: [UInt8], count: Int) -> [UInt8] {
    var data: [UInt8] = []
    var half: UInt8 = 4
    for byte in [UInt8(bytes.count)] + bytes {
      data.append(half << 4 | byte >> 4)
      half = byte & 15
    }
    data.append(half << 4)
    while data.count < count { data.append(padding[(data.count - bytes.count) % 2]) }
    return data
  }

  /// The Reed-Solomon codewords of data.
  private static func remainder(of data: [UInt8], count: Int) -> [UInt8] {
    // The product of (x - 2^i), without its first coefficient, which is 1.
    var divisor = [UInt8](repeating: 0, count: count - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<count {
      for index in divisor.indices {
        let next = index + 1 < count ? divisor[index + 1] : 0
        divisor[index] = product(divisor[index], root) ^ next
      }
      root = product(root, 2)
    }
    var remainder = [UInt8](repeating: 0, count: count)
    for byte in data {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in divisor.indices { remainder[index] ^= product(divisor[index], factor) }
    }
    return remainder
  }

  /// The product of two elements of the field of 256, modulo x^8 + x^4 + x^3 + x^2 + 1.
  private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
    var product: UInt8 = 0
    for bit in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7) * 0x1D
      if second >> bit & 1 == 1 { product ^= first }
    }
    return product
  }

  // MARK: - Modules

  private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
    guard (0..<size).contains(row), (0..<size).contains(column) else { return }
    self[row, column] = isDark
    isFixed[row * size + column] = true
  }

  /// Draws the patterns that are the same for all texts, and keeps the places of the format free.
  private mutating func drawPatterns() {
    for index in 0..<size {
      fix(6, index, index % 2 == 0)
      fix(index, 6, index % 2 == 0)
    }
    for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
      drawSquares(row, column, radius: 4, light: [2, 4])
    }
    if size > 21 { drawSquares(size - 7, size - 7, radius: 2, light: [1]) }
    drawFormat()
  }

  /// Draws squares around a center. Those at some distances from it are light.
  private mutating func drawSquares(_ row: Int, _ column: Int, radius: Int, light: [Int]) {
    for down in -radius...radius {
      for right in -radius...radius {
        fix(row + down, column + right, !light.contains(max(abs(down), abs(right))))
      }
    }
  }

  /// The level L and the mask 0, with their error correction.
  private static let format = 0x77C4

  /// Draws both copies of the format.
  private mutating func drawFormat() {
    for index in 0..<15 {
      let isDark = Self.format >> index & 1 == 1
      // The timing patterns are left out.
      if index < 8 {
        fix(index < 6 ? index : index + 1, 8, isDark)
        fix(8, size - 1 - index, isDark)
      } else {
        fix(8, index == 8 ? 7 : 14 - index, isDark)
        fix(size - 15 + index, 8, isDark)
      }
    }
    fix(size - 8, 8, true)
  }

  /// Draws the codewords in columns of two modules, from the right, up and down in turn.
  private mutating func draw(_ codewords: [UInt8]) {
    var bits: [Bool] = []
    for byte in codewords {
      for place in (0..<8).reversed() { bits.append(byte >> place & 1 == 1) }
    }
    var rest = bits[...]
    // The column of the timing pattern is left out.
    let pairs = Array(stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1]
    for (number, right) in pairs.enumerated() {
      for step in 0..<size {
        let row = number % 2 == 0 ? size - 1 - step : step
        for column in [right, right - 1] where !isFixed[row * size + column] {
          // The mask: readers accept each, and this one leaves no large areas of one colour.
          self[row, column] = (rest.popFirst() ?? false) != ((row + column) % 2 == 0)
        }
      }
    }
  }

  // MARK: - Text

  /// The number of columns of each line.
  var width: Int { size + 2 * Self.quietZone }

  /// The code as lines of half blocks, in which the light modules and the border are drawn, for a
  /// terminal that is dark.
  var lines: [String] {
    func isLight(_ row: Int, _ column: Int) -> Bool {
      guard (0..<size).contains(row), (0..<size).contains(column) else { return true }
      return !self[row, column]
    }
    return stride(from: -Self.quietZone, to: size + Self.quietZone, by: 2).map { row in
      String(
        (-Self.quietZone..<size + Self.quietZone).map { column -> Character in
          switch (isLight(row, column), isLight(row + 1, column)) {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        })
    }
  }
}
