import TestSupport
import Testing

@testable import LiveReload

/// The position of the tag, which does not depend on how a document is split.
struct ScriptInjectorTests {
  private static let tag = "<T>"

  /// The documents, with `@` where the tag must be inserted.
  private static let documents = [
    "@", "@text", "@<p>a</p>", " @x", "<html>@<body>a</body></html>", "@<BODY>a", "@<", "@</",
    "@<ht",
    "@</body>", "<!doctype html>@", "<!DOCTYPE html>\n@<p>", "<html>@",
    "<HTML lang=en>\n <Head>@<title>",
    "<head>@<title></title></head>", "<html><head x='>' y=a>@</head>", "<html>@</head>",
    "<html>@<html>", "<head>@<head>", "@<header>", "<html>@<heading>", "@<htm>", "@<h1>a</h1>",
    "<html a=\"<head>\">@<b>", "<html a='>'b>@", "<html a = '>' b>@", "<html/>@<p>", "<head/>@<p>",
    "<html a=b'>@'>", "<html a='b'c=\">\">@", "<html =\">@\">", "@< html>",
    "<!-- <head> --><html>@",
    "<!---->@a", "<!-->@a", "<!--->@a", "<!--x--!>@a", "<!--!><html>--><head>@",
    "<!-- - -- > -->@x",
    "<!-- a ---><html>@", "<!----!>@a", "<!--x--!-><p>--><html>@", "<!--x--!!>--!>@a", "<!>@a",
    "<!->@a",
    "<!x <html>@", "<? <html>@<p>", "<?php echo 1 ?><html>@", "<![CDATA[ <p>@]]>",
    "\u{FEFF}<!doctype html>@<p>", "\u{FEFF}@a",
  ]

  /// Documents in the syntax of XML.
  private static let xmlDocuments = [
    "<?xml version=\"1.0\"?><html xmlns=\"x\"><head>@<title/>", "<html>@<body/></html>",
    "<h:html xmlns:h='x'><h:head a='/>'>@</h:head>", "<html>@<head/><body/></html>",
    "<?xml-stylesheet href='a>b'?><html>\n<!-- - --><head>@", "<html>@text", "<svg>@<g/></svg>",
    "<!DOCTYPE html [<!ENTITY a '>'> <!ENTITY b \"]>\"> ]><html>@<p/>",
    "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0\" \"a>b\"><html><head>@",
  ]

  /// Kinds of `base`, all of which follow the tag.
  private static let bases = [
    "<base href='https://cdn.example/'>", "<base href='//cdn.example/'>", "<base href='/app/'>",
    "<base target='_blank'>", "<script></script><base href='https://cdn.example/'>",
  ]

  private static func expectation(_ document: String) -> (input: [UInt8], output: String) {
    (Array(document.replacing("@", with: "").utf8), document.replacing("@", with: tag))
  }

  private static func run(
    _ parts: [[UInt8]], _ injector: ScriptInjector = ScriptInjector(tag: Array(tag.utf8))
  ) -> [UInt8] {
    var injector = injector
    var output: [UInt8] = []
    for part in parts { output += injector.process(part) }
    output += injector.finish()
    return output
  }

  @Test(arguments: documents)
  func `the tag is inserted after doctype, html and head`(document: String) {
    let (input, output) = Self.expectation(document)
    let result = Self.run([input])
    #expect(String(decoding: result, as: UTF8.self) == output)
    #expect(result.count > input.count)
  }

  @Test(arguments: documents)
  func `any split gives the same output`(document: String) {
    let (input, output) = Self.expectation(document)
    #expect(String(decoding: Self.run(input.map { [$0] }), as: UTF8.self) == output)
    for cut in input.indices {
      let parts = [Array(input[..<cut]), [], Array(input[cut...])]
      #expect(String(decoding: Self.run(parts), as: UTF8.self) == output)
    }
  }

