/// The switches of the mutant client. Each changes bytes that it sends or accepts, so that one sentence is
/// broken. `musts.json` says which.
enum Mutation: String, CaseIterable, Sendable {
    // MARK: What is sent (RFC 9112, RFC 9110)

    /// Names and values are not checked.
    case sendsAnything
    /// A CR within a value is sent.
    case sendsCR
    /// A folded value is sent as it is: folded with a space, with a tab, or without CR.
    case sendsFolds, sendsFoldsWithTabs, sendsFoldsWithoutCR
    case prefixesLineEnd, appendsLineEnd, appendsLineEndToChunks
    /// A line with a blank before it stands behind the request line.
    case leadsWithBlank
    case noHost, noHostForProxies
    /// Host is the address that is connected to.
    case hostIsAddress
    case absoluteTargets, emptyTargets, targetsWithoutQuery, queriesWithoutSlash
    /// The target of other methods than GET is the authority.
    case authorityAsTarget
    /// A proxy is given the path alone.
    case pathsForProxies
    case tunnelsToURLs, tunnelsWithoutPort
    case claimsNewerVersion
    /// A content is sent without a field that frames it.
    case sendsUnframed, unframedOnKept, unframedOverTLS
    /// The same for one method.
    case unframedGET, unframedPOST, unframedPUT, unframedPATCH, unframedDELETE, unframedOPTIONS, unframedPURGE
    /// A content of unknown length comes behind a length.
    case streamsOfLengthZero, streamsOfSignedLength, lengthsInCharacters
    case sendsBothFramings
    case chunksTwice
    /// A transfer coding of the caller is sent alone.
    case codesWithoutChunks
    case repeatsUserAgent, repeatsContentType, repeatsTrailers, ownTrailers
    case listsWithEmptyElements, listsWithBlanks, extensionsWithBlanks
    case chunkedInTE, unlistedTE, unlistedKeepAlive, unlistedUpgrade
    /// The same where nothing asked for it: in requests with content, or over TLS.
    case unlistedTEWithContent, unlistedTEOverTLS, unlistedKeepAliveWithContent, unlistedUpgradeWithContent
    /// Cache-Control is listed in Connection if the caller does.
    case listsCacheControl
    case optionsWithoutType, tracesWithContent, tracesSecrets
    case expectsWithoutContent, expectsWithHEAD
    /// The content is held back for a while, without Expect.
    case waitsUnasked, waitsWithPUT, waitsWithStreams
    /// The URL of a request that comes from nowhere is its Referer.
    case ownReferer, ownRefererWithContent
    case refersWithUsers, refersFromSecret
    case losesMethod
    /// Credentials go to another origin, behind one status or where it is forgotten to look.
    case leaksBehind301, leaksBehind303, leaksBehind307, leaksBehind308
    case leaksToNetworkPaths, leaksWithPOST, leaksOnSecondHop, leaksInClear, leaksFromAddresses
    /// A URL without a host is one of the host that the client knows.
    case emptyHosts, emptyHostsInLocations

    // MARK: What is accepted (RFC 9112, RFC 9110)

    case linesEndAtNEL, linesEndAtControls, linesEndAtU2028
    case keepsCR, keepsCRInTrailers, keepsCRInReason, keepsNUL, dropsControlsInFraming
    case joinsLeadingLine, joinsSecondLeadingLine, joinsLeadingLineToReason
    /// Line ends stay in folded values.
    case keepsFolds
    /// A folded value ends where the fold begins.
    case foldsEndValues, foldsEndFraming
    case keepsBlanks, trimsBeyondASCII
    /// Lists are taken as one element.
    case elementsStartAtComma
    case lengthWins, chunkedByEnd, chunkedAnywhere
    case noChunks, noExtensions, noBlanksBeforeExtensions, noQuotedPairs
    case wrapsChunkSizes, wrapsLengths
    case readsBadLengths, readsFirstLength, readsLastLength
    /// A response with an invalid length is one without content.
    case keepsBadLengths
    /// A connection with a response that has no valid framing is used again.
    case reusesBadFraming
    case acceptsShort, acceptsCutChunks
    case mergesTrailers, trailersReplaceFields, trailersJoinFields
    case headHasContent, tunnelsHaveContent
    case interimsAreFinal, oneInterim
    case largeRangesFail
    case unknownStatusFails, unknown2xxFails, unknown3xxFails, unknown4xxFails, unknown5xxFails

    // MARK: Caches (RFC 9111)

    case ignoresNoStore, ignoresNoCache, exactDirectives, takesPartsOfDirectives
    case storesAnyStatus, storesOtherMethods, storesParts, partsBecomeWhole, storesIncomplete
    case storesKnownFields, trailersBecomeFields, withoutDate
    case ignoresQueries, ignoresVary, usesOldest
    case cacheAnswersPOST, cacheAnswersOtherMethods
    case neverInvalidates, invalidatesByKnownMethods
    case usesStale, staleDespiteMustRevalidate, staleWhenUnreachable
    case expiresFirst, guessesBesideExpires, takesBadDatesAsLate, twoDigitYearsAhead
    /// A number that is too large is 0.
    case forgetsLargeNumbers
    case agesFromArrival, withoutAge, keepsOldAge
    /// Last-Modified is sent back as asctime has it.
    case sendsOtherDates
    /// A date is sent back, though there is an entity tag.
    case validatesByDates
    case ifRangeWithoutRange, ifRangeWithWeakTags, ifRangeWithDates
    /// The dates of what is kept are renewed by HEAD, and no other field.
    case headsRenewDates
    /// Dates are in the form of IMF alone, or in the time of a place nine hours west.
    case readsOneDateForm, readsDatesAsLocal
    case updatesByAny304, ignores304Fields, passes304, keepsOldDespite200
    case evaluatesIfMatch, modifiedSinceFirst, takesAnyModifiedSince
    case combinesUnknownUnits, combinesBadRanges

    // MARK: Connections (RFC 9112, section 9)

    case keepsOldChunks
    /// What comes behind a response is the next one.
    case takesLeftovers, takesLeftoversOfHEAD, takesLeftoversOfNoContent, takesLeftoversOfChunks
    /// The content of a redirect is not read.
    case skipsContent
    /// Each connection has one request, without close.
    case oneRequestEach
    case goesOnAfterClose, ignoresClose, ignoresCloseOfErrors, ignoresCloseOfOtherMethods
    case ignoresClose204, ignoresClose302, ignoresClose401, ignoresClose503, ignoresClosePUT
    case closeInLastField
    case noCloseNotify, noCloseNotifyOfKept
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
    /// Other parts of a certificate name a host, too.
    case organizationsAsNames, urisAsNames
    /// The letters of a host have a case.
    case exactNames

    // MARK: Addresses (RFC 8305)

    case dialsAllAtOnce

    // MARK: HSTS (RFC 6797)

    case hstsUnused, hstsOfAll, hstsOfOneSpelling
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
    /// A proxy is answered as an origin is.
    case digestPathForProxies, answersProxiesAsOrigins

    // MARK: Cookies (RFC 6265bis)

    case keepsExpiredCookies
    case cookiesOfHostsForAll, foreignCookies
    case pathsByText, defaultPathIsRoot, pathsGetSlash, decodesPaths
    case dropsAllDots, cookiesAsUTF8, cookieFields, cookiesWithoutBlanks
    case keepsUnknownAttributes, keepsHttpOnly, keepsSameSite
    case cutsAtEquals, exactAttributes
    case ignoresExpires, datesInOneForm, ignoresMaxAge, ignoresSecure
}
