extension World {
    /// What a run of the program knows of a host.
    struct Policy: Hashable {
        let run: Int
        let host: Int
    }

    /// Whether a run knew at a time that the host wants TLS only, and the policy is valid still.
    func isStrict(_ host: Int, run: Int, before time: UInt64) -> Bool {
        guard let since = strictSince[Policy(run: run, host: host)] else { return false }
        return since.known + slack < time
            && kernel.now + plan.clockAhead + 5_000_000_000 < since.learned + 3_600_000_000_000
    }

    /// What a state file was at some moment.
    struct SavedState {
        let bytes: [UInt8]
        /// The bytes at its beginning that have to be there after a power failure. A line that was appended
        /// may be lost: all of it, its end, or blocks that are zero then.
        let certain: Int

        /// Whether a power failure may have left these bytes of it.
        func mayBe(_ found: [UInt8]) -> Bool {
            guard certain <= found.count, found.count <= bytes.count else { return false }
            return found.indices.allSatisfy { found[$0] == bytes[$0] || $0 >= certain && found[$0] == 0 }
        }
    }

    /// Notes a state file that has got its name, with all of its bytes on the disk, or was appended to.
    func noteState(_ bytes: [UInt8], at path: String, isAppended: Bool) {
        guard let run = runs.last, !run.hasFailed,
            [run.cookiePath, run.hstsPath, run.answersPath].contains(path)
        else {
            return
        }
        let name = String(path.dropFirst(run.prefix.count))
        let certain = isAppended ? savedStates[name]?.last?.certain ?? 0 : bytes.count
        savedStates[name, default: []].append(SavedState(bytes: bytes, certain: certain))
    }

    /// Returns the field by which a reply sets a cookie where the program keeps them.
    func newCookie(_ number: Int, place: Int, host: Int) -> String {
        let kind = CookieKind.allCases[(number + place) % CookieKind.allCases.count]
        let value = "\(secret(ofHost: host)).\(number).\(place)."
        if let known = setCookies.firstIndex(where: { $0.value == value }) {
            setCookies[known].lastSent = kernel.now
        } else {
            setCookies.append(
                SetCookie(
                    host: host,
                    kind: kind,
                    value: value,
                    number: number,
                    firstSent: kernel.now,
                    lastSent: kernel.now
                )
            )
        }
        let age = kind.lifetime.map { "; Max-Age=\($0)" } ?? ""
        return "\(kind.name)=\(value); Path=/\(age)"
    }

    /// Notes that the client has had a reply, and with it its cookie.
    func noteCookie(_ number: Int, place: Int) {
        guard plan.keeping?.cookies != nil else { return }
        for known in setCookies.indices where setCookies[known].value.hasSuffix(".\(number).\(place).") {
            setCookies[known].certain = setCookies[known].certain ?? kernel.now
        }
    }
}