  @Test(arguments: xmlDocuments)
  func `in XHTML the tag is inserted into the root`(document: String) {
    let (input, output) = Self.expectation(document)
    let injector = ScriptInjector(tag: Array(Self.tag.utf8), isXML: true)
    #expect(String(decoding: Self.run([input], injector), as: UTF8.self) == output)
    #expect(
      String(decoding: Self.run(input.map { [$0] }, injector), as: UTF8.self) == output)
  }

  @Test(arguments: ["<html/>", "", "<?xml?>", "<!DOCTYPE html", "<html", "<!-- "])
  func `XHTML without a root that can contain the tag is not changed`(document: String) {
    let injector = ScriptInjector(tag: Array(Self.tag.utf8), isXML: true)
    let result = Self.run([Array(document.utf8)], injector)
    #expect(String(decoding: result, as: UTF8.self) == document)
  }

  @Test(arguments: bases, ["<!doctype html><html><head>", "<!doctype html>", "<head>", ""])
  func `no base can change where the script is loaded from`(base: String, start: String) {
    let output = Self.run([Array((start + base).utf8)])
    #expect(String(decoding: output, as: UTF8.self) == start + Self.tag + base)
  }

  @Test(arguments: [
    ("<p>part</p>", false), ("text", false), ("", false), ("<!-- a --><li>", false),
    ("<body>", false), ("<!doctype html><p>", true), ("<html><p>", true), ("<head>", true),
  ])
  func `a part of a page is not changed where only whole documents are`(
    document: String, isWhole: Bool
  ) {
    let injector = ScriptInjector(tag: Array(Self.tag.utf8), scope: .wholeDocuments)
    let output = Self.run([Array(document.utf8)], injector)
    #expect(output.count == document.utf8.count + (isWhole ? Self.tag.utf8.count : 0))
  }

  @Test func `random documents, split at random, lose nothing and get one tag`() {
    var random = SeededGenerator(seed: 15)
    let pieces = [
      "<html>", "<head>", "<html", "<", "/", ">", "<!--", "-->", "<!doctype ", "'", "\"", "=",
      "<a b=", "x", " ", "<title>", "</title>", "body", "-", "!", "<?", "\u{FEFF}",
    ].map { Array($0.utf8) }
    for isXML in [false, true] {
      for _ in 0..<2_000 {
        let count = Int.random(in: 0..<20, using: &random)
        let document = (0..<count).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
        let injector = ScriptInjector(tag: Array(Self.tag.utf8), isXML: isXML)
        let output = Self.run([document], injector)
        #expect(Self.run(split(document, &random), injector) == output)
        let text = String(decoding: output, as: UTF8.self)
        #expect(Array(text.replacing(Self.tag, with: "", maxReplacements: 1).utf8) == document)
        let isChanged = output != document
        #expect(output.count == document.count + (isChanged ? Self.tag.utf8.count : 0))
      }
    }
  }

  private func split(_ document: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var rest = document[...]
    while !rest.isEmpty {
      let size = Int.random(in: 0...min(7, rest.count), using: &random)
      parts.append(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return parts
  }

  @Test(arguments: ["<!doctype html>", "<!-- comment", " ", "<html a='b'>", "<? x"])
  func `bytes after which the tag may follow are not held back`(text: String) {
    var injector = ScriptInjector(tag: Array(Self.tag.utf8))
    #expect(injector.process(text.utf8) == Array(text.utf8))
  }

  @Test(arguments: [TextEncoding.utf16LittleEndian, .utf16BigEndian], [false, true])
  func `UTF-16 gets the tag in UTF-16`(encoding: TextEncoding, hasMark: Bool) {
    let mark: [UInt8] = encoding == .utf16BigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]
    let start = (hasMark ? mark : []) + encoding.encode(Array("<!doctype html><head>".utf8))
    let rest = encoding.encode(Array("<p>".utf8))
    let injector = ScriptInjector(
      tag: Array(Self.tag.utf8), encoding: hasMark ? .asciiCompatible : encoding)
    let document = start + rest
    for parts in [[document], document.map { [$0] }] {
      let output = Self.run(parts, injector)
      #expect(output == start + encoding.encode(Array(Self.tag.utf8)) + rest)
    }
  }

  @Test func `an incomplete byte order mark is text`() {
    #expect(Self.run([[0xFE, 0x41]]) == Self.tag.utf8 + [0xFE, 0x41])
    #expect(Self.run([[0xFF], [0xFF]]) == Self.tag.utf8 + [0xFF, 0xFF])
    #expect(Self.run([[0xEF, 0xBB]]) == Self.tag.utf8 + [0xEF, 0xBB])
  }
}
