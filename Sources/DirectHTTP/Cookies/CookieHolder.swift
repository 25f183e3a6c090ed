internal import DirectCore
internal import DirectIO

/// The place where the cookies of a store really are.
package enum CookieHolder: @unchecked Sendable {
    /// There are none, nor are any stored.
    case nobody
    /// They are in this object, and gone with it. Only its identity is used.
    case object(AnyObject)
    /// They are in the storage of that name, which a later process finds again.
    case lasting(String)

    /// Returns the holder of a store's cookies; none if there is no store.
    init(of store: (any CookieStore)?) {
        guard let store else {
            self = .nobody
            return
        }
        if let holder = (store as? any CookieStoreOfHolder)?.holder {
            self = holder
        } else {
            self = store.lastingName.map { .lasting("named \($0)") } ?? .object(store)
        }
    }

    /// Tells the holder from all others, in every process; `nil` if there are no cookies.
    ///
    /// That of an object is random: what was stored for it on a disk outlives it, and no later object may
    /// find that.
    var name: String? {
        switch self {
        case .nobody: nil
        case .lasting(let name): "lasting \(name)"
        case .object(let object):
            "object "
                + Self.names.value(of: object) {
                    Hex.encode(padded: SystemRandom.word()) + Hex.encode(padded: SystemRandom.word())
                }
        }
    }

    private static let names = WeakTable<String>()
}

/// A store that has no cookies itself: several such stores may share those of one holder.
package protocol CookieStoreOfHolder: CookieStore {
    /// The place of the cookies.
    var holder: CookieHolder { get }
}

/// A store whose `take` blocks, because it writes a file. It is called on a thread for such work.
package protocol BlockingCookieStore: CookieStore {}
