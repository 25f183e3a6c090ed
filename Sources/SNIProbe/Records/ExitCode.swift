/// The exit codes of the command; curl's where curl has one for the cause.
enum ExitCode {
    static let passed: Int32 = 0
    static let severalReasons: Int32 = 1
    static let usage: Int32 = 64
    static let noInput: Int32 = 66
    static let bug: Int32 = 70
    static let interrupted: Int32 = 130

    /// For a probe whose first fault is this one.
    static func code(for id: Fault.ID) -> Int32 {
        switch id {
        case .dns: 6
        case .refused, .unreachable: 7
        case .httpStatus: 22
        case .timeoutTCP, .timeoutTLS, .timeoutHTTP: 28
        case .sniRefused, .handshakeRefused, .handshakeBroken, .reset, .notTLS: 35
        case .httpBroken: 56
        case .defaultCertificate, .nameMismatch, .expired, .notYetValid, .selfSigned, .unknownIssuer,
            .intermediateMissing, .badSignature, .weakCertificate, .wrongPurpose, .certificateInvalid:
            60
        case .tooFewDays, .notExpected, .differs: 90
        }
    }
}
