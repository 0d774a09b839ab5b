extension String {
  /// The text for HTML and XML, in which it is neither a tag nor an entity.
  ///
  /// - Parameter quotes: Whether quotation marks are escaped, too, as in the value of an attribute.
  package func escapedForMarkup(quotes: Bool = true) -> String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"" where quotes: result += "&quot;"
      case "'" where quotes: result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
