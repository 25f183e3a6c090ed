public import DirectHTTP1

/// What becomes of a response that points somewhere else.
///
/// Each hop is a request of its own: its name decides SNI, certificate check, cookies and where to connect.
/// Addresses that the first request carried are used for its own host and port only. Whoever is sent to
/// another origin gets none of the request's fields but the harmless ones, and what was taken away does not
/// come back on the way home (CVE-2024-45336).
public struct RedirectPolicy: Sendable {
    /// Whether redirects are followed; otherwise the response is delivered as it is.
    public var isFollowing = true
    /// How many are followed before that counts as a loop.
    public var limit = 20
    /// Whether to go from `https` to `http`, where everybody on the way can read along.
    public var insecureAllowsDowngrade = false
    /// Whether a body may be sent to another origin, where 307 or 308 ask for that.
    public var carriesBodyAcrossOrigins = true
    /// Whether a hop tells where it was sent from, in `Referer`; never from `https` to `http`, and without
    /// user information and fragment.
    public var sendsReferer = false
    /// Names of fields, the request's and the client's, that may follow to other origins although they are not
    /// known to be harmless.
    public var survivingFields: [String] = []
    /// Asked before each hop; throwing fails the call.
    public var decide: (@Sendable (Redirect) async throws -> RedirectDecision)?

    /// Follows up to 20 redirects.
    public init() {}

    /// Follows up to 20 redirects.
    public static let follow = RedirectPolicy()

    /// Follows none: the response that points elsewhere is delivered.
    public static let deliver: RedirectPolicy = {
        var policy = RedirectPolicy()
        policy.isFollowing = false
        return policy
    }()
}

/// A redirect that is about to be followed.
public struct Redirect: Sendable {
    /// What was asked.
    public let request: Request
    /// What came back.
    public let status: Status
    /// The header fields that came with it.
    public let headers: Headers
    /// What is to be asked next.
    public let next: Request
    /// Where that leads.
    public let url: HTTPURL
    /// Whether that is another scheme, host or port.
    public let crossesOrigins: Bool
    /// How many redirects have been followed before this one.
    public let count: Int
}

/// What to do about a redirect.
public enum RedirectDecision: Sendable {
    /// Send this request, which may be the proposed one, changed or not, or another one. What it does not say is as
    /// proposed; to another origin it takes no more than the proposed one would, but for what is written for that.
    case follow(Request)
    /// Deliver the response that points elsewhere.
    case deliver
}

/// Why a redirect was not followed.
@nonexhaustive
public enum RedirectFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// More than `limit` in a row; a loop if a URL came up twice.
    case tooMany(limit: Int, isLoop: Bool)
    /// Several `Location` fields that disagree.
    case severalLocations
    /// `Location` is no URL that we go to.
    case location(URLFault)
    /// From `https` to `http`.
    case downgrade
    /// The body would have to be sent again, and it can be sent only once.
    case bodyNotReplayable
    /// The body was to be sent to another origin, which the policy forbids.
    case bodyAcrossOrigins

    public var description: String {
        switch self {
        case .tooMany(let limit, false): "more than \(limit) redirects"
        case .tooMany(let limit, true): "more than \(limit) redirects, in a loop"
        case .severalLocations: "several Location fields that disagree"
        case .location(let fault): "Location: \(fault)"
        case .downgrade: "a redirect from https to http"
        case .bodyNotReplayable: "a redirect wants the body a second time, which cannot be had"
        case .bodyAcrossOrigins: "a redirect wants the body to go to another origin"
        }
    }
}
