// The vocabulary a user of the client speaks: addresses, TLS settings and messages live in layers of
// their own, and come along with the product.
@_exported public import DirectCoding
@_exported public import DirectCore
@_exported public import DirectHTTP1
@_exported public import DirectIO
@_exported public import DirectLookup
@_exported public import DirectTLS
@_exported public import DirectTransport
