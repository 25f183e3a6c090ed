internal import CDirectOpenSSL

/// A string, an integer or a time of ASN.1, with any content. Borrows the pointer.
///
/// These types are opaque from OpenSSL 4.0 on, where Swift imports a pointer to one as an `OpaquePointer`,
/// and have fields before, where it is an `UnsafePointer` with the type. So no other code names the types: a
/// function of OpenSSL that returns one has the right initialiser with every version.
struct ASN1Value {
    private let raw: UnsafeRawPointer

    init?(_ pointer: UnsafeRawPointer?) {
        guard let pointer else { return nil }
        raw = pointer
    }

    init?(_ pointer: OpaquePointer?) {
        self.init(pointer.map { UnsafeRawPointer($0) })
    }

    /// The bytes of the content. An integer's have no sign.
    var bytes: [UInt8] {
        var count: Int32 = 0
        guard let start = direct_ASN1_STRING_get0_data(raw, &count) else { return [] }
        return Array(UnsafeBufferPointer(start: start, count: max(0, Int(count))))
    }

    /// The content as UTF-8 text. Bytes that are not UTF-8 are replaced.
    var utf8: String { String(decoding: bytes, as: UTF8.self) }

    /// The text of a directory string, which may be encoded in several ways; `nil` if it has none.
    var text: String? {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = direct_ASN1_STRING_to_UTF8(&encoded, raw)
        guard count >= 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, nil, 0) }
        return String(decoding: UnsafeBufferPointer(start: encoded, count: Int(count)), as: UTF8.self)
    }

    /// The integer's value; -1 if it is too large.
    var integer: Int { direct_ASN1_INTEGER_get(raw) }

    /// Whether an integer is negative.
    var isNegative: Bool { direct_ASN1_STRING_type(raw) & V_ASN1_NEG != 0 }

    /// A time in seconds since 1970, or `nil` if it cannot be read.
    var secondsSince1970: Int? {
        var parts = tm()
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        guard direct_ASN1_TIME_to_tm(raw, &parts) == 1 else { return nil }
        let days = daysSince1970(
            year: Int(parts.tm_year) + 1900,
            month: Int(parts.tm_mon) + 1,
            day: Int(parts.tm_mday)
        )
        return ((days * 24 + Int(parts.tm_hour)) * 60 + Int(parts.tm_min)) * 60 + Int(parts.tm_sec)
    }
}

/// Returns the number of days since 1970 in the Gregorian calendar. Years are counted from March, so that the
/// leap day is a year's last day.
private func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let monthFromMarch = (month + 9) % 12
    let leapDays = shifted / 4 - shifted / 100 + shifted / 400
    return shifted * 365 + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
}
