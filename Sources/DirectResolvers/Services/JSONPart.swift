internal import DirectCore
internal import DirectHTTP
internal import DirectIO
internal import DirectJSON

/// A value inside a JSON response together with its path, so that errors can name the value that is wrong.
struct JSONPart: Sendable {
    let value: JSONValue
    /// The path from the root, such as `data.answers[0].v4.ttl`.
    let path: String

    init(_ body: [UInt8]) throws(ResolverError.Reason) {
        do throws(JSONError) {
            self.init(try JSONReader.read(body), path: "")
        } catch {
            throw .malformed("it is not JSON: \(error)")
        }
    }

    private init(_ value: JSONValue, path: String) {
        self.value = value
        self.path = path
    }

    /// Returns a required member.
    func member(_ name: String) throws(ResolverError.Reason) -> JSONPart {
        guard let part = try optional(name) else { throw .malformed("\(child(name)) is missing") }
        return part
    }

    /// Returns an optional member, or `nil` if it is missing or `null`.
    func optional(_ name: String) throws(ResolverError.Reason) -> JSONPart? {
        guard case .object(let members) = value.content else { throw isNot("an object") }
        guard let member = members.first(where: { $0.name == name }), member.value.content != .null else {
            return nil
        }
        return JSONPart(member.value, path: child(name))
    }

    /// Returns the elements of an array.
    func elements() throws(ResolverError.Reason) -> [JSONPart] {
        guard case .array(let elements) = value.content else { throw isNot("an array") }
        return elements.enumerated().map { JSONPart($0.element, path: "\(path)[\($0.offset)]") }
    }

    /// Returns the value as a string.
    func text() throws(ResolverError.Reason) -> String {
        guard case .string(let text) = value.content else { throw isNot("a string") }
        return text
    }

    /// Returns the value as a Boolean.
    func flag() throws(ResolverError.Reason) -> Bool {
        guard case .bool(let flag) = value.content else { throw isNot("true or false") }
        return flag
    }

    /// Returns the value as an integer in this range.
    func integer(in range: ClosedRange<Int64>) throws(ResolverError.Reason) -> Int64 {
        guard case .number(let text) = value.content else { throw isNot("a number") }
        guard let number = Int64(text), range.contains(number) else {
            throw .malformed("\(path) is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns the value as an IP address without a zone.
    func address() throws(ResolverError.Reason) -> IPAddress {
        guard let address = IPAddress(try text()), address.zone == nil else {
            throw .malformed("\(path) is not an address")
        }
        return address
    }

    /// Returns the value as an address of this family.
    func address(of family: IPAddress.Family) throws(ResolverError.Reason) -> IPAddress {
        let address = try address()
        guard address.family == family else { throw .malformed("\(path) is an address of the other family") }
        return address
    }

    /// Returns the value as a domain name. A trailing dot is removed.
    func domainName() throws(ResolverError.Reason) -> DomainName {
        let text = try text()
        do throws(HTTPHostError) {
            return try DomainName(text.hasSuffix(".") ? String(text.dropLast()) : text)
        } catch {
            throw .malformed("\(path) is not a name: \(error)")
        }
    }

    private func child(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private func isNot(_ kind: String) -> ResolverError.Reason {
        .malformed("\(path.isEmpty ? "it" : path) is not \(kind) but \(value.kind)")
    }
}

extension JSONPart {
    /// Reads the part.
    func result<Value>(_ read: (JSONPart) throws(ResolverError.Reason) -> Value)
        -> Result<Value, ResolverError.Reason>
    {
        do throws(ResolverError.Reason) {
            return .success(try read(self))
        } catch {
            return .failure(error)
        }
    }
}
