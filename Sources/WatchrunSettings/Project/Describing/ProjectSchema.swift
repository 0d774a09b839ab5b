import Support

/// The JSON schema of the project file for editors, based on the list of keys.
///
/// It accepts what ``ProjectReader`` accepts, except that a schema cannot compare values: names in
/// `after`, cycles, and ports that occur twice are left to the reader.
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
        "task": { \(object(.task)), "required": ["run"],
          \(taskRules) },
        "page": { \(object(.page)),
          \(pageRules) },
        "ready": { \(object(.readiness)),
          \(readinessRules) }
      }
    }

    """
  }

  private static func object(_ scope: ProjectKey.Scope) -> String {
    let properties = ProjectKey.all(in: scope).map { key in
      "\(JSONWriter.quoted(key.name)): { \(ValueSchema.keywords(for: key.kind)), "
        + "\"description\": \(JSONWriter.quoted(key.help)) }"
    }
    return "\"type\": \"object\", \"additionalProperties\": false, "
      + "\"properties\": {\n      \(properties.joined(separator: ",\n      ")) }"
  }
}

// MARK: - Combinations of keys

extension ProjectSchema {
  /// A command with the word `{tests}`.
  private static let withTests =
    #"{ "anyOf": [{ "type": "string", "pattern": "(^|[ \\t\\n;&|()])[{]tests[}]($|[ \\t\\n;&|()])" }, "#
    + #"{ "type": "array", "not": { "items": { "not": { "const": "{tests}" } } } }] }"#

  /// A task in several directories.
  private static let inDirectories =
    #"{ "required": ["each"], "properties": { "each": { "not": { "type": "array", "maxItems": 0 } } } }"#

  private static let taskRules = #"""
    "allOf": [
            {
              "description": "A service has no end to wait for; other tasks have no readiness check.",
              "if": { "anyOf": [
                { "required": ["service"], "properties": { "service": { "const": true } } },
                { "required": ["keepAlive"], "properties": { "keepAlive": { "const": true } } }
              ] },
              "then": { "properties": { "timeout": false, "onBusy": { "not": { "const": "queue" } } } },
              "else": { "properties": { "onBusy": { "not": { "const": "overlap" } }, "ready": false, "port": false, "listen": false, "stop": false, "restartLimit": false, "backOff": false } }
            },
            {
              "description": "Only one of two processes has a port or the terminal.",
              "if": { "required": ["onBusy"], "properties": { "onBusy": { "const": "overlap" } } },
              "then": {
                "properties": { "interactive": { "const": false }, "stop": false },
                "if": { "not": { "required": ["listen"] } },
                "then": { "properties": { "port": false, "ready": { "not": { "anyOf": [{ "required": ["port"] }, { "required": ["url"] }] } } } }
              }
            },
            {
              "description": "The port is that of the socket.",
              "if": { "required": ["listen"] },
              "then": { "properties": { "port": false } }
            },
            {
              "description": "The tests of a map replace a word of the command, which then ends.",
              "if": { "required": ["map"] },
              "then": { "properties": { "run": \#(withTests), "service": { "const": false }, "keepAlive": { "const": false } } },
              "else": { "properties": { "run": { "not": \#(withTests) } } }
            },
            {
              "description": "What runs in several directories ends.",
              "if": \#(inDirectories),
              "then": { "properties": { "directory": false, "service": false, "keepAlive": false, "interactive": false } }
            },
            {
              "description": "What is kept alive is restarted however often it ends.",
              "if": { "required": ["keepAlive"], "properties": { "keepAlive": { "const": true } } },
              "then": { "properties": { "restartLimit": false } }
            },
            {
              "description": "A manual task is started on request, not by changes.",
              "if": { "required": ["manual"], "properties": { "manual": { "const": true } } },
              "then": { "properties": { "watch": false } }
            },
            {
              "description": "An interactive task writes to the terminal itself.",
              "if": {
                "required": ["interactive"], "properties": { "interactive": { "const": true } }
              },
              "then": { "properties": { "pty": false, "output": false } }
            },
            {
              "description": "Changes are filtered only in a task that watches something.",
              "if": { "anyOf": [
                { "required": ["watch"], "properties": { "watch": { "type": "array", "maxItems": 0 } }, "not": \#(inDirectories) },
                { "required": ["after"], "not": { "anyOf": [{ "required": ["watch"] }, \#(inDirectories)] } },
                { "required": ["manual"], "properties": { "manual": { "const": true } } }
              ] },
              "then": { "properties": { "exts": false, "filter": false, "ignore": false, "writes": false, "events": false, "map": false } }
            }
          ]
    """#

  private static let pageRules = #"""
    "anyOf": [{ "required": ["serve"] }, { "required": ["proxy"] }],
          "dependentRequired": { "fallback": ["serve"], "listing": ["serve"], "dotfiles": ["serve"] },
          "allOf": [
            {
              "description": "One of a directory and a server answers what has no path of its own.",
              "if": { "required": ["serve"] },
              "then": { "properties": { "proxy": { "type": "object", "properties": { "/": false } } } },
              "else": { "properties": { "proxy": { "required": ["/"] } } }
            }
          ]
    """#

  private static let readinessRules = #"""
    "oneOf": [{ "required": ["port"] }, { "required": ["url"] }, { "required": ["line"] }, { "required": ["run"] }],
          "dependentRequired": { "status": ["url"] }
    """#
}
