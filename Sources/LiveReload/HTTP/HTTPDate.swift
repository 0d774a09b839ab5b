/// Dates in the formats of HTTP. Times are seconds since 1970.
enum HTTPDate {
  /// Formats a date as `Sun, 06 Nov 1994 08:49:37 GMT`. Years are clamped to 0 to 9999.
  static func string(secondsSince1970 seconds: Int) -> String {
    let seconds = min(max(seconds, earliest), latest)
    let days = seconds.flooredDivision(by: 86_400)
    let time = seconds - days * 86_400
    let (year, month, day) = Self.date(days: days)
    let weekday = weekdays[(days + 4 - (days + 4).flooredDivision(by: 7) * 7)].prefix(3)
    return "\(weekday), \(two(day)) \(months[month - 1]) "
      + "\(two(year / 100))\(two(year % 100)) "
      + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
  }

  /// Parses a date in one of three formats: that of `string(secondsSince1970:)`,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` (years from 70 on are in the 20th century), and
  /// `Sun Nov  6 08:49:37 1994`. The day of the week is not compared with the date.
  static func seconds(in value: some Collection<UInt8>) -> Int? {
    guard value.count <= 40 else { return nil }
    let text = Array(value)
    var words = text.split(separator: 0x20, omittingEmptySubsequences: false).map { Array($0) }
    // The third format pads the day with a space.
    if words.count == 6, words[2].isEmpty, words[3].count == 1 {
      words.remove(at: 2)
      words[2].insert(UInt8(ascii: "0"), at: 0)
    }
    guard let weekday = words.first else { return nil }
    if words.count == 5, isWeekday(weekday, long: false) {
      return seconds(day: words[2], month: words[1], year: words[4], time: words[3])
    }
    guard weekday.last == UInt8(ascii: ","), words.last?.elementsEqual("GMT".utf8) == true else {
      return nil
    }
    if words.count == 6, isWeekday(weekday.dropLast(), long: false) {
      return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
    }
    guard words.count == 4, isWeekday(weekday.dropLast(), long: true) else { return nil }
    let parts = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].count == 2, let short = parts[2].decimal() else { return nil }
    let year = Array(String(short + (short >= 70 ? 1900 : 2000)).utf8)
    return seconds(day: Array(parts[0]), month: Array(parts[1]), year: year, time: words[2])
  }

  private static let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static let earliest = days(year: 0, month: 1, day: 1) * 86_400
  private static let latest = days(year: 10_000, month: 1, day: 1) * 86_400 - 1

  private static func isWeekday(_ word: some Sequence<UInt8>, long: Bool) -> Bool {
    weekdays.contains { word.elementsEqual((long ? $0 : String($0.prefix(3))).utf8) }
  }

  private static func two(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  private static func seconds(
    day: [UInt8], month: [UInt8], year: [UInt8], time: [UInt8]
  ) -> Int? {
    let parts = time.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard day.count == 2, year.count == 4, parts.count == 3, parts.allSatisfy({ $0.count == 2 }),
      let day = day.decimal(), let year = year.decimal(),
      let month = months.firstIndex(where: { month.elementsEqual($0.utf8) }),
      let hour = parts[0].decimal(), let minute = parts[1].decimal(),
      let second = parts[2].decimal(), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = days(year: year, month: month + 1, day: day)
    // A day beyond the end of the month would be in the next one.
    guard day > 0, date(days: days) == (year, month + 1, day) else { return nil }
    return days * 86_400 + hour * 3_600 + minute * 60 + second
  }

  /// The number of days from 1970-01-01 to a date, in years that begin in March.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredDivision(by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = (shiftedMonth + 2) % 12 + 1
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}

extension Int {
  fileprivate func flooredDivision(by divisor: Int) -> Int {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
