import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The elements of a document of XML, with their attributes and their text.
final class MarkupReader: NSObject, XMLParserDelegate {
    struct Element {
        let name: String
        let attributes: [String: String]
        /// The text of the element and of those in it.
        var text = ""
    }

    private(set) var elements: [Element] = []
    /// The indices of the elements that are not closed yet.
    private var open: [Int] = []

    init(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        super.init()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = self
        #expect(parser.parse(), "the document is not well-formed", sourceLocation: sourceLocation)
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        open.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        for index in open { elements[index].text += text }
    }

    /// The attributes of the elements with this name.
    func named(_ name: String) -> [[String: String]] {
        elements.filter { $0.name == name }.map(\.attributes)
    }

    /// The texts of the elements with this name.
    func texts(_ name: String) -> [String] {
        elements.filter { $0.name == name }.map(\.text)
    }
}
