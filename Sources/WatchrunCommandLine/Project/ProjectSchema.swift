import ActionRunning
import Support

/// The JSON schema of the project file, made from the list of keys, for editors.
enum ProjectSchema {
  static var text: String {
    let project = object(.project, required: ["tasks"])
    return """
      {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "watchrun.json",
        "description": "The tasks of a project, run by watchrun when files change.",
        \(project),
        "$defs": {
          "task": { \(object(.task, required: ["run"])) },
          "page": { \(object(.page, required: [])), "oneOf": [{ "required": ["serve"] }, { "required": ["proxy"] }] },
          "ready": { \(object(.readiness, required: [])), "oneOf": [{ "required": ["port"] }, { "required": ["url"] }, { "required": ["line"] }] }
        }
      }

      """
  }

  private static func object(_ scope: ProjectKey.Scope, required: [String]) -> String {
    let keys = ProjectKey.all.filter { $0.scopes.contains(scope) }
    let properties = keys.map { key in
      "\(JSONWriter.quoted(key.name)): { \(type(of: key.kind)), "
        + "\"description\": \(JSONWriter.quoted(key.help)) }"
    }
    let list = required.map { JSONWriter.quoted($0) }.joined(separator: ", ")
    let needs = required.isEmpty ? "" : ", \"required\": [\(list)]"
    return "\"type\": \"object\", \"additionalProperties\": false\(needs), "
      + "\"properties\": {\n      \(properties.joined(separator: ",\n      ")) }"
  }

  private static let someText = #""type": "string", "minLength": 1"#
  private static let words = #""type": "array", "items": { "type": "string" }"#
  private static let name = ##""pattern": "^[^\\s-]\\S*$""##
  private static let number = "([0-9]+[.]?[0-9]*|[.][0-9]+)"
  private static let texts = #""type": "array", "items": { \#(someText) }"#
  private static let somePort = #""type": "integer", "minimum": 1, "maximum": 65535"#
  private static let someURL = #""type": "string", "pattern": "^http://[^/]""#

  private static func type(of kind: ProjectKey.Kind) -> String {
    switch kind {
    case .flag: return #""type": "boolean""#
    case .count: return #""type": "integer", "minimum": 1, "maximum": \#(ProjectReader.mostJobs)"#
    case .port: return somePort
    case .url: return someURL
    case .portOrURL: return #""anyOf": [{ \#(somePort) }, { \#(someURL) }]"#
    case .text, .signal: return someText
    case .command: return #""anyOf": [{ \#(someText) }, { \#(words), "minItems": 1 }]"#
    case .duration: return #""type": "string", "pattern": "^(0|\#(number)(us|ms|s|m|min|h))$""#
    case .choice(let names): return #""enum": [\#(list(names))]"#
    case .choices(let names):
      return #""type": "array", "minItems": 1, "items": { "enum": [\#(list(names))] }"#
    case .texts, .hosts, .globs, .extensions: return texts
    case .taskNames: return #"\#(texts), "uniqueItems": true"#
    case .variables: return #""type": "object", "additionalProperties": { "type": "string" }"#
    case .readiness: return ##""$ref": "#/$defs/ready""##
    case .tasks:
      return #""type": "object", "minProperties": 1, "propertyNames": { \#(name) }, "#
        + #""additionalProperties": "#
        + ##"{ "anyOf": [{ "$ref": "#/$defs/task" }, { "$ref": "#/$defs/page" }] }"##
    }
  }

  private static func list(_ names: [String]) -> String {
    names.map { JSONWriter.quoted($0) }.joined(separator: ", ")
  }
}
