import DirectCore
import DirectHTTP1

@testable import DirectHTTP

extension FuzzTarget {
    /// `Set-Cookie` fields, and the cookies that later requests carry.
    ///
    /// - A cookie goes only to the host that set it, or to one below the domain that it was set for, at or
    ///   below its path, over https if it is `Secure`, and never after its expiry.
    /// - A cookie's domain is the host itself or a name above it, and covers subdomains only if it is no
    ///   public suffix.
    /// - The prefixes `__Host-` and `__Secure-` keep their promise, in any letter case.
    /// - The field is exactly the cookies with `; ` between them: no cookie can add another one.
    /// - Both file formats give the same cookies back, as far as they can store them.
    static let cookies = FuzzTarget(name: "cookies") { choices in
        let later = Int64(choices.number(below: 65536)) * 60
        let texts = choices.texts()
        guard texts.count > 2, let setter = try? texts[0].withSpan(HTTPURL.init(utf8:)),
            let asked = try? texts[1].withSpan(HTTPURL.init(utf8:))
        else { return }
        let scene = CookieScene(setter: setter, asked: asked, later: later)
        scene.check(Array(texts[2...]))
    }

    /// Cookie files in both formats.
    ///
    /// - Any bytes are read, line by line, and each line gives a cookie, a fault, or is a comment.
    /// - Cookies that were read are written, and read back as the same cookies.
    static let cookieFile = FuzzTarget(name: "cookie-file") { choices in
        let text = choices.rest()
        let jar = CookieJar()
        let faults = jar.add(content: text, at: CookieScene.now)
        let lines = text.split(separator: 0x0A)
        require(faults.count <= lines.count, "no more faults than lines")
        var cookies: [Cookie] = []
        for line in lines {
            let entries = [try? NetscapeCookies.decode(line: line), try? JSONCookies.decode(line: line)]
            cookies += entries.compactMap { try? $0?.cookie }
        }
        requireKept(cookies)
    }
}

/// A response that sets cookies, and a later request.
private struct CookieScene {
    static let now = UnixTime(seconds: 1_800_000_000)

    let setter: HTTPURL
    let asked: HTTPURL
    private let time: UnixTime

    init(setter: HTTPURL, asked: HTTPURL, later: Int64) {
        (self.setter, self.asked) = (setter, asked)
        time = Self.now.advanced(bySeconds: later)
    }

    func check(_ fields: [[UInt8]]) {
        let cookies = fields.compactMap { SetCookie($0)?.cookie(from: setter, at: Self.now) }
        for cookie in cookies { checkScope(cookie) }
        requireKept(cookies)
        var headers = HTTPHeaders()
        for field in fields { headers.add("Set-Cookie", bytes: field) }
        let jar = CookieJar()
        jar.take(headers, from: setter, at: Self.now)
        let sent = jar.cookies(for: asked, at: time)
        for cookie in sent { checkSending(cookie) }
        checkField(jar.fieldBytes(for: asked, at: time), of: sent)
    }

    private func checkScope(_ cookie: Cookie) {
        require(Self.isHost(setter.host, atOrBelow: cookie.host), "the domain is the host or above it")
        if cookie.coversSubdomains {
            require(cookie.host.name.map { !$0.isPublicSuffix } ?? false, "a public suffix has no cookies")
        }
        if let expiry = cookie.expiry {
            require(expiry.seconds <= Self.now.seconds + 400 * 86_400, "no cookie lives longer than 400 days")
        }
        require(!cookie.isSecure || setter.scheme == .https, "http sets no Secure cookies")
        let name = cookie.name.lowercased()
        if name.hasPrefix("__secure-") || name.hasPrefix("__host-") { require(cookie.isSecure, "__Secure-") }
        if name.hasPrefix("__host-") { require(!cookie.coversSubdomains && cookie.path == "/", "__Host-") }
    }

    private func checkSending(_ cookie: Cookie) {
        let isSame = asked.host == cookie.host
        require(
            isSame || cookie.coversSubdomains && Self.isHost(asked.host, atOrBelow: cookie.host),
            "its hosts only"
        )
        require(!cookie.isSecure || asked.scheme == .https, "over https only")
        require(cookie.expiry.map { $0 > time } ?? true, "not after its expiry")
        let (path, cookiePath) = (Array(asked.path.utf8), cookie.pathBytes)
        require(path.starts(with: cookiePath), "at or below its path")
        require(
            path.count == cookiePath.count || cookiePath.last == 0x2F || path[cookiePath.count] == 0x2F,
            "whole segments of its path"
        )
    }

    private func checkField(_ field: [UInt8]?, of sent: [Cookie]) {
        guard let field else { return require(sent.isEmpty, "a field for the cookies") }
        require(field.allSatisfy(isTextByte), "a field is text")
        let pairs = field.split(separator: 0x3B, omittingEmptySubsequences: false)
        requireEqual(pairs.count, sent.count, "as many pairs as cookies")
        for (index, (pair, cookie)) in zip(pairs, sent).enumerated() {
            requireEqual(Array(pair.dropFirst(index == 0 ? 0 : 1)), cookie.pair, "each pair is a cookie")
        }
    }

    private static func isHost(_ host: HTTPHost, atOrBelow other: HTTPHost) -> Bool {
        if host == other { return true }
        guard host.name != nil, other.name != nil else { return false }
        return host.description.hasSuffix(".\(other)")
    }
}

/// Both formats give the cookies back. Netscape's has no `SameSite`, no tab in names and paths, no year 1970.
private func requireKept(_ cookies: [Cookie]) {
    let lines = JSONCookies.encode(cookies).split(separator: 0x0A)
    requireEqual(lines.count, cookies.count + 1, "one line for each cookie")
    requireEqual(lines.compactMap { try? JSONCookies.decode(line: $0)?.cookie }, cookies, "JSON keeps all")
    let plain = cookies.filter { cookie in
        cookie.sameSite == nil && cookie.expiry?.seconds != 0
            && !(cookie.nameBytes + cookie.pathBytes).contains(0x09)
    }
    let text = NetscapeCookies.encode(plain)
    let read = text.split(separator: 0x0A).compactMap { try? NetscapeCookies.decode(line: $0)?.cookie }
    requireEqual(read, plain, "the Netscape format keeps all that it can")
}
