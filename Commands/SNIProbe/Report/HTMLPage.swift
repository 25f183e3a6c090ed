/// Writes HTML. All text is escaped; only names of elements and attributes are written as they are.
struct HTMLPage {
    /// What was written so far.
    private(set) var bytes: [UInt8] = []

    /// Writes markup that contains no text from outside.
    mutating func markup(_ text: StaticString) {
        text.withUTF8Buffer { bytes += $0 }
    }

    /// Writes the rules of a style sheet, which contain no text from outside.
    mutating func rules(_ text: String) { bytes += text.utf8 }

    mutating func text(_ text: String) {
        bytes += MarkupText.escaped(text).utf8
    }

    /// Writes an element with this content.
    mutating func element(
        _ name: StaticString,
        _ attributes: KeyValuePairs<StaticString, String> = [:],
        _ body: (inout HTMLPage) -> Void
    ) {
        open(name, attributes, end: ">")
        body(&self)
        markup("</")
        markup(name)
        markup(">")
    }

    /// Writes an element that contains only text.
    mutating func element(
        _ name: StaticString,
        _ attributes: KeyValuePairs<StaticString, String> = [:],
        text: String
    ) {
        element(name, attributes) { $0.text(text) }
    }

    /// Writes an element of SVG that has no content.
    mutating func shape(_ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>) {
        open(name, attributes, end: "/>")
    }

    mutating func endLine() { markup("\n") }

    /// Writes a heading of the second level.
    mutating func heading(_ text: String) {
        element("h2", text: text)
        endLine()
    }

    /// Writes a picture with its title, and what it shows in words. The name makes its identifiers unique.
    mutating func picture(
        _ name: String,
        height: Int,
        title: String,
        words: String,
        _ body: (inout HTMLPage) -> Void
    ) {
        let labels = "\(name)-title \(name)-desc"
        element("figure") { page in
            page.element("svg", ["viewBox": "0 0 900 \(height)", "role": "img", "aria-labelledby": labels]) {
                page in
                page.element("title", ["id": "\(name)-title"], text: title)
                page.element("desc", ["id": "\(name)-desc"], text: words)
                body(&page)
            }
            page.element("figcaption", text: words)
        }
        endLine()
    }

    private mutating func open(
        _ name: StaticString,
        _ attributes: KeyValuePairs<StaticString, String>,
        end: StaticString
    ) {
        markup("<")
        markup(name)
        for (name, value) in attributes {
            markup(" ")
            markup(name)
            markup("=\"")
            text(value)
            markup("\"")
        }
        markup(end)
    }

    /// Writes a table with a caption and a row of headings.
    mutating func table(_ caption: String, headings: [String], rows: (inout HTMLPage) -> Void) {
        element("div", ["class": "wide", "tabindex": "0", "role": "region", "aria-label": caption]) { page in
            page.element("table") { page in
                page.element("caption", text: caption)
                page.element("thead") { page in
                    page.element("tr") { page in
                        for heading in headings { page.element("th", ["scope": "col"], text: heading) }
                    }
                }
                page.element("tbody") { rows(&$0) }
            }
        }
        endLine()
    }

    /// Writes a row of a table whose first cell names it.
    mutating func row(_ first: String, cells: [String]) {
        element("tr") { page in
            page.element("th", ["scope": "row"], text: first)
            for cell in cells { page.element("td", text: cell) }
        }
        endLine()
    }
}
