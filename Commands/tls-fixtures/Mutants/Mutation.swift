/// The switches of the mutant client. Each changes bytes that it sends or accepts, so that one sentence is
/// broken. `musts.json` says which; what is not plain from the name is said here.
enum Mutation: String, CaseIterable, Sendable {
    // What is sent (RFC 9112, RFC 9110). Names and values are not checked; a CR in a value is sent.
    case sendsAnything, sendsCR
    // A folded value is sent as it is.
    case sendsFolds, sendsFoldsWithTabs, sendsFoldsWithoutCR
    case prefixesLineEnd, appendsLineEnd, appendsLineEndToChunks, leadsWithBlank
    case noHost, noHostForProxies, hostIsAddress, hostWithoutPort, usersInHost, usersForProxies
    case absoluteTargets, emptyTargets, targetsWithoutQuery, queriesWithoutSlash, authorityAsTarget
    case pathsForProxies, tunnelsToURLs, tunnelsWithoutPort, claimsNewerVersion
    // A content is sent without a field that frames it: always, or that of one method.
    case sendsUnframed, unframedOnKept, unframedOverTLS
    case unframedGET, unframedPOST, unframedPUT, unframedPATCH, unframedDELETE, unframedOPTIONS, unframedPURGE
    case streamsOfLengthZero, streamsOfSignedLength, lengthsInCharacters, sendsBothFramings
    // A content is chunked twice; a transfer coding of the caller is sent alone.
    case chunksTwice, codesWithoutChunks
    case repeatsUserAgent, repeatsContentType, repeatsTrailers, ownTrailers
    case listsWithEmptyElements, listsWithBlanks, extensionsWithBlanks
    // Fields about the connection that it does not list, also where nothing asked for them.
    case chunkedInTE, unlistedTE, unlistedKeepAlive, unlistedUpgrade, listsCacheControl
    case unlistedTEWithContent, unlistedTEOverTLS, unlistedKeepAliveWithContent, unlistedUpgradeWithContent
    case optionsWithoutType, tracesWithContent, tracesSecrets, expectsWithoutContent, expectsWithHEAD
    // The content is held back for a while, without Expect.
    case waitsUnasked, waitsWithPUT, waitsWithStreams
    case ownReferer, ownRefererWithContent, refersWithUsers, refersFromSecret, losesMethod, losesFragments
    // Credentials go to another origin: behind one status, of one method, or where it is forgotten to look.
    case leaksBehind301, leaksBehind303, leaksBehind307, leaksBehind308, leaksOfHEAD, leaksOfPOST, leaksOfPUT
    case leaksToNetworkPaths, leaksInLowerCase, leaksOnSecondHop, leaksInClear, leaksUpgraded
    case leaksFromAddresses, leaksAnswers
    // A URL without a host is one of the host that the client knows.
    case emptyHosts, emptyHostsInLocations

    // What is accepted (RFC 9112, RFC 9110)
    case linesEndAtNEL, linesEndAtControls, linesEndAtU2028
    case keepsCR, keepsCRInTrailers, keepsCRInReason, keepsNUL, dropsControlsInFraming
    case joinsLeadingLine, joinsSecondLeadingLine, joinsLeadingLineToReason
    // Line ends stay in folded values, or the values end there.
    case keepsFolds, foldsEndValues, foldsEndFraming, keepsBlanks, trimsBeyondASCII, emptyElementsFail
    case lengthWins, chunkedByEnd, chunkedAnywhere, noChunks, noExtensions, noBlanksBeforeExtensions
    case wrapsChunkSizes, wrapsLengths, readsBadLengths, readsFirstLength, readsLastLength
    // A response with an invalid length has no content; a connection without a valid framing is used again.
    case keepsBadLengths, reusesBadFraming, acceptsShort, acceptsCutChunks
    case mergesTrailers, trailersReplaceFields, trailersJoinFields
    case headHasContent, tunnelsHaveContent, interimsAreFinal, oneInterim, largeRangesFail
    case unknown1xxFails, unknown2xxFails, unknown3xxFails, unknown4xxFails, unknown5xxFails

