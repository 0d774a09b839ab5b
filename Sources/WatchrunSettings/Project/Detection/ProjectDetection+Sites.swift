// Directories of pages. Where there is anything else, they are its documentation.

extension ProjectDetection {
  /// Absolute links would lead to the published site.
  static let hugo = ProjectKind(
    name: "hugo", title: "a Hugo site", role: .runner,
    files: ["hugo.toml", "hugo.yaml", "hugo.json", "config.toml"],
    products: ["/public/", "/resources/", ".hugo_build.lock"], page: "public"
  ) { directory, file in
    // The old name of its file is also one of other tools.
    if file == "config.toml" && !directory.holdsDirectory("content") { return [] }
    return [Step("build", "hugo --baseURL /")]
  }

  static let mkdocs = ProjectKind(
    name: "mkdocs", title: "an MkDocs site", role: .runner, files: ["mkdocs.yml", "mkdocs.yaml"],
    products: ["/site/"], page: "site"
  ) { _, _ in
    [Step("build", "mkdocs build -q")]
  }

  static let jekyll = ProjectKind(
    name: "jekyll", title: "a Jekyll site", role: .runner, files: ["_config.yml"],
    products: ["/_site/", ".jekyll-cache/"], page: "_site"
  ) { directory, _ in
    [Step("build", "\(directory.holds("Gemfile") ? "bundle exec " : "")jekyll build -q")]
  }

  static let site = ProjectKind(
    name: "site", title: "a page", role: .runner, files: ["index.html"], page: "."
  ) { _, _ in [] }
}
