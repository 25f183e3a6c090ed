// A program that uses these resolvers passes them to an `HTTPClient`.
@_exported public import DirectHTTP