    // Caches (RFC 9111)
    case ignoresNoStore, ignoresNoCache, exactDirectives, takesPartsOfDirectives
    case storesAnyStatus, storesOtherMethods, storesParts, partsBecomeWhole, storesIncomplete
    case storesKnownFields, trailersBecomeFields, withoutDate, ignoresQueries, ignoresVary, usesOldest
    case cacheAnswersPOST, cacheAnswersOtherMethods
    case neverInvalidates, invalidatesByKnownMethods, invalidatesAnyOrigin
    case usesStale, staleDespiteMustRevalidate, staleWhenUnreachable
    case expiresFirst, guessesBesideExpires, takesBadDatesAsLate, twoDigitYearsAhead, forgetsLargeNumbers
    case agesFromArrival, withoutAge, keepsOldAge, sendsOtherDates, validatesByDates
    case ifRangeWithoutRange, ifRangeWithWeakTags, ifRangeWithDates
    // The dates of what is kept are renewed by HEAD, and no other field.
    case headsRenewDates
    // Dates are in the form of IMF alone, or in the time of a place nine hours west.
    case readsOneDateForm, readsDatesAsLocal
    case updatesByAny304, ignores304Fields, passes304, keepsOldDespite200
    case evaluatesIfMatch, modifiedSinceFirst, takesAnyModifiedSince, combinesUnknownUnits, combinesBadRanges

    // Connections (RFC 9112, section 9). What comes behind a response is the next one.
    case keepsOldChunks
    case takesLeftovers, takesLeftoversOfHEAD, takesLeftoversOfNoContent, takesLeftoversOfChunks
    // The content of a redirect is not read; each connection has one request, without close.
    case skipsContent, oneRequestEach, goesOnAfterClose
    case ignoresClose, ignoresCloseOfErrors, ignoresCloseOfOtherMethods, closeInLastField
    case ignoresClose204, ignoresClose302, ignoresClose401, ignoresClose503, ignoresClosePUT
    case noCloseNotify, noCloseNotifyOfKept, httpsInClear

    // Identity (RFC 9525). A host that is an address may have a certificate for any, or as a name.
    case anyCertificate, anyName, anyAddress, addressesAsNames
    case commonNames, organizationsAsNames, partialWildcards, deepWildcards, noWildcards
    // A certificate must be for the name above, or may be for the address that is connected to.
    case parentsAsNames, namesOfAddresses
    // The letters of a host have a case.
    case exactNames

    // Addresses (RFC 8305) and HSTS (RFC 6797)
    case dialsAllAtOnce
    case hstsUnused, hstsOfAll, hstsOfOneSpelling, hstsFromClear, hstsOfAddresses, hstsLastField
    case hstsNeverUpdated, hstsKeepsZero, hstsEndsWithoutField, hstsWithoutAge, hstsLenient, hstsOnlyKnown
    case hstsOfOneName, hstsOfAllBelow, hstsBySuffix, hstsKeepsPort80, hstsTakes443
    // Only the nearest name counts; the end of a policy ends those of names above; or none is taken in.
    case hstsNearest, hstsZeroEndsAbove, hstsForgetsLargeAges, hstsOfSuccess, hstsOfGET
    // The certificate of a known host is not looked at; a host becomes known though it has a wrong one.
    case hstsIgnoresErrors, hstsDespiteErrors

    // Credentials (RFC 7616)
    case weakestScheme, retriesStale, exactParameterNames, repeatedParameters, keepsQuotedPairs
    case unknownQopFails, qopNotOffered, withoutQop, shortCounts, withoutCounts, withoutClientNonce
    case otherDigestTarget, plainUser, latin1Users, latin1Passwords, twoUsers, quotesNothing, quotesEverything
    // A proxy is answered as an origin is.
    case digestPathForProxies, answersProxiesAsOrigins

    // Cookies (RFC 6265bis)
    case keepsExpiredCookies, cookiesOfHostsForAll, foreignCookies
    case pathsByText, defaultPathIsRoot, pathsGetSlash, decodesPaths
    case dropsAllDots, cookiesAsUTF8, cookieFields, cookiesWithoutBlanks
    case keepsUnknownAttributes, keepsHttpOnly, keepsSameSite, cutsAtEquals, exactAttributes
    case ignoresExpires, datesInOneForm, ignoresMaxAge, ignoresSecure
}
