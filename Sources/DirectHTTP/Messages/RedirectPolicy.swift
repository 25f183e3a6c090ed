internal import DirectCore
public import DirectHTTP1

/// Whether and how redirects are followed.
///
/// Each hop is a request of its own: the name in its URL determines SNI, the certificate check, cookies and
/// the addresses. ``HTTPClient/Request/addresses`` are used for the host and port of the caller's request
/// only. A request to another origin carries only those fields of the request before that are known to be
/// safe, and the removed ones do not come back when a later redirect returns to the first origin
/// (CVE-2024-45336).
public struct RedirectPolicy: Sendable {
    /// Whether redirects are followed; if not, the response is delivered as it is.
    package var isFollowing = true
    /// The highest number of redirects in a row. One more fails with
    /// ``RedirectError/tooMany(limit:isLoop:)``.
    public var limit = 20
    /// Whether redirects from `https` to `http` are followed, where anyone on the path can read the request.
    public var insecureAllowsDowngrade = false
    /// Whether a body may be sent to another origin if 307 or 308 asks for that.
    public var carriesBodyAcrossOrigins = true
    /// Whether a hop carries the previous URL in `Referer`: never from `https` to `http`, and without user,
    /// password and fragment.
    public var sendsReferer = false
    /// Names of fields, the request's and the client's, that may be sent to other origins although they are
    /// not known to be safe.
    public var extraCrossOriginFields: [String] = []
    /// The longest delay that a redirect may ask for with `Retry-After` (RFC 9110, section 10.2.3). The
    /// client waits so long before the hop. A redirect that asks for a longer delay, or for one past the
    /// call's deadline, fails with ``RedirectError/delay(_:)``. `nil`, the default, follows all redirects at
    /// once.
    public var longestDelay: Duration?
    /// Called before each hop. Returns the request to send: ``Redirect/next``, changed or not, or another
    /// one; `nil` delivers the response as it is. An error that it throws fails the call.
    ///
    /// Options that the request does not set are taken from ``Redirect/next``, unless it is a copy of that;
    /// time limits, redirect policy and hedging are those of the call, and cannot be set here. To another
    /// origin it carries no copied field that the proposed request would not carry; fields that are set for
    /// that origin are sent.
    public var decide: (@Sendable (Redirect) async throws -> HTTPClient.Request?)? {
        get { decision?.function }
        set { decision = newValue.map(Reference.init) }
    }

    /// Called with the `Location` of a redirect to a URL of another scheme than http and https, such as that
    /// of an app, and with the redirect. It decides as ``decide`` does; what it makes begins anew, like a
    /// request to another origin. Without it such a redirect fails with ``RedirectError/location(_:)``.
    package var decideOnOtherScheme: (@Sendable (String, Response) async throws -> Request?)? {
        get { otherDecision?.function }
        set { otherDecision = newValue.map(Reference.init) }
    }

    private var decision: Reference<@Sendable (Redirect) async throws -> Request?>?
    private var otherDecision: Reference<@Sendable (String, Response) async throws -> Request?>?

    /// A function by reference: copies of the policy have the same one, which functions cannot tell.
    private final class Reference<Function: Sendable>: Sendable {
        let function: Function

        init(_ function: Function) {
            self.function = function
        }
    }

    /// Whether both say the same. Policies whose ``decide`` was set one by one do not.
    func isSame(as other: RedirectPolicy) -> Bool {
        isFollowing == other.isFollowing && limit == other.limit
            && insecureAllowsDowngrade == other.insecureAllowsDowngrade
            && carriesBodyAcrossOrigins == other.carriesBodyAcrossOrigins
            && sendsReferer == other.sendsReferer && longestDelay == other.longestDelay
            && extraCrossOriginFields == other.extraCrossOriginFields && decision === other.decision
            && otherDecision === other.otherDecision
    }

    /// Makes a policy that follows up to 20 redirects.
    public init() {}

    /// Follows up to 20 redirects.
    public static let follow = RedirectPolicy()

    /// Follows no redirect: the response is delivered as it is.
    public static let deliver: RedirectPolicy = {
        var policy = RedirectPolicy()
        policy.isFollowing = false
        return policy
    }()
}

/// A redirect that is about to be followed.
public struct Redirect: Sendable {
    /// The request that was redirected.
    public let request: HTTPClient.Request
    /// The status of the redirect.
    public let status: HTTPStatus
    /// The header fields of the redirect.
    public let headers: HTTPHeaders
    /// The request that the redirect leads to.
    public let next: HTTPClient.Request
    /// The URL that the redirect leads to.
    public let url: HTTPURL
    /// Whether that URL has another scheme, host or port.
    public let crossesOrigins: Bool
    /// The number of redirects that were followed before this one.
    public let count: Int
}

/// The reason that a redirect was not followed.
@nonexhaustive
public enum RedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More than `limit` redirects in a row; `isLoop` if a URL came up twice.
    case tooMany(limit: Int, isLoop: Bool)
    /// Several `Location` fields that differ.
    case severalLocations
    /// The URL in `Location` is invalid.
    case location(HTTPURLError)
    /// The redirect leads from `https` to `http`.
    case downgrade
    /// The body would have to be sent again, and it can be sent only once.
    case bodyNotReplayable
    /// The body would have to be sent to another origin, which the policy forbids.
    case bodyAcrossOrigins
    /// The server asks for this delay before the hop (`Retry-After`), and it is longer than
    /// ``RedirectPolicy/longestDelay``, or longer than the time that the call has left.
    case delay(Duration)

    /// Whether the redirect leads to a URL of another scheme than http and https.
    package var namesOtherScheme: Bool {
        switch self {
        case .location(.unsupportedScheme), .location(.notHTTP): true
        default: false
        }
    }

    /// The fault in words.
    public var description: String {
        switch self {
        case .tooMany(let limit, false): "more than \(limit) redirects"
        case .tooMany(let limit, true): "more than \(limit) redirects, in a loop"
        case .severalLocations: "several Location fields that differ"
        case .location(let fault): "Location: \(fault)"
        case .downgrade: "a redirect from https to http"
        case .bodyNotReplayable: "a redirect requires the body again, and it can be sent only once"
        case .delay(let delay): "a redirect asks for a delay of \(delay.text), more than allowed"
        case .bodyAcrossOrigins: "a redirect would send the body to another origin"
        }
    }
}
