internal import DirectCore
internal import DirectIO

/// Whose cookies a call sends, as far as that selects among stored responses.
///
/// A response to a call with cookies of its own is for calls with the same cookies only, whatever `Vary`
/// says: few servers send `Vary: Cookie` with the page of a user.
package struct CookieOwner: Equatable, Sendable {
    /// Tells the owner from all others; `nil` if the cookies are those of the client itself.
    let name: String?
    /// Whether a `Cookie` field can only be the caller's, because no store adds one. It identifies a user as
    /// `Authorization` does.
    let isCaller: Bool

    /// A client with a store of its own.
    package static let client = CookieOwner(name: nil, isCaller: false)

    private init(name: String?, isCaller: Bool) {
        self.name = name
        self.isCaller = isCaller
    }

    /// Returns the owner of the cookies of a call.
    ///
    /// - Parameter store: The store of the call; `nil` if it has none.
    /// - Parameter own: The store of the client.
    package init(of store: (any CookieStore)?, client own: (any CookieStore)?) {
        let holder = CookieHolder(of: store)
        isCaller = holder === .nobody
        name = holder === CookieHolder(of: own) ? nil : Self.name(of: holder)
    }

    private static func name(of holder: CookieHolder) -> String {
        switch holder {
        case .nobody: "nobody"
        case .lasting(let name): "lasting \(name)"
        case .object(let object): names.value(of: object) { Hex.encode(padded: SystemRandom.word()) }
        }
    }

    /// Random names: the responses of a folder outlive the objects, and no later object may find them.
    private static let names = WeakTable<String>()
}
