import Support

/// The JSON schema of the project file for editors, based on the list of keys.
///
/// It accepts what ``ProjectReader`` accepts, and says names and types. What a text must be, and which keys have a
/// meaning together, the reader says, in words.
package enum ProjectSchema {
  /// Identifies the schema: the name of its file in `Documentation`.
  package static let file = "watchrun.schema.json"
  /// The value of `$schema` for the schema beside the project file, where the output of
  /// `watchrun --schema` may be put. The schema is not published at an address of its own.
  package static let address = "./" + file

  package static var text: String {
    """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "$id": \(JSONWriter.quoted(file)),
      "title": "watchrun.json",
      "description": "The tasks of a project, run by watchrun when files change.",
      \(object(.project)), "required": ["tasks"],
      "$defs": {
        "task": { \(object(.task)), "required": ["run"] },
        "page": { \(object(.page)), \(anyOf("serve", "proxy")) },
        "ready": { \(object(.readiness)), \(anyOf("port", "url", "line", "run")) }
      }
    }

    """
  }

  private static func object(_ scope: ProjectKey.Scope) -> String {
    let properties = ProjectKey.all(in: scope).map { key in
      "\(JSONWriter.quoted(key.name)): { \(key.kind.schema), "
        + "\"description\": \(JSONWriter.quoted(key.help)) }"
    }
    return "\"type\": \"object\", \"additionalProperties\": false, "
      + "\"properties\": {\n      \(properties.joined(separator: ",\n      ")) }"
  }

  /// At least one of these keys.
  private static func anyOf(_ keys: String...) -> String {
    let one = keys.map { "{ \"required\": [\"\($0)\"] }" }
    return "\"anyOf\": [\(one.joined(separator: ", "))]"
  }
}
