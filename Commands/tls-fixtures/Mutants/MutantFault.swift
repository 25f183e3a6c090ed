/// Why the mutant client gives a request up.
enum MutantFault: Error {
    /// What came is not what may come, or the request may not be made.
    case refused(String)
    /// The connection ended where something was still to come.
    case ended(String)
    /// The limit of the job is reached.
    case timeout
    /// The client has no such ability.
    case left(String)

    var outcome: RequestOutcome {
        switch self {
        case .refused(let why), .ended(let why), .left(let why): RequestOutcome(.failed(kind: nil, text: why))
        case .timeout: RequestOutcome(.failed(kind: "timeout", text: "timeout"))
        }
    }
}

/// Gives the request up unless this holds.
func demand(_ holds: Bool, _ why: String) throws(MutantFault) {
    if !holds { throw .refused(why) }
}
