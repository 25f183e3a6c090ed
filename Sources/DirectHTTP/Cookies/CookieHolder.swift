/// Where the cookies of a store really are.
package enum CookieHolder: @unchecked Sendable {
    /// There are none, nor are any stored.
    case nobody
    /// They are in this object, and gone with it. Nothing but its identity is used.
    case object(AnyObject)
    /// They are in the storage of that name, which a later process finds again.
    case lasting(String)

    /// Returns the holder of a store's cookies; none if there is no store.
    init(of store: (any CookieStore)?) {
        self = store.map { ($0 as? any CookieStoreOfHolder)?.holder ?? .object($0) } ?? .nobody
    }

    static func === (one: CookieHolder, other: CookieHolder) -> Bool {
        switch (one, other) {
        case (.nobody, .nobody): true
        case (.object(let one), .object(let other)): one === other
        case (.lasting(let one), .lasting(let other)): one == other
        default: false
        }
    }
}

/// A store that has no cookies itself: several such stores may share those of one holder.
package protocol CookieStoreOfHolder: CookieStore {
    /// Where the cookies are.
    var holder: CookieHolder { get }
}

/// A store whose `take` blocks, because it writes a file. It is called on a thread for such work.
package protocol BlockingCookieStore: CookieStore {}
