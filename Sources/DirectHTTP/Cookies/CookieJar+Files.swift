internal import DirectIO

extension CookieJar {
    /// How cookies are written down.
    @nonexhaustive
    public enum FileFormat: Hashable, Sendable {
        /// The file of Netscape, which curl and many others read and write. It has no place for `SameSite`, nor for
        /// a cookie whose name holds a tab.
        case netscape
        /// An object of JSON on each line; holds all that a cookie is.
        case json
    }

    /// The jar's cookies as a file, those without expiry included; the oldest first.
    public func text(as format: FileFormat) -> [UInt8] {
        switch format {
        case .netscape: NetscapeCookies.text(cookies)
        case .json: JSONCookies.text(cookies)
        }
    }

    /// Adds the cookies of a file in either format. Lines that hold none are passed over, and told of.
    @discardableResult
    public func add(text: [UInt8]) -> [LineFault] {
        add(text: text, at: .now)
    }

    /// Writes all cookies to a file that only its owner may read, in the place of what was there; never half.
    @concurrent
    public func save(to path: String, as format: FileFormat = .netscape) async throws {
        try await StateText.save(text(as: format), to: path)
    }

    /// Adds the cookies of a file in either format; without a file there are none. Lines that hold none are
    /// passed over, and told of.
    @concurrent
    @discardableResult
    public func load(from path: String) async throws -> [LineFault] {
        add(text: try await StateText.load(path), at: .now)
    }

    func add(text: [UInt8], at now: UnixTime) -> [LineFault] {
        let start = text.first { !$0.isBlank && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let isJSON = start == UInt8(ascii: "{")
        var found: [Cookie] = []
        let limit = now.advanced(bySeconds: CookieContent.longestLife)
        let faults = StateText.readLines(of: text) { line throws(LineError) in
            let entry = isJSON ? try JSONCookies.entry(line) : try NetscapeCookies.entry(line)
            guard var entry else { return }
            if let expiry = entry.content.expiry { entry.content.expiry = min(expiry, limit) }
            found.append(try entry.cookie)
        }
        store(found.filter { !$0.hasExpired(at: now) }, at: now)
        return faults
    }
}

/// A cookie as a line has it.
struct CookieEntry {
    var content: CookieContent
    var host: ArraySlice<UInt8>
    var coversSubdomains: Bool

    var cookie: Cookie {
        get throws(LineError) {
            do throws(CookieFault) {
                let dotless = host.first == UInt8(ascii: ".") ? host.dropFirst() : host
                let host = try Self.host(dotless)
                // curl writes those of addresses as if there were names below.
                return try Cookie(content, for: host, coversSubdomains: coversSubdomains && host.name != nil)
            } catch {
                throw LineError("\(error)")
            }
        }
    }

    private static func host(_ text: ArraySlice<UInt8>) throws(CookieFault) -> Host {
        do throws(HostFault) {
            return try Array(text).withSpan(Host.init(utf8:))
        } catch {
            throw .badHost(error)
        }
    }
}
