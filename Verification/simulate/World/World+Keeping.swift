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

    /// Notes a state file that has got its name.
    func noteState(_ bytes: [UInt8], at path: String) {
        guard let run = runs.last, !run.hasFailed,
            [run.cookiePath, run.hstsPath, run.answersPath].contains(path)
        else {
            return
        }
        savedStates[String(path.dropFirst(run.prefix.count)), default: []].append(bytes)
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
