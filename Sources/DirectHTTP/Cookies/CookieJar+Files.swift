internal import DirectCore
internal import DirectIO

extension CookieJar {
    /// The file formats for cookies.
    @nonexhaustive
    public enum FileFormat: Hashable, Sendable {
        /// The format of Netscape, which curl and many other programs read and write. It cannot store
        /// `SameSite`, nor a cookie whose name or path contains a tab.
        case netscape
        /// One JSON object per line. It stores all properties of a cookie.
        case json
    }

    /// Returns the jar's cookies as the content of a file, session cookies included, the oldest first.
    public func text(as format: FileFormat) -> [UInt8] {
        switch format {
        case .netscape: NetscapeCookies.encode(cookies)
        case .json: JSONCookies.encode(cookies)
        }
    }

    /// Adds the cookies of a file's content, in either format.
    ///
    /// - Returns: The lines that could not be read. They are skipped.
    @discardableResult
    public func add(content: [UInt8]) -> [LineFault] {
        add(content: content, at: .now)
    }

    /// Writes all cookies to a file with permissions for its owner only.
    ///
    /// An existing file is replaced as a whole: a reader never finds a partly written one. If several tasks
    /// save the jar, the file has the cookies of all of them in the end. What another program has saved there
    /// meanwhile is replaced, and not merged: of several programs with one file the last one wins.
    ///
    /// - Throws: An error if the file cannot be written, `CancellationError` if the task was cancelled.
    @concurrent
    public func save(to path: String, as format: FileFormat = .netscape) async throws {
        try await saves.save(to: path) { [self] in text(as: format) }
    }

    /// Adds the cookies of a file in either format. A missing file adds none. Of a file in the format of
    /// Netscape a last line without an end is skipped, since it may have been cut off within a value.
    ///
    /// - Returns: The lines that could not be read, up to a thousand. They are skipped.
    @concurrent
    @discardableResult
    public func load(from path: String) async throws -> [LineFault] {
        try await StateText.load(path) { [self] in add(content: $0, at: .now, isWhole: false) }
    }

    func add(content text: [UInt8], at now: UnixTime, isWhole: Bool = true) -> [LineFault] {
        let start = text.first { !$0.isBlank && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let isJSON = start == UInt8(ascii: "{")
        var loaded: [Cookie] = []
        let limit = now.advanced(bySeconds: CookieContent.longestLife)
        // What is cut off is no JSON.
        let faults = StateText.readLines(of: text, isWhole: isWhole || isJSON) { line throws(LineError) in
            let entry = isJSON ? try JSONCookies.decode(line: line) : try NetscapeCookies.decode(line: line)
            guard var entry else { return }
            if let expiry = entry.content.expiry { entry.content.expiry = min(expiry, limit) }
            let cookie = try entry.cookie
            if !cookie.hasExpired(at: now) { loaded.append(cookie) }
            // The jar drops what is too much.
            guard loaded.count >= Self.batch else { return }
            store(loaded, at: now)
            loaded = []
        }
        store(loaded, at: now)
        return faults
    }

    private static var batch: Int { 4096 }
}

/// A cookie as one line of a file describes it.
struct CookieEntry {
    var content: CookieContent
    var host: ArraySlice<UInt8>
    var coversSubdomains: Bool

    var cookie: Cookie {
        get throws(LineError) {
            do throws(CookieError) {
                let dotless = host.first == UInt8(ascii: ".") ? host.dropFirst() : host
                let host = try Self.host(dotless)
                // curl writes cookies of IP addresses as if they covered subdomains.
                return try Cookie(content, for: host, coversSubdomains: coversSubdomains && host.name != nil)
            } catch {
                throw LineError("\(error)")
            }
        }
    }

    private static func host(_ text: ArraySlice<UInt8>) throws(CookieError) -> HTTPHost {
        do throws(HTTPHostError) {
            return try Array(text).withSpan(HTTPHost.init(utf8:))
        } catch {
            throw .badHost(error)
        }
    }
}
