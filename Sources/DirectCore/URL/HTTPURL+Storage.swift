extension HTTPURL {
    /// The parts of a URL, immutable, in the single allocation that all copies of the URL share.
    final class Storage: Sendable {
        let authority: URLAuthority
        let target: URLTarget
        /// The fragment, escaped.
        let fragment: String?

        init(authority: consuming URLAuthority, target: consuming URLTarget, fragment: consuming String?) {
            self.authority = authority
            self.target = target
            self.fragment = fragment
        }

        func equals(_ other: Storage) -> Bool {
            authority.origin == other.authority.origin && target.bytes == other.target.bytes
                && authority.hasTrailingDot == other.authority.hasTrailingDot
                && authority.userinfo == other.authority.userinfo && fragment == other.fragment
        }

        /// Returns the URL as text, with this user information instead of its own.
        func text(userinfo: String?) -> String {
            let origin = authority.origin
            var text = "\(origin.scheme.rawValue)://"
            if let userinfo { text += "\(userinfo)@" }
            switch origin.host {
            case .name(let name): text += authority.hasTrailingDot ? "\(name)." : "\(name)"
            case .address(let address): text += Self.text(of: address)
            }
            if origin.port != origin.scheme.defaultPort { text += ":\(origin.port)" }
            text += String(decoding: target.bytes, as: UTF8.self)
            if let fragment { text += "#\(fragment)" }
            return text
        }

        /// Returns the address as a URL writes it: IPv6 in brackets, with its zone after `%25` (RFC 6874).
        private static func text(of address: IPAddress) -> String {
            guard address.family == .v6 else { return address.description }
            let zone = address.zone.map { "%25\($0)" } ?? ""
            return "[\(address.withoutZone)\(zone)]"
        }
    }
}
