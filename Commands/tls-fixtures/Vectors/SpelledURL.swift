internal import DirectHTTP
internal import DirectJSON

/// A URL as a vector spells it. Clients are given this text, since the spelling may be what is tested.
struct SpelledURL: FromJSON, Sendable {
    let text: String
    let url: HTTPURL

    init(_ value: JSONValue) throws(FieldError) { (text, url) = (try value.text(), try HTTPURL(value)) }
}

extension HTTPURL: FromJSON {
    init(_ value: JSONValue) throws(FieldError) {
        let text = try value.text()
        do throws(HTTPURLError) {
            self = try HTTPURL(text)
        } catch {
            throw value.fault("\(error)")
        }
    }
}
