internal import DirectCore
internal import DirectIO

/// Tells what belongs to an asker from all that belongs to others, in every process: the cookies of a store,
/// a certificate, the servers it believes.
package enum AskerName {
    /// The name of an object, and of what is gone with it.
    ///
    /// It is random: what was stored for it on a disk outlives it, and no later object may find that.
    package static func object(_ object: AnyObject) -> String {
        "object "
            + names.value(of: object) {
                Hex.encode(padded: SystemRandom.word()) + Hex.encode(padded: SystemRandom.word())
            }
    }

    private static let names = WeakTable<String>()
}

extension CookieStore {
    /// The name of the place where the cookies really are; `nil` if there are none, nor are any stored.
    var holderName: String? {
        if let store = self as? any CookieStoreOfHolder { return store.nameOfHolder }
        return lastingName.map { "named \($0)" } ?? AskerName.object(self)
    }
}

/// A store that has no cookies itself: several such stores may share those of one holder.
package protocol CookieStoreOfHolder: CookieStore {
    /// The name of the place of the cookies; `nil` if there are none, nor are any stored.
    var nameOfHolder: String? { get }
}

/// A store whose `take` blocks, because it writes a file. It is called on a thread for such work.
package protocol BlockingCookieStore: CookieStore {}
