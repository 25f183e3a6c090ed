/// The switches of the mutant client. Each changes bytes that it sends or accepts, so that one sentence is
/// broken. `musts.json` says which.
enum Mutation: String, CaseIterable, Sendable {
    // MARK: What is sent (RFC 9112, RFC 9110)

    /// Names and values are not checked.
    case sendsAnything
    /// A CR within a value is sent.
    case sendsCR
    /// A folded value is sent as it is.
    case sendsFolds
    case prefixesLineEnd, appendsLineEnd
    /// A line with a blank before it stands behind the request line.
    case leadsWithBlank
    case noHost, noHostForProxies
    /// Host is the address that is connected to.
    case hostIsAddress
    case absoluteTargets, emptyTargets
    /// The target of other methods than GET is the authority.
    case authorityAsTarget
    /// A proxy is given the path alone.
    case pathsForProxies
    case tunnelsToURLs, tunnelsWithoutPort
    case claimsNewerVersion
    /// A content is sent without a field that frames it.
    case sendsUnframed
    case sendsBothFramings
    case chunksTwice
    /// A transfer coding of the caller is sent alone.
    case codesWithoutChunks
    case repeatsUserAgent, repeatsContentType
    case listsWithEmptyElements, listsWithBlanks
    case chunkedInTE, unlistedTE, unlistedKeepAlive, unlistedUpgrade
    /// Cache-Control is listed in Connection if the caller does.
    case listsCacheControl
    case optionsWithoutType, tracesWithContent, tracesSecrets
    case expectsWithoutContent
    /// The content is held back for a while, without Expect.
    case waitsUnasked
    /// The URL of a request that comes from nowhere is its Referer.
    case ownReferer
    case refersWithUsers, refersFromSecret
    case losesMethod
    /// A URL without a host is one of the host that the client knows.
    case emptyHosts, emptyHostsInLocations

    // MARK: What is accepted (RFC 9112, RFC 9110)

    case linesEndAtNEL
    case keepsCR, keepsNUL
    case joinsLeadingLine
    /// Line ends stay in folded values.
    case keepsFolds
    /// A folded value ends where the fold begins.
    case foldsEndValues
    case keepsBlanks
    /// Lists are taken as one element.
    case elementsStartAtComma
    case noChunks, noExtensions, noBlanksBeforeExtensions, noQuotedPairs
    case wrapsChunkSizes, wrapsLengths
    case readsBadLengths
    /// A response with an invalid length is one without content.
    case keepsBadLengths
    case acceptsShort, acceptsCutChunks
    case mergesTrailers
    case headHasContent, tunnelsHaveContent
    case interimsAreFinal, oneInterim
    case unknownStatusFails

    // MARK: Connections (RFC 9112, section 9)

    case keepsOldChunks
    /// What comes behind a response is the next one.
    case takesLeftovers
    /// The content of a redirect is not read.
    case skipsContent
    case goesOnAfterClose, ignoresClose
    case noCloseNotify
    /// https is spoken without TLS.
    case httpsInClear

    // MARK: Identity (RFC 9525)

    case anyCertificate, anyName
    /// A host that is an address may have a certificate for any.
    case anyAddress
    case commonNames
    case partialWildcards, deepWildcards, noWildcards
    /// An address may be in a certificate as a name.
    case addressesAsNames
    /// A certificate must be for the name above.
    case parentsAsNames
    /// A certificate for the address that is connected to is good.
    case namesOfAddresses

    // MARK: HSTS (RFC 6797)

    case hstsUnused, hstsOfAll
    case hstsFromClear, hstsOfAddresses, hstsLastField, hstsNeverUpdated, hstsKeepsZero
    case hstsEndsWithoutField, hstsWithoutAge, hstsLenient, hstsOnlyKnown
    case hstsOfOneName, hstsOfAllBelow, hstsBySuffix
    case hstsKeepsPort80, hstsTakes443
    /// The certificate of a known host is not looked at.
    case hstsIgnoresErrors

    // MARK: Credentials (RFC 7616)

    case weakestScheme, retriesStale
    case exactParameterNames, repeatedParameters
    case unknownQopFails, qopNotOffered, withoutQop
    case shortCounts, withoutCounts, withoutClientNonce
    case otherDigestTarget, plainUser, latin1Users, latin1Passwords, twoUsers
    case quotesNothing, quotesEverything

    // MARK: Cookies (RFC 6265bis)

    case keepsExpiredCookies
    case cookiesOfHostsForAll, foreignCookies
    case pathsByText
    case cutsAtEquals, exactAttributes
    case ignoresExpires, datesInOneForm, ignoresMaxAge, ignoresSecure
}
