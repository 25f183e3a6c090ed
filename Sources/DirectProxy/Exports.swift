// The vocabulary that a user of the proxy speaks: addresses, maps, resolvers, vetting.
@_exported public import DirectCore
@_exported public import DirectLookup
@_exported public import DirectTransport
