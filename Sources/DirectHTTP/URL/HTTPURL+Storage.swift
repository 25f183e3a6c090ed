internal import DirectIO

extension HTTPURL {
    /// The one allocation that all copies of a URL share; nothing in it changes.
    final class Storage: Sendable {
        let origin: Origin
        let hasTrailingDot: Bool
        let authorityBytes: [UInt8]
        let target: URLTarget
        /// Escaped; `nil` rather than empty.
        let userinfo: String?
        let fragment: String?

        init(scheme: Scheme, authority: URLAuthority, target: URLTarget, fragment: String?) {
            origin = Origin(scheme: scheme, host: authority.host, port: authority.port)
            hasTrailingDot = authority.hasTrailingDot
            authorityBytes = authority.bytes
            userinfo = authority.userinfo
            self.target = target
            self.fragment = fragment
        }

        /// The authority of another URL with what comes behind it.
        init(_ other: Storage, keepsUserinfo: Bool = true, target: URLTarget, fragment: String?) {
            origin = other.origin
            hasTrailingDot = other.hasTrailingDot
            authorityBytes = other.authorityBytes
            userinfo = keepsUserinfo ? other.userinfo : nil
            self.target = target
            self.fragment = fragment
        }

        func equals(_ other: Storage) -> Bool {
            origin == other.origin && hasTrailingDot == other.hasTrailingDot
                && target.bytes == other.target.bytes && userinfo == other.userinfo
                && fragment == other.fragment
        }

        func text(userinfo: String?) -> String {
            var text = "\(origin.scheme.rawValue)://"
            if let userinfo { text += "\(userinfo)@" }
            switch origin.host {
            case .name(let name): text += hasTrailingDot ? "\(name)." : name.text
            case .address(let address): text += Self.text(of: address)
            }
            if origin.port != origin.scheme.defaultPort { text += ":\(origin.port)" }
            text += String(decoding: target.bytes, as: UTF8.self)
            if let fragment { text += "#\(fragment)" }
            return text
        }

        private static func text(of address: IPAddress) -> String {
            guard address.family == .v6 else { return address.description }
            let zone = address.zone.map { "%25\($0)" } ?? ""
            return "[\(address.withoutZone)\(zone)]"
        }
    }
}
